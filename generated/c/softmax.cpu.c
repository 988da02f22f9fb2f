/* my_ops::softmax(Tensor x, Tensor? bias=None, float scale=1.0, bool causal=False) -> Tensor
 *
 * The CPU unit of softmax.
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
#include "softmax_call.h"

typedef struct softmax_args {
    const scalar_t *x;
    const scalar_t *bias;
    scalar_t *y;
    int64_t bias_dim;
    const int64_t *bias_size;
    const int64_t *bias_stride;
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t rows;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t stage_lanes;
    int64_t cluster;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    acc_t scale;
    bool causal;
    cpu_piece *piece__; /* for body_error */
} softmax_args;

#include "../../csrc/softmax.c"

static softmax_args softmax_args_from(const void *record, cpu_piece *piece) {
    const softmax_call *const call = record;
    return (softmax_args){
        .x = call->x,
        .bias = call->bias,
        .y = call->y,
        .bias_dim = call->bias_dim,
        .bias_size = call->bias_size,
        .bias_stride = call->bias_stride,
        .batch = call->batch,
        .m = call->m,
        .n = call->n,
        .rows = call->rows,
        .span = call->span,
        .lanes = call->lanes,
        .short_block = call->short_block,
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

void CPU_SYMBOL(softmax)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(softmax)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const softmax_args args = softmax_args_from(record, piece);
    softmax(&args, begin, end); /* csrc/softmax.c defines it */
}
