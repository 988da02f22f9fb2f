/* my_ops::cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor
 *
 * The CPU unit of cross_entropy_backward.
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
#include "cross_entropy_backward_call.h"

typedef struct cross_entropy_backward_args {
    const acc_t *grad_loss;
    const scalar_t *logits;
    const CPU_SCALAR(int64) *target;
    const acc_t *lse;
    scalar_t *grad_logits;
    int64_t grad_loss_dim;
    const int64_t *grad_loss_size;
    const int64_t *grad_loss_stride;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t threads;
    int64_t chunks;
    int64_t ignore_index;
    acc_t label_smoothing;
    acc_t z_loss;
    cpu_piece *piece__; /* for body_error */
} cross_entropy_backward_args;

#include "../../csrc/cross_entropy_backward.c"

static cross_entropy_backward_args cross_entropy_backward_args_from(const void *record, cpu_piece *piece) {
    const cross_entropy_backward_call *const call = record;
    return (cross_entropy_backward_args){
        .grad_loss = call->grad_loss,
        .logits = call->logits,
        .target = call->target,
        .lse = call->lse,
        .grad_logits = call->grad_logits,
        .grad_loss_dim = call->grad_loss_dim,
        .grad_loss_size = call->grad_loss_size,
        .grad_loss_stride = call->grad_loss_stride,
        .rows = call->rows,
        .n = call->n,
        .span = call->span,
        .threads = call->threads,
        .chunks = call->chunks,
        .ignore_index = call->ignore_index,
        .label_smoothing = (acc_t)call->label_smoothing,
        .z_loss = (acc_t)call->z_loss,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(cross_entropy_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(cross_entropy_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const cross_entropy_backward_args args = cross_entropy_backward_args_from(record, piece);
    cross_entropy_backward(&args, begin, end); /* csrc/cross_entropy_backward.c defines it */
}
