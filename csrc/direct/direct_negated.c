/* Whether a tensor of PyTorch negates the elements that it lies on.
 *
 * Tensor.is_neg says so, but lets the lock of the interpreter go meanwhile, which takes as long as the rest of reading
 * a tensor; and each tensor of each call is asked. The answer is one bit of the tensor. Where it is is found out at
 * import, on tensors that are known to negate and others that are known not to; where that finds anything but one
 * place, Python is asked as before. */
#include <stdlib.h>
#include <string.h>

#include "direct_module.h"

/* Bytes of a TensorImpl that are looked at: behind the function table and the counts of references, up to what every
 * version from 2.10 on has. */
enum { PAIRS = 3, FIRST_BYTE = 24, LAST_BYTE = 184 };

static PyCFunction is_neg;
static size_t place_in_object; /* of the address of the TensorImpl, in bytes */
static size_t place_in_tensor; /* of the word with the bit, in bytes; 0 where Python is asked */
static uint64_t negative;

typedef struct pair {
    PyObject *plain, *negated;
} pair;

static uint64_t word_at(const void *start, size_t place) {
    uint64_t word;
    memcpy(&word, (const char *)start + place, sizeof word);
    return word;
}

static const void *tensor_of(PyObject *object) { return (const void *)(uintptr_t)word_at(object, place_in_object); }

/* Where an object has the address that its _cdata says; 0 where that is not one place. */
static size_t find_in_object(PyObject *object) {
    PyObject *const cdata = PyObject_GetAttrString(object, "_cdata");
    PyObject *const size = PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__basicsize__");
    const uint64_t address = cdata != NULL ? PyLong_AsUnsignedLongLong(cdata) : 0;
    const size_t end = size != NULL ? PyLong_AsSize_t(size) : 0;
    size_t found = 0;
    for (size_t place = sizeof(PyObject); !PyErr_Occurred() && place + sizeof address <= end; place += sizeof address) {
        if (word_at(object, place) == address) {
            found = found == 0 ? place : end;
        }
    }
    Py_XDECREF(size);
    Py_XDECREF(cdata);
    PyErr_Clear();
    return found < end ? found : 0;
}

/* The bit that alone differs in a word of both tensors of each pair, in the same way; 0 where there is none. */
static uint64_t differing_bit(const pair *pairs, size_t place) {
    uint64_t bit = 0;
    for (int i = 0; i < PAIRS; i++) {
        const uint64_t plain = word_at(tensor_of(pairs[i].plain), place);
        const uint64_t differs = plain ^ word_at(tensor_of(pairs[i].negated), place);
        if (differs == 0 || (differs & (differs - 1)) != 0 || (plain & differs) != 0 || (bit != 0 && bit != differs)) {
            return 0;
        }
        bit = differs;
    }
    return bit;
}

static void find_bit(const pair *pairs) {
    place_in_object = find_in_object(pairs[0].plain);
    for (int i = 0; i < PAIRS; i++) {
        if (place_in_object == 0 || find_in_object(pairs[i].plain) != place_in_object ||
            find_in_object(pairs[i].negated) != place_in_object) {
            return;
        }
    }
    size_t found = 0;
    for (size_t place = FIRST_BYTE; place < LAST_BYTE; place += sizeof(uint64_t)) {
        const uint64_t bit = differing_bit(pairs, place);
        if (bit != 0 && found != 0) {
            return;
        }
        if (bit != 0) {
            found = place;
            negative = bit;
        }
    }
    place_in_tensor = found;
}

static PyObject *ones_of(PyObject *ones, int size, PyObject *keywords) {
    PyObject *const arguments = Py_BuildValue("(i)", size);
    PyObject *const made = arguments != NULL ? PyObject_Call(ones, arguments, keywords) : NULL;
    Py_XDECREF(arguments);
    return made;
}

void negated_load(PyObject *torch, PyCFunction ask) {
    pair pairs[PAIRS] = {{NULL, NULL}};
    PyObject *const ones = PyObject_GetAttrString(torch, "ones");
    PyObject *const on_cpu = Py_BuildValue("{s:s}", "device", "cpu"); /* whatever the default is */
    bool ok = true;
    is_neg = ask;
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].plain = ones != NULL && on_cpu != NULL ? ones_of(ones, i + 1, on_cpu) : NULL;
        pairs[i].negated =
            ok && pairs[i].plain != NULL ? PyObject_CallMethod(torch, "_neg_view", "O", pairs[i].plain) : NULL;
        ok = pairs[i].negated != NULL;
    }
    if (ok && getenv(DIRECT_ASKS_PYTHON) == NULL) {
        find_bit(pairs);
    }
    for (int i = 0; i < PAIRS; i++) {
        Py_XDECREF(pairs[i].negated);
        Py_XDECREF(pairs[i].plain);
    }
    Py_XDECREF(ones);
    Py_XDECREF(on_cpu);
    PyErr_Clear();
}

bool is_negated(error *e, PyObject *object, bool *answer) {
    if (place_in_tensor != 0) {
        *answer = (word_at(tensor_of(object), place_in_tensor) & negative) != 0;
        return true;
    }
    PyObject *const said = is_neg(object, NULL);
    if (said == NULL) {
        return fail_python(e, "PyTorch does not say whether a tensor is a negated view");
    }
    *answer = said == Py_True;
    Py_DECREF(said);
    return true;
}
