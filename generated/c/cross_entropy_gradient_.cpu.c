/* my_ops::cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor
 *
 * The CPU unit of cross_entropy_gradient_.
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
#include "cross_entropy_gradient__call.h"

typedef struct cross_entropy_gradient__args {
    scalar_t *logits;
    const CPU_SCALAR(int64) *target;
    const acc_t *grad_loss;
    acc_t *loss;
    int64_t grad_loss_dim;
    const int64_t *grad_loss_size;
    const int64_t *grad_loss_stride;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t stage_lanes;
    int64_t cluster;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    int64_t ignore_index;
    acc_t label_smoothing;
    acc_t z_loss;
    cpu_piece *piece__; /* for body_error */
} cross_entropy_gradient__args;

#include "../../csrc/cross_entropy_gradient_.c"

static cross_entropy_gradient__args cross_entropy_gradient__args_from(const void *record, cpu_piece *piece) {
    const cross_entropy_gradient__call *const call = record;
    return (cross_entropy_gradient__args){
        .logits = call->logits,
        .target = call->target,
        .grad_loss = call->grad_loss,
        .loss = call->loss,
        .grad_loss_dim = call->grad_loss_dim,
        .grad_loss_size = call->grad_loss_size,
        .grad_loss_stride = call->grad_loss_stride,
        .rows = call->rows,
        .n = call->n,
        .span = call->span,
        .lanes = call->lanes,
        .short_block = call->short_block,
        .stage_lanes = call->stage_lanes,
        .cluster = call->cluster,
        .spread = call->spread,
        .slab = call->slab,
        .slab_rows = call->slab_rows,
        .runs = call->runs,
        .ignore_index = call->ignore_index,
        .label_smoothing = (acc_t)call->label_smoothing,
        .z_loss = (acc_t)call->z_loss,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(cross_entropy_gradient_)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(cross_entropy_gradient_)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const cross_entropy_gradient__args args = cross_entropy_gradient__args_from(record, piece);
    cross_entropy_gradient_(&args, begin, end); /* csrc/cross_entropy_gradient_.c defines it */
}
