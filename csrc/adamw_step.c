/* One step of AdamW, https://arxiv.org/abs/1711.05101, algorithm 2, with g the gradient times grad_scale:
 *     m = beta1 m + (1 - beta1) g    v = beta2 v + (1 - beta2) g^2
 *     p = p (1 - lr weight_decay) - lr / (1 - beta1^step) m / (sqrt(v / (1 - beta2^step)) + eps)
 * Units are runs of ADAMW_UNIT elements of all tensors together. */

#include "list_runs.h"
#include "vector_math.h"

enum { ADAMW_UNIT = 4096 };

/* What is the same for all elements, found in double. */
typedef struct {
    acc_t beta1, rest1, beta2, rest2, decay, rate, unbias, eps, scale;
} adamw_factors;

static inline adamw_factors adamw_factors_of(const adamw_step_args *a) {
    const double beta1 = a->betas[0], beta2 = a->betas[1], lr = (double)a->lr;
    const acc_t scale = a->grad_scale ? *a->grad_scale : 1;
    return (adamw_factors){
        .beta1 = (acc_t)beta1,
        .rest1 = (acc_t)(1 - beta1),
        .beta2 = (acc_t)beta2,
        .rest2 = (acc_t)(1 - beta2),
        .decay = (acc_t)(1 - lr * (double)a->weight_decay),
        .rate = (acc_t)(lr / (1 - pow(beta1, (double)a->step))),
        .unbias = (acc_t)(1 / sqrt(1 - pow(beta2, (double)a->step))),
        .eps = a->eps,
        .scale = a->maximize ? -scale : scale,
    };
}

/* Lanes of S, which is T, or what T is computed in, or another dtype, lane by lane. */
static inline vector_t adamw_load_lanes(const S_t *p, int64_t count) {
    vector_t v = {0};
    for (int64_t k = 0; k < count; k++)
        v[k] = (acc_t)load_S(p + k);
    return v;
}
static inline void adamw_store_lanes(S_t *p, vector_t v, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        store_S(p + k, (S_acc_t)v[k]);
}
#define ADAMW_OF_S(of_t, of_acc, of_lanes)                                                                             \
    _Generic((S_t){0}, scalar_t: of_t, default: _Generic((S_t){0}, acc_t: of_acc, default: of_lanes))
#define adamw_load ADAMW_OF_S(vector_load_part, vector_load_acc_part, adamw_load_lanes)
#define adamw_store ADAMW_OF_S(vector_store_part, vector_store_acc_part, adamw_store_lanes)

/* `count` elements, no more than a vector has. */
CPU_INLINE void adamw_update(const adamw_factors *f, scalar_t *params, const scalar_t *grads, S_t *exp_avgs,
                             S_t *exp_avg_sqs, int64_t count) {
    const vector_t g = vector_load_part(grads, count) * f->scale;
    const vector_t m = adamw_load(exp_avgs, count) * f->beta1 + f->rest1 * g;
    const vector_t v = adamw_load(exp_avg_sqs, count) * f->beta2 + f->rest2 * g * g;
    const vector_t p = vector_load_part(params, count);
    adamw_store(exp_avgs, m, count);
    adamw_store(exp_avg_sqs, v, count);
    vector_store_part(params, p * f->decay - f->rate * (m / (vector_sqrt(v) * f->unbias + f->eps)), count);
}

static void adamw_step(const adamw_step_args *a, int64_t begin, int64_t end) {
    const adamw_factors factors = adamw_factors_of(a);
    const int64_t last = end * ADAMW_UNIT < a->total ? end * ADAMW_UNIT : a->total;
    list_run run = list_runs(a->s, begin * ADAMW_UNIT, last);
    while (list_next(&run)) {
        scalar_t *params = a->params[run.tensor] + run.first;
        const scalar_t *grads = a->grads[run.tensor] + run.first;
        S_t *exp_avgs = a->exp_avgs[run.tensor] + run.first, *exp_avg_sqs = a->exp_avg_sqs[run.tensor] + run.first;
        int64_t i = 0;
        for (; i + VECTOR_LANES <= run.count; i += VECTOR_LANES)
            adamw_update(&factors, params + i, grads + i, exp_avgs + i, exp_avg_sqs + i, VECTOR_LANES);
        if (i < run.count)
            adamw_update(&factors, params + i, grads + i, exp_avgs + i, exp_avg_sqs + i, run.count - i);
    }
}
