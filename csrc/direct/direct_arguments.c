#include <stdlib.h>
#include <string.h>

#include "direct_module.h"
#include "dtype.h"

static PyObject *dtypes;      /* PyTorch's number of each torch.dtype, and of its name */
static PyObject *device_type; /* torch.device */

bool arguments_load(PyObject *torch) {
    dtypes = PyDict_New();
    device_type = PyObject_GetAttrString(torch, "device");
    for (int d = 0; d < DTYPE_OTHER && dtypes != NULL; d++) {
        PyObject *const known = PyObject_GetAttrString(torch, dtype_rows[d].name);
        if (known == NULL || dtype_rows[d].number == NULL) { /* this PyTorch does not have it, or its C ABI has not */
            Py_XDECREF(known);
            PyErr_Clear();
            continue;
        }
        PyObject *const number = PyLong_FromLong(dtype_rows[d].number());
        const bool kept = number != NULL && PyDict_SetItem(dtypes, known, number) == 0 &&
                          PyDict_SetItemString(dtypes, dtype_rows[d].name, number) == 0;
        Py_XDECREF(number);
        Py_DECREF(known);
        if (!kept) {
            return false;
        }
    }
    return dtypes != NULL && device_type != NULL;
}

/* ---- Binding: as Python binds the arguments of a function of its own */

