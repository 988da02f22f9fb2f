/* my_ops::rms_norm_backward(Tensor grad_y, Tensor x, Tensor? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * The CPU unit of rms_norm_backward.
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
#include "rms_norm_backward_call.h"

typedef struct rms_norm_backward_args {
    const scalar_t *grad_y;
    const scalar_t *x;
    const scalar_t *weight;
    const acc_t *rstd;
    scalar_t *grad_x;
    scalar_t *grad_weight;
    acc_t *partial;
    int64_t partial_size[2];
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t whole;
    int64_t few;
    int64_t runs;
    int64_t slab;
    int64_t slab_rows;
    int64_t run_blocks;
    int64_t limit;
    int64_t vectors;
    int64_t cluster;
    int64_t threads;
    int64_t resident;
    int64_t groups;
    int64_t blocks;
    int64_t step;
    int64_t rounds;
    int64_t columns;
    acc_t offset;
    cpu_piece *piece__; /* for body_error */
} rms_norm_backward_args;

#include "../../csrc/rms_norm_backward.c"

static rms_norm_backward_args rms_norm_backward_args_from(const void *record, cpu_piece *piece) {
    const rms_norm_backward_call *const call = record;
    return (rms_norm_backward_args){
        .grad_y = call->grad_y,
        .x = call->x,
        .weight = call->weight,
        .rstd = call->rstd,
        .grad_x = call->grad_x,
        .grad_weight = call->grad_weight,
        .partial = call->partial,
        .partial_size = {call->partial_size[0], call->partial_size[1]},
        .rows = call->rows,
        .n = call->n,
        .span = call->span,
        .whole = call->whole,
        .few = call->few,
        .runs = call->runs,
        .slab = call->slab,
        .slab_rows = call->slab_rows,
        .run_blocks = call->run_blocks,
        .limit = call->limit,
        .vectors = call->vectors,
        .cluster = call->cluster,
        .threads = call->threads,
        .resident = call->resident,
        .groups = call->groups,
        .blocks = call->blocks,
        .step = call->step,
        .rounds = call->rounds,
        .columns = call->columns,
        .offset = (acc_t)call->offset,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(rms_norm_backward_rows)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(rms_norm_backward_rows)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const rms_norm_backward_args args = rms_norm_backward_args_from(record, piece);
    rms_norm_backward_rows(&args, begin, end); /* csrc/rms_norm_backward.c defines it */
}

void CPU_SYMBOL(rms_norm_backward_columns)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(rms_norm_backward_columns)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const rms_norm_backward_args args = rms_norm_backward_args_from(record, piece);
    rms_norm_backward_columns(&args, begin, end); /* csrc/rms_norm_backward.c defines it */
}
