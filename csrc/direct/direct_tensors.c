#include <stdlib.h>

#include "direct_module.h"

const DLPackExchangeAPI *torch_exchange;

/* Of PyTorch: the types that need no closer look, what stands under __torch_dispatch__ where nothing overrides it, and
 * the function behind Tensor.is_conj. */
static PyTypeObject *tensor_type, *parameter_type;
static PyObject *no_dispatch;
static PyCFunction is_conj;

static PyObject *name_dispatch, *name_exchange, *name_dlpack, *name_device, *no_arguments, *versioned;

/* The C function of a method that takes nothing else, to be called with any tensor. */
static PyCFunction method_of(PyObject *object, const char *name) {
    PyObject *const method = PyObject_GetAttrString(object, name);
    PyCFunction found = NULL;
    if (method != NULL && PyCFunction_GetFlags(method) == METH_NOARGS) {
        found = PyCFunction_GetFunction(method);
    }
    Py_XDECREF(method);
    if (found == NULL && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ImportError, "torch.Tensor.%s is not a method in C, as the direct calls need it", name);
    }
    return found;
}

bool tensors_load(PyObject *torch) {
    PyObject *const nn = PyObject_GetAttrString(torch, "nn");
    PyObject *const object = PyObject_GetAttrString(torch, "Tensor");
    PyObject *const parameter = nn != NULL ? PyObject_GetAttrString(nn, "Parameter") : NULL;
    Py_XDECREF(nn);
    name_dispatch = PyUnicode_InternFromString("__torch_dispatch__");
    name_exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    name_dlpack = PyUnicode_InternFromString("__dlpack__");
    name_device = PyUnicode_InternFromString("__dlpack_device__");
    no_arguments = PyTuple_New(0);
    versioned = Py_BuildValue("{s:(ii)}", "max_version", 1, 3);
    PyObject *const example = object != NULL ? PyObject_CallNoArgs(object) : NULL;
    if (parameter == NULL || example == NULL || name_dispatch == NULL || name_exchange == NULL || name_dlpack == NULL ||
        name_device == NULL || no_arguments == NULL || versioned == NULL) {
        return false;
    }
    tensor_type = (PyTypeObject *)object; /* kept for as long as the process lives, like the rest here */
    parameter_type = (PyTypeObject *)parameter;
    no_dispatch = PyObject_GetAttr(object, name_dispatch);
    const PyCFunction is_neg = method_of(example, "is_neg");
    is_conj = is_neg != NULL ? method_of(example, "is_conj") : NULL;
    Py_DECREF(example);
    torch_exchange = is_conj != NULL ? exchange_of(tensor_type) : NULL;
    if (torch_exchange == NULL && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ImportError,
                        "torch.Tensor has no __dlpack_c_exchange_api__: PyTorch 2.10 or newer has it");
    }
    if (torch_exchange == NULL || no_dispatch == NULL) {
        return false;
    }
    negated_load(torch, is_neg);
    return true;
}

const DLPackExchangeAPI *exchange_of(PyTypeObject *type) {
    PyObject *const capsule = PyObject_GetAttr((PyObject *)type, name_exchange);
    if (capsule == NULL) {
        PyErr_Clear();
        return NULL;
    }
    const DLPackExchangeAPI *api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    Py_DECREF(capsule); /* what it points to lives as long as the type */
    while (api != NULL && api->header.version.major != 1) {
        api = (const DLPackExchangeAPI *)(const void *)api->header.prev_api;
    }
    PyErr_Clear();
    return api != NULL && api->dltensor_from_py_object_no_sync != NULL ? api : NULL;
}

/* ---- Loans. Their number is known only when lists were looked at; they must not move once one is on the stack. */

/* Null where there is no room: __dlpack__ of an argument may lengthen a list that was counted before. */
static loan *next_loan(call *c) {
    if (c->used >= c->room) {
        return NULL;
    }
    loan *const l = &c->loans[c->used++];
    l->tensor = l->owner = l->capsule = NULL;
    l->strides = NULL;
    return l;
}

void loans_end(call *c) {
    for (int i = 0; c->holds && i < c->used; i++) {
        Py_XDECREF(c->loans[i].owner);
        Py_XDECREF(c->loans[i].capsule);
        free(c->loans[i].strides);
    }
    if (c->loans != c->few) {
        free(c->loans);
    }
}

/* DLPack may leave out the strides of a contiguous tensor, whose sizes are known to be those of one. */
static bool fill_strides(call *c, loan *l) {
    DLTensor *const t = &l->described;
    l->strides = calloc((size_t)t->ndim, sizeof *l->strides);
    CHECK(&c->e, l->strides != NULL, "out of memory for the strides of %" PRId32 " dimensions", t->ndim);
    int64_t stride = 1;
    for (int32_t d = t->ndim - 1; d >= 0; d--) {
        l->strides[d] = stride;
        stride *= t->shape[d] > 0 ? t->shape[d] : 1;
    }
    t->strides = l->strides;
    return true;
}

