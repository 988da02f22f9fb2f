/* my_ops::rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> Tensor
 *
 * The CPU unit of rms_norm.
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
#include "rms_norm_call.h"

typedef struct rms_norm_args {
    const scalar_t *x;
    const scalar_t *weight;
    scalar_t *y;
    acc_t *rstd;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t cluster;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    acc_t eps;
    acc_t offset;
    cpu_piece *piece__; /* for body_error */
} rms_norm_args;

#include "../../csrc/rms_norm.c"

static rms_norm_args rms_norm_args_from(const void *record, cpu_piece *piece) {
    const rms_norm_call *const call = record;
    return (rms_norm_args){
        .x = call->x,
        .weight = call->weight,
        .y = call->y,
        .rstd = call->rstd,
        .rows = call->rows,
        .n = call->n,
        .span = call->span,
        .lanes = call->lanes,
        .short_block = call->short_block,
        .cluster = call->cluster,
        .slab = call->slab,
        .slab_rows = call->slab_rows,
        .runs = call->runs,
        .eps = (acc_t)call->eps,
        .offset = (acc_t)call->offset,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(rms_norm)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(rms_norm)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const rms_norm_args args = rms_norm_args_from(record, piece);
    rms_norm(&args, begin, end); /* csrc/rms_norm.c defines it */
}