static int place_of(const function *f, PyObject *name, int total) {
    for (int i = 0; i < total; i++) {
        if (f->names[i] == name) { /* nearly always: both are interned */
            return i;
        }
    }
    for (int i = 0; i < total; i++) {
        if (PyUnicode_Compare(f->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool refuse(const call *c, const char *what, PyObject *name) {
    const direct_function *const spec = c->f->spec;
    PyErr_Format(PyExc_TypeError, "%s: %s %V: call %s%s", spec->op, what, name, "", spec->name, spec->signature);
    return false;
}

bool arguments_bind(call *c, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    const function *const f = c->f;
    const int total = f->spec->count + f->spec->given;
    if (total > DIRECT_MOST_ARGUMENTS) {
        PyErr_Format(PyExc_RuntimeError,
                     "%s: a direct call takes at most %d arguments, and this operator has %d: call it "
                     "through torch.ops",
                     f->spec->op, DIRECT_MOST_ARGUMENTS, total);
        return false;
    }
    if (count > f->positional) {
        PyErr_Format(PyExc_TypeError, "%s: expected at most %d arguments by place, got %zd: call %s%s", f->spec->op,
                     f->positional, count, f->spec->name, f->spec->signature);
        return false;
    }
    for (int i = 0; i < total; i++) {
        c->values[i] = i < count ? args[i] : NULL;
    }
    const Py_ssize_t named = keywords != NULL ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t k = 0; k < named; k++) {
        PyObject *const name = PyTuple_GetItem(keywords, k);
        const int i = place_of(f, name, total);
        if (i < 0) {
            return refuse(c, "no argument is called", name);
        }
        if (c->values[i] != NULL) {
            return refuse(c, "two values for the argument", name);
        }
        c->values[i] = args[count + k];
    }
    for (int i = 0; i < total; i++) {
        if (c->values[i] == NULL) {
            c->values[i] = f->defaults[i];
        }
        if (c->values[i] == NULL) {
            return refuse(c, "a value is missing for the argument", f->names[i]);
        }
    }
    return true;
}

/* ---- Single values */

static const char *const kind_names[] = {"tensor", "float", "int", "bool", "str", "dtype", "device"};

static bool refuse_kind(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *value) {
    PyErr_Clear();
    return fail(&c->e, "%s: expected %s%s, got %s", place_text(&c->e, argument->name, i), kind_names[argument->kind],
                argument->optional && i < 0 ? " or None" : "", got_text(&c->e, value));
}

static bool push_float(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *value, StableIValue *slot) {
    c->ran |= !PyFloat_CheckExact(value);
    const double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        return refuse_kind(c, argument, i, value);
    }
    memcpy(slot, &number, sizeof number);
    return true;
}

static bool push_int(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *value, StableIValue *slot) {
    c->ran |= !PyLong_CheckExact(value);
    PyObject *const whole = PyNumber_Index(value);
    if (whole == NULL) {
        return refuse_kind(c, argument, i, value);
    }
    const int64_t number = PyLong_AsLongLong(whole);
    Py_DECREF(whole);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return fail(&c->e, "%s: expected an int of 64 bits, got one beyond that", place_text(&c->e, argument->name, i));
    }
    memcpy(slot, &number, sizeof number);
    return true;
}

/* Which PyTorch takes, too; the type is called bool, as Python's, since NumPy 2. */
static bool is_numpy_bool(PyObject *value) {
    PyObject *const type = PyObject_Repr((PyObject *)Py_TYPE(value));
    const bool found = type != NULL && (PyUnicode_CompareWithASCIIString(type, "<class 'numpy.bool'>") == 0 ||
                                        PyUnicode_CompareWithASCIIString(type, "<class 'numpy.bool_'>") == 0);
    Py_XDECREF(type);
    PyErr_Clear();
    return found;
}

static bool push_bool(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *value, StableIValue *slot) {
    if (value != Py_True && value != Py_False && !is_numpy_bool(value)) {
        return refuse_kind(c, argument, i, value);
    }
    *slot = PyObject_IsTrue(value) == 1;
    return true;
}

static bool push_text(call *c, const direct_argument *argument, PyObject *value, StableIValue *slot) {
    Py_ssize_t length;
    StringHandle handle;
    if (!PyUnicode_Check(value)) {
        return refuse_kind(c, argument, -1, value);
    }
    const char *const text = PyUnicode_AsUTF8AndSize(value, &length);
    if (text == NULL) {
        return fail_python(&c->e, "%s: expected a str of Unicode", argument->name);
    }
    CHECK_ABI(&c->e, torch_new_string_handle, text, (size_t)length, &handle);
    *slot = (StableIValue)(uintptr_t)handle;
    return true;
}

static bool push_dtype(call *c, const direct_argument *argument, PyObject *value, StableIValue *slot) {
    c->ran = true;
    PyObject *const number = PyDict_GetItemWithError(dtypes, value); /* what cannot be hashed is an exception */
    if (number == NULL) {
        return refuse_kind(c, argument, -1, value);
    }
    *slot = (StableIValue)(uint32_t)PyLong_AsLong(number);
    return true;
}

/* Of the devices that an operator can be asked for; it refuses others itself. */
static int32_t device_number(const char *type) {
    return strcmp(type, "cpu") == 0    ? aoti_torch_device_type_cpu()
           : strcmp(type, "cuda") == 0 ? aoti_torch_device_type_cuda()
           : strcmp(type, "meta") == 0 ? aoti_torch_device_type_meta()
                                       : -1;
}

static bool push_device(call *c, const direct_argument *argument, PyObject *value, StableIValue *slot) {
    c->ran = true;
    PyObject *const where = PyObject_CallFunctionObjArgs(device_type, value, NULL);
    PyObject *const type = where != NULL ? PyObject_GetAttrString(where, "type") : NULL;
    PyObject *const index = where != NULL ? PyObject_GetAttrString(where, "index") : NULL;
    const char *const text = type != NULL ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    bool ok = text != NULL && index != NULL;
    if (ok) {
        const int32_t number = device_number(text);
        const int32_t place = index == Py_None ? -1 : (int32_t)PyLong_AsLong(index);
        *slot = (StableIValue)(uint32_t)number << 32 | (uint32_t)place;
        ok = number >= 0 || fail(&c->e, "%s: expected a device of the CPU or of CUDA, got %s", argument->name, text);
    } else {
        refuse_kind(c, argument, -1, value);
    }
    Py_XDECREF(index);
    Py_XDECREF(type);
    Py_XDECREF(where);
    return ok;
}

static bool push_one(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *value, StableIValue *slot) {
    switch (argument->kind) {
    case DIRECT_TENSOR:
        return tensor_lend(c, argument, i, value, slot);
    case DIRECT_FLOAT:
        return push_float(c, argument, i, value, slot);
    case DIRECT_INT:
        return push_int(c, argument, i, value, slot);
    case DIRECT_BOOL:
        return push_bool(c, argument, i, value, slot);
    case DIRECT_TEXT:
        return push_text(c, argument, value, slot);
    case DIRECT_DTYPE:
        return push_dtype(c, argument, value, slot);
    case DIRECT_DEVICE:
        break;
    }
    return push_device(c, argument, value, slot);
}

/* ---- Optionals and lists */

/* Puts an element into a box of its own, as that of an optional stands in a list. */
static void box(StableIValue *slot) {
    StableIValue *const held = _Znwm(sizeof *held);
    *held = *slot;
    *slot = (StableIValue)(uintptr_t)held;
}

/* Deletes what an argument has on the stack, or an element of a list. */
static void drop(const direct_argument *argument, bool optional, bool list, StableIValue slot) {
    StableIValue value = slot;
    if (optional) {
        if (!take_optional(&value)) {
            return;
        }
    }
    if (list) {
        const StableListHandle handle = (StableListHandle)(uintptr_t)value;
        size_t count = 0;
        StableIValue element;
        if (argument->element_optional && torch_list_size(handle, &count) == 0) {
            for (size_t i = 0; i < count; i++) {
                if (torch_list_get_item(handle, i, &element) == 0) {
                    drop(argument, true, false, element);
                }
            }
        }
        torch_delete_list(handle);
    } else if (argument->kind == DIRECT_TEXT) {
        torch_delete_string((StringHandle)(uintptr_t)value);
    }
}

static bool push_elements(call *c, const direct_argument *argument, PyObject *values, Py_ssize_t count,
                          StableListHandle handle) {
    for (Py_ssize_t i = 0; i < count; i++) {
        StableIValue element = 0;
        PyObject *const value = PySequence_GetItem(values, i);
        if (value == NULL) {
            return fail_python(&c->e, "%s", argument->name);
        }
        const bool absent = argument->element_optional && value == Py_None;
        const bool ok = absent || push_one(c, argument, i, value, &element);
        Py_DECREF(value);
        if (!ok) {
            return false;
        }
        if (argument->element_optional && !absent) {
            box(&element);
        }
        CHECK_ABI(&c->e, torch_list_push_back, handle, element);
    }
    return true;
}

static bool is_list(PyObject *value) { return PyList_Check(value) || PyTuple_Check(value); }

static bool push_list(call *c, const direct_argument *argument, PyObject *values, StableIValue *slot) {
    StableListHandle handle;
    if (!is_list(values)) {
        return fail(&c->e, "%s: expected a list of %ss, got %s", argument->name, kind_names[argument->kind],
                    got_text(&c->e, values));
    }
    const Py_ssize_t count = PySequence_Size(values);
    CHECK_ABI(&c->e, torch_new_list_reserve_size, (size_t)count, &handle);
    *slot = (StableIValue)(uintptr_t)handle;
    if (!push_elements(c, argument, values, count, handle)) {
        drop(argument, false, true, *slot);
        return false;
    }
    return true;
}

/* Argument number i; an optional one has its box in the record of the call. */
static bool push(call *c, const direct_argument *argument, bool optional, int i) {
    PyObject *const value = c->values[i];
    StableIValue *const slot = optional ? &c->boxes[i] : &c->stack[i];
    c->stack[i] = 0;
    if (optional && value == Py_None) {
        return true;
    }
    if (!(argument->list ? push_list(c, argument, value, slot) : push_one(c, argument, -1, value, slot))) {
        return false;
    }
    if (optional) {
        c->stack[i] = (StableIValue)(uintptr_t)slot | LENT_MARK;
    }
    return true;
}

/* Room for all tensors of the call. */
static bool hold_loans(call *c) {
    const direct_function *const spec = c->f->spec;
    Py_ssize_t most = c->f->lists ? 0 : c->f->tensors;
    for (int i = 0; c->f->lists && i < spec->count + spec->given; i++) {
        if (spec->arguments[i].kind == DIRECT_TENSOR) {
            most += spec->arguments[i].list && is_list(c->values[i]) ? PySequence_Size(c->values[i]) : 1;
        }
    }
    c->loans = most <= FEW_LOANS ? c->few : malloc((size_t)most * sizeof *c->loans);
    if (c->loans == NULL) {
        c->loans = c->few;
        return fail(&c->e, "out of memory for %zd tensors", most);
    }
    c->room = most;
    return true;
}

/* Whether outputs are given: all of them or none. */
static bool outputs_given(call *c, bool *given) {
    const direct_function *const spec = c->f->spec;
    const direct_argument *missing = NULL;
    *given = false;
    for (int i = spec->count; i < spec->count + spec->given; i++) {
        if (c->values[i] != Py_None) {
            *given = true;
        } else if (missing == NULL) {
            missing = &spec->arguments[i];
        }
    }
    CHECK(&c->e, !*given || missing == NULL, "%s: expected %s, as for the other outputs", missing->name,
          missing->list ? "a list of tensors" : "a tensor");
    return true;
}

/* The first `count` of the arguments. */
static void drop_all(call *c, int count) {
    const direct_function *const spec = c->f->spec;
    while (count-- > 0) {
        const direct_argument *const argument = &spec->arguments[count];
        drop(argument, argument->optional && count < spec->count, argument->list, c->stack[count]);
    }
}

bool arguments_push(call *c, bool *given) {
    const direct_function *const spec = c->f->spec;
    if (!hold_loans(c) || !outputs_given(c, given)) {
        return false;
    }
    const int count = spec->count + (*given ? spec->given : 0);
    for (int i = 0; i < count; i++) {
        const direct_argument *const argument = &spec->arguments[i];
        if (push(c, argument, argument->optional && i < spec->count, i)) {
            continue;
        }
        drop_all(c, i);
        return false;
    }
    if (!loans_settle(c)) {
        drop_all(c, count);
        return false;
    }
    return true;
}
