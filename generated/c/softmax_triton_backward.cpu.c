/* my_ops::softmax_triton_backward(Tensor grad_y, Tensor y) -> Tensor
 *
 * The CPU unit of softmax_triton_backward.
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
#include "softmax_triton_backward_call.h"

typedef struct softmax_triton_backward_args {
    const scalar_t *grad_y;
    const scalar_t *y;
    scalar_t *grad_x;
    int64_t rows;
    int64_t n;
    cpu_piece *piece__; /* for body_error */
} softmax_triton_backward_args;

#include "../../csrc/softmax_triton_backward.c"

static softmax_triton_backward_args softmax_triton_backward_args_from(const void *record, cpu_piece *piece) {
    const softmax_triton_backward_call *const call = record;
    return (softmax_triton_backward_args){
        .grad_y = call->grad_y,
        .y = call->y,
        .grad_x = call->grad_x,
        .rows = call->rows,
        .n = call->n,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(softmax_triton_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(softmax_triton_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const softmax_triton_backward_args args = softmax_triton_backward_args_from(record, piece);
    softmax_triton_backward(&args, begin, end); /* csrc/softmax_triton_backward.c defines it */
}
