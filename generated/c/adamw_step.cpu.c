/* my_ops::adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, SymInt step, Tensor? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float weight_decay=0.01, bool maximize=False) -> ()
 *
 * The CPU unit of adamw_step.
 * It is compiled once for each choice of dtypes and each instruction set; the build defines T_DTYPE, S_DTYPE and
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

typedef CPU_SCALAR(S_DTYPE) S_t;
typedef CPU_ACC(S_DTYPE) S_acc_t;

static inline S_acc_t load_S(const S_t *p) {
    return CPU_LOAD(S_DTYPE)(p);
}

static inline void store_S(S_t *p, S_acc_t value) {
    CPU_STORE(S_DTYPE)(p, value);
}

/* The first variable goes by these names too. */
#define CPU_DTYPE T_DTYPE
#define scalar_t T_t
#define acc_t T_acc_t
#define load load_T
#define store store_T

#include "vector.h"

#include "body.h"
#include "adamw_step_call.h"

typedef struct adamw_step_args {
    scalar_t *const *params;
    int64_t params_count;
    const scalar_t *const *grads;
    int64_t grads_count;
    S_t *const *exp_avgs;
    int64_t exp_avgs_count;
    S_t *const *exp_avg_sqs;
    int64_t exp_avg_sqs_count;
    const acc_t *grad_scale;
    const int64_t *s;
    int64_t total;
    int64_t step;
    acc_t lr;
    const double *betas;
    int64_t betas_count;
    acc_t eps;
    acc_t weight_decay;
    bool maximize;
    cpu_piece *piece__; /* for body_error */
} adamw_step_args;

#include "../../csrc/adamw_step.c"

static adamw_step_args adamw_step_args_from(const void *record, cpu_piece *piece) {
    const adamw_step_call *const call = record;
    return (adamw_step_args){
        .params = (scalar_t *const *)call->params,
        .params_count = call->params_count,
        .grads = (const scalar_t *const *)call->grads,
        .grads_count = call->grads_count,
        .exp_avgs = (S_t *const *)call->exp_avgs,
        .exp_avgs_count = call->exp_avgs_count,
        .exp_avg_sqs = (S_t *const *)call->exp_avg_sqs,
        .exp_avg_sqs_count = call->exp_avg_sqs_count,
        .grad_scale = call->grad_scale,
        .s = call->s,
        .total = call->total,
        .step = call->step,
        .lr = (acc_t)call->lr,
        .betas = call->betas,
        .betas_count = call->betas_count,
        .eps = (acc_t)call->eps,
        .weight_decay = (acc_t)call->weight_decay,
        .maximize = call->maximize,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(adamw_step)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(adamw_step)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const adamw_step_args args = adamw_step_args_from(record, piece);
    adamw_step(&args, begin, end); /* csrc/adamw_step.c defines it */
}
