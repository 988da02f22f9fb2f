/* The direct module: each operator as a plain function of Python, without PyTorch's dispatcher.
 *
 * It is written against Python's stable ABI (3.10), so that one file serves every Python, and holds no operator: it
 * asks the library beside it (runtime/direct.h) what there is and calls it with tensors that are lent (runtime/lent.h).
 * A call binds its arguments to the signature, puts them on the stack (direct_arguments.c, direct_tensors.c), runs, and
 * makes results of what comes back (direct_results.c). The lock of the interpreter is held throughout. No gradient is
 * recorded.
 *
 * Functions return false after leaving an error in the record of the call, or an exception of Python. */
#ifndef DIRECT_MODULE_H
#define DIRECT_MODULE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "boxed.h"
#include "direct.h"
#include "lent.h"

/* A function of the module, as Python knows it. */
typedef struct function {
    const direct_function *spec;
    int positional;      /* so many arguments may be given by place */
    int tensors;         /* arguments that are tensors, and outputs that may be given */
    bool lists;          /* of tensors, among them: how many tensors a call has is to be counted */
    PyObject **names;    /* of the arguments, interned */
    PyObject **defaults; /* null where there is none */
    PyMethodDef method;
} function;

/* A tensor that is lent for one call, and what keeps its memory alive meanwhile. */
typedef struct loan {
    DLTensor described;
    PyObject *tensor;  /* borrowed: a tensor of PyTorch, which itself keeps its sizes and strides; else null */
    PyObject *owner;   /* of an element of a list; null where the caller of the function holds it */
    PyObject *capsule; /* of __dlpack__ */
    int64_t *strides;  /* where DLPack gave none */
} loan;

enum { FEW_LOANS = 8 };

/* One call. Only what is read before it is written is set: the error record alone has 6 KB. */
typedef struct call {
    const function *f;
    int used;        /* loans */
    Py_ssize_t room; /* for loans */
    bool holds;      /* whether some loan holds what is to be given back */
    bool ran;        /* whether methods of arguments were called, which can change a tensor that is lent */
    loan *loans;
    PyObject *like; /* borrowed: the first array that is no tensor of PyTorch, of whose kind the results are */
    bool torch;     /* whether a tensor of PyTorch came before that */
    PyObject *values[DIRECT_MOST_ARGUMENTS]; /* borrowed */
    StableIValue stack[DIRECT_MOST_ARGUMENTS];
    StableIValue boxes[DIRECT_MOST_ARGUMENTS]; /* of optional arguments */
    loan few[FEW_LOANS];
    error e;
} call;

/* ---- direct_arguments.c */
bool arguments_load(PyObject *torch);

/* The arguments in the order of the signature; the outputs that may be given come last, None where they are not. */
bool arguments_bind(call *c, PyObject *const *args, Py_ssize_t count, PyObject *keywords);

/* Puts them on the stack, which the call of the library takes over; after an error nothing is left of it. `given`: the
 * outputs too. */
bool arguments_push(call *c, bool *given);

/* ---- direct_tensors.c */
bool tensors_load(PyObject *torch);

/* Lends a tensor; `i` is its place in the list argument `name`, -1 for one that is in none. */
bool tensor_lend(call *c, const direct_argument *argument, Py_ssize_t i, PyObject *value, StableIValue *slot);

/* Looks at PyTorch's tensors once more, if they may have changed since they were lent. */
bool loans_settle(call *c);
void loans_end(call *c);

/* The stream that PyTorch works on, and PyTorch's side of the exchange. */
extern const DLPackExchangeAPI *torch_exchange;

/* The exchange API of a type; null, without an exception, where it has none. */
const DLPackExchangeAPI *exchange_of(PyTypeObject *type);

/* ---- direct_negated.c: finds out how to ask; `ask` is Tensor.is_neg. False after an error only. */
void negated_load(PyObject *torch, PyCFunction ask);
bool is_negated(error *e, PyObject *object, bool *answer);

/* With this variable in the environment, PyTorch is asked by functions of its Python interface alone. */
#define DIRECT_ASKS_PYTHON "OPS_DIRECT_ASKS_PYTHON"

/* ---- direct_results.c */
bool results_load(PyObject *torch);

/* What the call left on the stack: None, one result or a tuple. Takes all of it, whatever happens. */
PyObject *results_take(call *c);

/* ---- direct_errors.c */
/* What an exception of Python says becomes the text of an error, behind that of `format`. Returns false. */
__attribute__((format(printf, 2, 3))) bool fail_python(error *e, const char *format, ...);

/* "None", or the name of the type. An exception of Python stays. */
const char *got_text(error *e, PyObject *value);

/* "xs[3]", or the name alone where `i` is -1. */
const char *place_text(error *e, const char *name, Py_ssize_t i);

/* Raises RuntimeError with the text of the record. */
void raise_error(const error *e);

#endif
