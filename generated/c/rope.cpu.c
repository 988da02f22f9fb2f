/* my_ops::rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)
 *
 * The CPU unit of rope.
 * It is compiled once for each choice of dtypes and each instruction set; the build defines T_DTYPE, C_DTYPE and
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

typedef CPU_SCALAR(C_DTYPE) C_t;
typedef CPU_ACC(C_DTYPE) C_acc_t;

static inline C_acc_t load_C(const C_t *p) {
    return CPU_LOAD(C_DTYPE)(p);
}

static inline void store_C(C_t *p, C_acc_t value) {
    CPU_STORE(C_DTYPE)(p, value);
}

/* The first variable goes by these names too. */
#define CPU_DTYPE T_DTYPE
#define scalar_t T_t
#define acc_t T_acc_t
#define load load_T
#define store store_T

#include "vector.h"

#include "body.h"
#include "rope_call.h"

typedef struct rope_args {
    const scalar_t *q;
    const scalar_t *k;
    const C_t *cos;
    const C_t *sin;
    scalar_t *q_out;
    scalar_t *k_out;
    int64_t q_stride[4];
    int64_t k_stride[4];
    int64_t cos_stride[1];
    int64_t sin_stride[1];
    int64_t q_out_stride[4];
    int64_t k_out_stride[4];
    int64_t b;
    int64_t s;
    int64_t h;
    int64_t d;
    int64_t hk;
    int64_t cb;
    int64_t r;
    int64_t groups;
    bool interleaved;
    cpu_piece *piece__; /* for body_error */
} rope_args;

#include "../../csrc/rope.c"

static rope_args rope_args_from(const void *record, cpu_piece *piece) {
    const rope_call *const call = record;
    return (rope_args){
        .q = call->q,
        .k = call->k,
        .cos = call->cos,
        .sin = call->sin,
        .q_out = call->q_out,
        .k_out = call->k_out,
        .q_stride = {call->q_stride[0], call->q_stride[1], call->q_stride[2], call->q_stride[3]},
        .k_stride = {call->k_stride[0], call->k_stride[1], call->k_stride[2], call->k_stride[3]},
        .cos_stride = {call->cos_stride[0]},
        .sin_stride = {call->sin_stride[0]},
        .q_out_stride = {call->q_out_stride[0], call->q_out_stride[1], call->q_out_stride[2], call->q_out_stride[3]},
        .k_out_stride = {call->k_out_stride[0], call->k_out_stride[1], call->k_out_stride[2], call->k_out_stride[3]},
        .b = call->b,
        .s = call->s,
        .h = call->h,
        .d = call->d,
        .hk = call->hk,
        .cb = call->cb,
        .r = call->r,
        .groups = call->groups,
        .interleaved = call->interleaved,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(rope)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(rope)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const rope_args args = rope_args_from(record, piece);
    rope(&args, begin, end); /* csrc/rope.c defines it */
}
