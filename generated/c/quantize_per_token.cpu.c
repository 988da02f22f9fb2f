/* my_ops::quantize_per_token(Tensor x, *, ScalarType dtype=int8) -> (Tensor, Tensor)
 *
 * The CPU unit of quantize_per_token.
 * It is compiled once for each choice of dtypes and each instruction set; the build defines T_DTYPE, Q_DTYPE and
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

typedef CPU_SCALAR(Q_DTYPE) Q_t;
typedef CPU_ACC(Q_DTYPE) Q_acc_t;

static inline Q_acc_t load_Q(const Q_t *p) {
    return CPU_LOAD(Q_DTYPE)(p);
}

static inline void store_Q(Q_t *p, Q_acc_t value) {
    CPU_STORE(Q_DTYPE)(p, value);
}

/* The first variable goes by these names too. */
#define CPU_DTYPE T_DTYPE
#define scalar_t T_t
#define acc_t T_acc_t
#define load load_T
#define store store_T

#include "vector.h"

#include "body.h"
#include "quantize_per_token_call.h"

typedef struct quantize_per_token_args {
    const scalar_t *x;
    Q_t *q;
    CPU_SCALAR(float32) *scale;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t cluster;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    cpu_piece *piece__; /* for body_error */
} quantize_per_token_args;

#include "../../csrc/quantize_per_token.c"

static quantize_per_token_args quantize_per_token_args_from(const void *record, cpu_piece *piece) {
    const quantize_per_token_call *const call = record;
    return (quantize_per_token_args){
        .x = call->x,
        .q = call->q,
        .scale = call->scale,
        .rows = call->rows,
        .n = call->n,
        .span = call->span,
        .lanes = call->lanes,
        .short_block = call->short_block,
        .cluster = call->cluster,
        .slab = call->slab,
        .slab_rows = call->slab_rows,
        .runs = call->runs,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(quantize_per_token)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(quantize_per_token)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const quantize_per_token_args args = quantize_per_token_args_from(record, piece);
    quantize_per_token(&args, begin, end); /* csrc/quantize_per_token.c defines it */
}
