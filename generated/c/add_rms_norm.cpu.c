/* my_ops::add_rms_norm(Tensor x, Tensor residual, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)
 *
 * The CPU unit of add_rms_norm.
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
#include "add_rms_norm_call.h"

typedef struct add_rms_norm_args {
    const scalar_t *x;
    const scalar_t *residual;
    const scalar_t *weight;
    scalar_t *y;
    scalar_t *residual_out;
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
} add_rms_norm_args;

#include "../../csrc/add_rms_norm.c"

static add_rms_norm_args add_rms_norm_args_from(const void *record, cpu_piece *piece) {
    const add_rms_norm_call *const call = record;
    return (add_rms_norm_args){
        .x = call->x,
        .residual = call->residual,
        .weight = call->weight,
        .y = call->y,
        .residual_out = call->residual_out,
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

void CPU_SYMBOL(add_rms_norm)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(add_rms_norm)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const add_rms_norm_args args = add_rms_norm_args_from(record, piece);
    add_rms_norm(&args, begin, end); /* csrc/add_rms_norm.c defines it */
}
