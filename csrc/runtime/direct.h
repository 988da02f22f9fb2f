/* What the direct module is told of the operators: the functions that it calls, and what they take.
 *
 * A direct call puts its arguments on the stack as PyTorch does for a boxed kernel, but for tensors, which are lent
 * (lent.h). It leaves an error in the record that it is given, and raises nothing. */
#ifndef RUNTIME_DIRECT_H
#define RUNTIME_DIRECT_H

#include "error.h"
#include "torch_abi.h"

typedef void DirectKernel(error *e, StableIValue *stack);

typedef enum direct_kind {
    DIRECT_TENSOR,
    DIRECT_FLOAT,
    DIRECT_INT,
    DIRECT_BOOL,
    DIRECT_TEXT,
    DIRECT_DTYPE,
    DIRECT_DEVICE
} direct_kind;

typedef struct direct_argument {
    const char *name;
    direct_kind kind;
    bool optional; /* None is a value */
    bool list;
    bool element_optional; /* None may be in the list */
    bool written;
    bool keyword;             /* by name only */
    const char *default_text; /* a literal of Python; null when the argument must be given */
} direct_argument;

typedef struct direct_function {
    const char *name;
    const char *op;        /* "namespace::operator", as errors begin */
    const char *signature; /* "(x, weight=None)" */
    const char *doc;
    const direct_argument *arguments;
    int count;           /* of arguments that the call takes */
    int given;           /* so many outputs may be given too: arguments behind these, all of them or none */
    const char *returns; /* for each result: t, a tensor; o, one that may be absent; l, a list of tensors */
    DirectKernel *call;
    DirectKernel *call_given; /* with outputs on the stack behind the arguments; returns nothing */
} direct_function;

enum { DIRECT_VERSION = 1, DIRECT_MOST_ARGUMENTS = 64 };

typedef struct direct_library {
    int version; /* of what stands here; this library and the module are built together, but can be installed apart */
    int count;
    const direct_function *functions;
} direct_library;

#endif
