#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "direct_module.h"

/* Makes a torch.Tensor of a handle, which it takes. PyTorch has it for the wrappers that its compiler writes. */
static PyObject *steal;

/* What does the same within PyTorch and leaves the handle, THPVariable_Wrap(const at::TensorBase &); a handle is the
 * address of one. It saves a capsule and a call, a fifth of the whole. Null where PyTorch has no function of that name.
 */
static PyObject *(*wrap)(AtenTensorHandle);

static PyObject *name_namespace, *name_from_dlpack;

static void find_wrap(void) {
    void *const library = dlopen("libtorch_python.so", RTLD_NOW | RTLD_NOLOAD);
    void *const symbol = library != NULL ? dlsym(library, "_Z16THPVariable_WrapRKN2at10TensorBaseE") : NULL;
    if (getenv(DIRECT_ASKS_PYTHON) == NULL) {
        memcpy(&wrap, &symbol, sizeof wrap);
    }
}

bool results_load(PyObject *torch) {
    find_wrap();
    PyObject *const native = PyObject_GetAttrString(torch, "_C");
    PyObject *const aoti = native != NULL ? PyObject_GetAttrString(native, "_aoti") : NULL;
    steal = aoti != NULL ? PyObject_GetAttrString(aoti, "alloc_tensor_by_stealing_from_void_ptr") : NULL;
    Py_XDECREF(aoti);
    Py_XDECREF(native);
    name_namespace = PyUnicode_InternFromString("__array_namespace__");
    name_from_dlpack = PyUnicode_InternFromString("from_dlpack");
    return steal != NULL && name_namespace != NULL && name_from_dlpack != NULL;
}

/* The module whose from_dlpack makes arrays of the kind of `array`: the array API's, else the one that its type is
 * from.
 */
static PyObject *namespace_of(PyObject *array) {
    PyObject *const method = PyObject_GetAttr(array, name_namespace);
    if (method != NULL) {
        PyObject *const found = PyObject_CallNoArgs(method);
        Py_DECREF(method);
        return found;
    }
    PyErr_Clear();
    PyObject *const where = PyObject_GetAttrString((PyObject *)Py_TYPE(array), "__module__");
    PyObject *const parts = where != NULL ? PyObject_CallMethod(where, "split", "s", ".") : NULL;
    PyObject *const first = parts != NULL ? PySequence_GetItem(parts, 0) : NULL;
    PyObject *const found = first != NULL ? PyImport_Import(first) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(parts);
    Py_XDECREF(where);
    return found;
}

/* The same memory as an array of the kind of `array`. Takes `object`. */
static PyObject *in_kind_of(PyObject *array, PyObject *object) {
    const DLPackExchangeAPI *const api = exchange_of(Py_TYPE(array));
    PyObject *result = NULL;
    if (api != NULL && api->managed_tensor_to_py_object_no_sync != NULL) {
        DLManagedTensorVersioned *managed;
        void *made;
        if (torch_exchange->managed_tensor_from_py_object_no_sync(object, &managed) == 0 &&
            api->managed_tensor_to_py_object_no_sync(managed, &made) == 0) {
            result = made;
        }
    } else {
        PyObject *const from = namespace_of(array);
        result = from != NULL ? PyObject_CallMethodObjArgs(from, name_from_dlpack, object, NULL) : NULL;
        Py_XDECREF(from);
    }
    Py_DECREF(object);
    return result;
}

static PyObject *stolen(AtenTensorHandle handle) {
    PyObject *const capsule = PyCapsule_New(handle, NULL, NULL);
    if (capsule == NULL) {
        aoti_torch_delete_tensor_object(handle);
        return NULL;
    }
    PyObject *const object = PyObject_CallFunctionObjArgs(steal, capsule, NULL);
    Py_DECREF(capsule);
    return object;
}

/* None for an undefined tensor. After an exception of an earlier result it only takes this one. */
static PyObject *tensor_object(const call *c, StableIValue slot) {
    const AtenTensorHandle handle = (AtenTensorHandle)(uintptr_t)slot;
    PyObject *object;
    if (PyErr_Occurred()) {
        aoti_torch_delete_tensor_object(handle);
        return NULL;
    }
    if (wrap != NULL) {
        object = wrap(handle);
        aoti_torch_delete_tensor_object(handle);
    } else {
        object = stolen(handle);
    }
    return object == NULL || object == Py_None || c->like == NULL ? object : in_kind_of(c->like, object);
}

static PyObject *optional_object(const call *c, StableIValue slot) {
    StableIValue *const box = (StableIValue *)(uintptr_t)slot;
    if (box == NULL) {
        return Py_NewRef(Py_None);
    }
    const StableIValue value = *box;
    _ZdlPv(box);
    return tensor_object(c, value);
}

static PyObject *list_object(const call *c, StableIValue slot) {
    const StableListHandle handle = (StableListHandle)(uintptr_t)slot;
    size_t count = 0;
    PyObject *list = torch_list_size(handle, &count) == 0 ? PyList_New((Py_ssize_t)count) : NULL;
    for (size_t i = 0; i < count; i++) { /* all are taken, also where one of them cannot be had */
        StableIValue element;
        PyObject *const one = torch_list_get_item(handle, i, &element) == 0 ? tensor_object(c, element) : NULL;
        if (one == NULL) {
            Py_CLEAR(list);
        } else if (list == NULL || PyList_SetItem(list, (Py_ssize_t)i, one) != 0) {
            Py_XDECREF(list == NULL ? one : NULL);
        }
    }
    torch_delete_list(handle);
    if (list == NULL && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "PyTorch does not give what is in a list of results");
    }
    return list;
}

static PyObject *result_object(const call *c, char kind, StableIValue slot) {
    switch (kind) {
    case 'l':
        return list_object(c, slot);
    case 'o':
        return optional_object(c, slot);
    default:
        return tensor_object(c, slot);
    }
}

PyObject *results_take(call *c) {
    const char *const returns = c->f->spec->returns;
    const size_t count = strlen(returns);
    if (count == 1) {
        return result_object(c, returns[0], c->stack[0]);
    }
    if (count == 0) {
        return Py_NewRef(Py_None);
    }
    PyObject *tuple = PyTuple_New((Py_ssize_t)count);
    for (size_t i = 0; i < count; i++) {
        PyObject *const one = result_object(c, returns[i], c->stack[i]);
        if (one == NULL) {
            Py_CLEAR(tuple);
        } else if (tuple == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, one) != 0) {
            Py_XDECREF(tuple == NULL ? one : NULL);
        }
    }
    return tuple;
}
