/* my_ops::rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * The CPU unit of rope_backward.
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
#include "rope_backward_call.h"

typedef struct rope_backward_args {
    const scalar_t *grad_q_out;
    const scalar_t *grad_k_out;
    const C_t *cos;
    const C_t *sin;
    scalar_t *grad_q;
    scalar_t *grad_k;
    int64_t grad_q_out_stride[4];
    int64_t grad_k_out_stride[4];
    int64_t cos_stride[1];
    int64_t sin_stride[1];
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
} rope_backward_args;

#include "../../csrc/rope_backward.c"

static rope_backward_args rope_backward_args_from(const void *record, cpu_piece *piece) {
    const rope_backward_call *const call = record;
    return (rope_backward_args){
        .grad_q_out = call->grad_q_out,
        .grad_k_out = call->grad_k_out,
        .cos = call->cos,
        .sin = call->sin,
        .grad_q = call->grad_q,
        .grad_k = call->grad_k,
        .grad_q_out_stride = {call->grad_q_out_stride[0], call->grad_q_out_stride[1], call->grad_q_out_stride[2], call->grad_q_out_stride[3]},
        .grad_k_out_stride = {call->grad_k_out_stride[0], call->grad_k_out_stride[1], call->grad_k_out_stride[2], call->grad_k_out_stride[3]},
        .cos_stride = {call->cos_stride[0]},
        .sin_stride = {call->sin_stride[0]},
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

void CPU_SYMBOL(rope_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(rope_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const rope_backward_args args = rope_backward_args_from(record, piece);
    rope_backward(&args, begin, end); /* csrc/rope_backward.c defines it */
}