/* Sizes and strides are what those of PyTorch's tensors are; host functions, and PyTorch itself, rely on that. */
static bool accept_layout(call *c, const char *name, Py_ssize_t i, loan *l) {
    error *const e = &c->e;
    const DLTensor *const t = &l->described;
    int64_t numel = t->dtype.bits, reach = t->dtype.bits; /* in bits, so that bytes fit, too */
    CHECK(e, t->ndim >= 0 && t->ndim <= MAX_DIMS, "%s: expected at most %d dimensions, got %" PRId32,
          place_text(e, name, i), MAX_DIMS, t->ndim);
    for (int32_t d = 0; d < t->ndim; d++) {
        const int64_t size = t->shape[d], stride = t->strides != NULL && size > 1 ? t->strides[d] : 0;
        int64_t span;
        CHECK(e, size >= 0, "%s: expected sizes >= 0, got size %" PRId64 " in dimension %" PRId32,
              place_text(e, name, i), size, d);
        CHECK(e, stride >= 0,
              "%s: expected strides >= 0, got stride %" PRId64 " in dimension %" PRId32 ": pass a contiguous copy",
              place_text(e, name, i), stride, d);
        CHECK(e,
              !__builtin_mul_overflow(numel, size > 0 ? size : 1, &numel) &&
                  !__builtin_mul_overflow(stride, size - 1, &span) &&
                  !__builtin_mul_overflow(span, t->dtype.bits, &span) && !__builtin_add_overflow(reach, span, &reach),
              "%s: has more elements than can be addressed", place_text(e, name, i));
    }
    return t->strides != NULL || t->ndim == 0 || fill_strides(c, l);
}

/* ---- Tensors of PyTorch */

/* Views that only negate or conjugate would be read as what they stand on. */
static bool is_as_it_lies(call *c, const char *name, Py_ssize_t i, PyObject *object, uint8_t code) {
    bool negated = false;
    if (code == kDLInt || code == kDLUInt || code == kDLBool) {
        return true;
    }
    if (!is_negated(&c->e, object, &negated)) {
        return false;
    }
    CHECK(&c->e, !negated, "%s: expected a tensor of its own values, got a negated view: pass its resolve_neg()",
          place_text(&c->e, name, i));
    if (code != kDLComplex) {
        return true;
    }
    PyObject *const answer = is_conj(object, NULL);
    const bool conjugated = answer == Py_True;
    Py_XDECREF(answer);
    PyErr_Clear();
    CHECK(&c->e, answer != NULL && !conjugated,
          "%s: expected a tensor of its own values, got a conjugated view: pass its resolve_conj()",
          place_text(&c->e, name, i));
    return true;
}

static bool lend_torch(call *c, const char *name, Py_ssize_t i, PyObject *object, loan *l) {
    l->tensor = object;
    if (torch_exchange->dltensor_from_py_object_no_sync(object, &l->described) != 0) {
        return fail_python(&c->e, "%s: PyTorch does not lend this tensor", place_text(&c->e, name, i));
    }
    return is_as_it_lies(c, name, i, object, l->described.dtype.code);
}

bool loans_settle(call *c) {
    for (int i = 0; c->ran && i < c->used; i++) {
        loan *const l = &c->loans[i];
        if (l->tensor != NULL && torch_exchange->dltensor_from_py_object_no_sync(l->tensor, &l->described) != 0) {
            return fail_python(&c->e, "PyTorch does not lend a tensor that changed during the call");
        }
    }
    return true;
}

/* Tensors of a subclass may have no memory, as fake ones, or mean something else by it. */
static bool lend_subclass(call *c, const char *name, Py_ssize_t i, PyObject *object, loan *l) {
    PyObject *const dispatch = PyObject_GetAttr((PyObject *)Py_TYPE(object), name_dispatch);
    const bool plain = dispatch == no_dispatch;
    Py_XDECREF(dispatch);
    PyErr_Clear();
    if (!plain) {
        return fail(&c->e,
                    "%s: expected a plain tensor, got %s, which only torch.ops can pass on: call the operator there",
                    place_text(&c->e, name, i), got_text(&c->e, object));
    }
    return lend_torch(c, name, i, object, l);
}

/* ---- Arrays of others */

