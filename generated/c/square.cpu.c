/* my_ops::square(Tensor x) -> Tensor
 *
 * The CPU unit of square.
 * It is compiled once for each choice of dtypes and each instruction set; the build defines T_DTYPE and
 * CPU_SYMBOL(kernel), the name of a kernel of this choice. */
#include "scalar.h"

typedef CPU_SCALAR(T_DTYPE) T_t;
typedef CPU_ACC(T_DTYPE) T_acc_t;

static inline T_acc_t load_T(const T_t *p) {
    return CPU_LOAD(T_DTYPE)(p);
}

static inline void store_T(T_t *p, T_acc_t value) {
    CPU_STORE(T_DTYPE)(p, value);
}

/* The first variable goes by these names too. */
#define CPU_DTYPE T_DTYPE
#define scalar_t T_t
#define acc_t T_acc_t
#define load load_T
#define store store_T

#include "vector.h"

#include "body.h"
#include "square_call.h"

typedef struct square_args {
    const scalar_t *x;
    scalar_t *y;
    int64_t shape;
    cpu_piece *piece__; /* for body_error */
} square_args;

#include "../../csrc/square.c"

static square_args square_args_from(const void *record, cpu_piece *piece) {
    const square_call *const call = record;
    return (square_args){
        .x = call->x,
        .y = call->y,
        .shape = call->shape,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(square)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(square)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const square_args args = square_args_from(record, piece);
    square(&args, begin, end); /* csrc/square.c defines it */
}
