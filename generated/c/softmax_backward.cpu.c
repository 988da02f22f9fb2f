/* my_ops::softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * The CPU unit of softmax_backward.
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
#include "softmax_backward_call.h"

typedef struct softmax_backward_args {
    const scalar_t *grad_y;
    const scalar_t *y;
    scalar_t *grad_x;
    acc_t *grad_bias;
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t rows;
    int64_t span;
    int64_t lanes;
    int64_t stage_lanes;
    int64_t cluster;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    acc_t scale;
    bool causal;
    cpu_piece *piece__; /* for body_error */
} softmax_backward_args;

#include "../../csrc/softmax_backward.c"

static softmax_backward_args softmax_backward_args_from(const void *record, cpu_piece *piece) {
    const softmax_backward_call *const call = record;
    return (softmax_backward_args){
        .grad_y = call->grad_y,
        .y = call->y,
        .grad_x = call->grad_x,
        .grad_bias = call->grad_bias,
        .batch = call->batch,
        .m = call->m,
        .n = call->n,
        .rows = call->rows,
        .span = call->span,
        .lanes = call->lanes,
        .stage_lanes = call->stage_lanes,
        .cluster = call->cluster,
        .spread = call->spread,
        .slab = call->slab,
        .slab_rows = call->slab_rows,
        .runs = call->runs,
        .scale = (acc_t)call->scale,
        .causal = call->causal,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(softmax_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(softmax_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const softmax_backward_args args = softmax_backward_args_from(record, piece);
    softmax_backward(&args, begin, end); /* csrc/softmax_backward.c defines it */
}