/* What __dlpack__ is asked with: on a GPU that its work is waited for on the stream that the operator runs on. */
static PyObject *dlpack_keywords(PyObject *array) {
    PyObject *const where = PyObject_CallMethodObjArgs(array, name_device, NULL);
    int type, id;
    void *stream;
    if (where == NULL || !PyArg_ParseTuple(where, "ii", &type, &id)) {
        Py_XDECREF(where);
        return NULL;
    }
    Py_DECREF(where);
    if (type != kDLCUDA) {
        return Py_NewRef(versioned);
    }
    if (torch_exchange->current_work_stream(type, id, &stream) != 0) {
        return NULL;
    }
    /* Null is CUDA's default stream, which DLPack calls 1. */
    PyObject *const number = PyLong_FromVoidPtr(stream != NULL ? stream : (void *)(uintptr_t)1);
    PyObject *keywords = number != NULL ? PyDict_Copy(versioned) : NULL;
    if (keywords != NULL && PyDict_SetItemString(keywords, "stream", number) != 0) {
        Py_CLEAR(keywords);
    }
    Py_XDECREF(number);
    return keywords;
}

static PyObject *dlpack_capsule(PyObject *array) {
    PyObject *const method = PyObject_GetAttr(array, name_dlpack);
    PyObject *const keywords = method != NULL ? dlpack_keywords(array) : NULL;
    PyObject *capsule = keywords != NULL ? PyObject_Call(method, no_arguments, keywords) : NULL;
    if (capsule == NULL && keywords != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* older than DLPack 1: there is no version to ask for */
        PyObject *const older = PyDict_Copy(keywords);
        if (older != NULL && PyDict_DelItemString(older, "max_version") == 0) {
            capsule = PyObject_Call(method, no_arguments, older);
        }
        Py_XDECREF(older);
    }
    Py_XDECREF(keywords);
    Py_XDECREF(method);
    return capsule;
}

static bool lend_capsule(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *array, loan *l) {
    error *const e = &c->e;
    uint64_t flags = DLPACK_FLAG_BITMASK_READ_ONLY; /* an old capsule does not say */
    l->capsule = dlpack_capsule(array);
    if (l->capsule == NULL) {
        return fail_python(e, "%s: %s is not to be had through DLPack", place_text(e, argument->name, i),
                           got_text(e, array));
    }
    const DLManagedTensorVersioned *const held = PyCapsule_GetPointer(l->capsule, "dltensor_versioned");
    if (held != NULL) {
        CHECK(e, held->version.major == 1, "%s: expected DLPack 1, got version %" PRIu32 ": pass a tensor of PyTorch",
              place_text(e, argument->name, i), held->version.major);
        flags = held->flags;
        l->described = held->dl_tensor;
    } else {
        PyErr_Clear();
        const DLManagedTensor *const old = PyCapsule_GetPointer(l->capsule, "dltensor");
        if (old == NULL) {
            return fail_python(e, "%s: %s gives no capsule of DLPack", place_text(e, argument->name, i),
                               got_text(e, array));
        }
        l->described = old->dl_tensor;
    }
    CHECK(e, !argument->written || (flags & (DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED)) == 0,
          "%s: expected an array that may be written, got a %s: pass a copy of it that may",
          place_text(e, argument->name, i),
          (flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0 ? "read-only one" : "copy made for this call");
    return accept_layout(c, argument->name, i, l);
}

bool tensor_lend(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *value, StableIValue *slot) {
    error *const e = &c->e;
    PyTypeObject *const type = Py_TYPE(value);
    const char *const name = argument->name;
    loan *const l = next_loan(c);
    CHECK(e, l != NULL, "%s: the list became longer during the call", name);
    *slot = lent_slot(&l->described);
    if (i >= 0) {
        l->owner = Py_NewRef(value);
        c->holds = true;
    }
    if (type == tensor_type || type == parameter_type) {
        c->torch |= c->like == NULL;
        return lend_torch(c, name, i, value, l);
    }
    if (PyType_IsSubtype(type, tensor_type)) {
        c->torch |= c->like == NULL;
        return lend_subclass(c, name, i, value, l);
    }
    const DLPackExchangeAPI *const api = exchange_of(type);
    if (api == NULL && !PyObject_HasAttr(value, name_dlpack)) {
        return fail(e, "%s: expected a tensor%s, got %s", place_text(e, name, i),
                    argument->optional && !argument->list && !argument->written ? " or None" : "", got_text(e, value));
    }
    c->holds = c->ran = true;
    if (!c->torch && c->like == NULL) {
        c->like = value;
    }
    if (api == NULL) {
        return lend_capsule(c, argument, i, value, l);
    }
    if (api->dltensor_from_py_object_no_sync(value, &l->described) != 0) {
        return fail_python(e, "%s: %s is not lent", place_text(e, name, i), got_text(e, value));
    }
    return accept_layout(c, name, i, l);
}
