/* C shims: operators as plain C functions on PyTorch's tensor handles, which a package of AOTInductor calls.
 *
 * A shim puts its arguments on a stack as PyTorch does for a boxed kernel, with handles of its own, calls the function
 * that the boxed kernel calls, and hands out the results. It raises nothing: it returns 0 or 1, and keeps the text of
 * the error for the thread. Handles that come in stay the caller's, those that go out become the caller's.
 *
 * What the dispatcher does before a kernel is done here: tensors that only negate or conjugate the elements of others
 * are replaced by copies. Functions return false after writing an error. */
#ifndef RUNTIME_SHIM_H
#define RUNTIME_SHIM_H

#include "error.h"
#include "torch_abi.h"

typedef void shim_function(void);

/* One row per shim. */
typedef struct shim_entry {
    const char *op;     /* "namespace::operator" */
    const char *schema; /* without the namespace: what a package was compiled for has to be the same */
    shim_function *call;
} shim_entry;

enum { SHIM_MOST = 64 };

typedef enum shim_kind { SHIM_NUMBER, SHIM_TENSOR, SHIM_TENSORS, SHIM_SOME_TENSORS, SHIM_LIST, SHIM_TEXT } shim_kind;

/* One call. Only what is read before it is written is set. */
typedef struct shim {
    error e;
    int count; /* of arguments on the stack */
    bool boxed[SHIM_MOST];
    shim_kind kinds[SHIM_MOST];
    StableIValue boxes[SHIM_MOST]; /* of optional arguments */
    StableIValue stack[SHIM_MOST];
} shim;

static inline void shim_begin(shim *s, const char *op) {
    error_begin(&s->e, op);
    s->count = 0;
}

/* Arguments, in the order of the schema; `name` is for the texts of errors. A tensor that is written must not be a view
 * that negates or conjugates. */
bool shim_tensor(shim *s, const char *name, AtenTensorHandle tensor);
bool shim_written(shim *s, const char *name, AtenTensorHandle tensor);
bool shim_float(shim *s, double value);
bool shim_int(shim *s, int64_t value);
bool shim_bool(shim *s, int32_t value);
bool shim_dtype(shim *s, int32_t value);
bool shim_text(shim *s, const char *text);

/* Lists; a null pointer is an element that is absent. */
bool shim_tensors(shim *s, const char *name, const AtenTensorHandle *tensors, int64_t count);
bool shim_some_tensors(shim *s, const char *name, const AtenTensorHandle *const *tensors, int64_t count);
bool shim_written_tensors(shim *s, const char *name, const AtenTensorHandle *tensors, int64_t count);
bool shim_some_written_tensors(shim *s, const char *name, const AtenTensorHandle *const *tensors, int64_t count);
bool shim_floats(shim *s, const double *values, int64_t count);
bool shim_ints(shim *s, const int64_t *values, int64_t count);
bool shim_bools(shim *s, const int32_t *values, int64_t count);

/* An optional argument that is absent; and makes the argument that was put last one of an optional. */
bool shim_none(shim *s);
bool shim_box(shim *s);

/* Deletes what is on the stack, where an argument could not be put there. */
void shim_drop(shim *s);

/* Result number i, unless the call has failed. The caller may not want it: `ret` is null then. */
void shim_give(shim *s, int i, AtenTensorHandle *ret);

/* What the shim returns. */
AOTITorchError shim_end(const shim *s);

/* The text behind the last 1 of this thread. */
const char *shim_error(void);

/* The function for a schema; null after writing why there is none, for shim_error. `missing`: why the operators are not
 * registered, null when they are. */
shim_function *shim_find(const shim_entry *entries, size_t count, const char *op, const char *schema,
                         const char *missing);

#endif
