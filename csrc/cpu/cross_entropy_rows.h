/* Cross entropy of rows of logits z against one target each, with lse = log(sum(exp(z))) and an even share s of the
 * target for all columns:
 *     loss = lse - (1 - s) z[target] - s mean(z) + z_loss lse^2
 *     gradient[j] = softmax(z)[j] (1 + 2 z_loss lse) - (1 - s) [j == target] - s / n, times the row's factor
 * The host has checked the targets. A row is read for its largest logit and for the sum of exponentials, and, from the
 * caches, once more for the gradient, whose exponentials are computed anew unless they were kept. */
#ifndef CSRC_CPU_CROSS_ENTROPY_ROWS_H
#define CSRC_CPU_CROSS_ENTROPY_ROWS_H

#include "score_rows.h"

typedef struct {
    acc_t smoothing, z_loss;
    int64_t n;
} loss_terms;

/* `kept` may be null. */
static inline score_row logit_row(const scalar_t *logits, int64_t n, acc_t *kept) {
    const acc_t rate = SCORE_LOG2_E, least = vector_exp2_least(rate);
    return (score_row){.x = logits, .factor = 1, .rate = rate, .least = least, .limit = n, .kept = kept};
}

typedef struct {
    acc_t lse, largest;
    acc_t sum; /* of exponentials of logits less the largest, which are those that are kept */
    double log_sum;
} row_total;

/* Of a row of which no more is known. */
static inline row_total total_of_lse(acc_t lse) { return (row_total){lse, lse, 1, 0}; }

/* Meanwhile the row that is `ahead` elements further is fetched. */
static inline row_total total_of_row(const score_row *s, int64_t ahead) {
    const acc_t largest = score_largest(s), sum = score_sum(s, largest, ahead);
    const double log_sum = log((double)sum);
    return (row_total){(acc_t)((double)largest + log_sum), largest, sum, log_sum};
}

static inline acc_t row_mean(const score_row *s) {
    vector_t a = {0}, b = {0};
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= s->limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(s->x + i);
        a += v.a;
        b += v.b;
    }
    for (; i < s->limit; i += VECTOR_LANES)
        a += vector_load_part(s->x + i, vector_count(s->limit - i));
    return vector_sum(a + b) / (acc_t)s->limit;
}

/* Out of differences of logits, of which lse as rounded may be far away. */
static inline acc_t row_loss(const loss_terms *terms, const score_row *s, const row_total *total, int64_t target) {
    const double hit = (1 - (double)terms->smoothing) * (double)load(s->x + target);
    acc_t loss = (acc_t)((double)total->largest - hit + total->log_sum) + terms->z_loss * total->lse * total->lse;
    if (terms->smoothing != 0)
        loss -= terms->smoothing * row_mean(s);
    return loss;
}

/* The gradient of a row is scale * softmax - share, and `hit` less at the target. */
typedef struct {
    acc_t scale, share, hit;
} gradient_terms;

static inline gradient_terms row_gradient(const loss_terms *terms, acc_t factor, acc_t lse) {
    return (gradient_terms){
        .scale = factor * (1 + 2 * terms->z_loss * lse),
        .share = factor * (terms->smoothing / (acc_t)terms->n),
        .hit = factor * (1 - terms->smoothing),
    };
}

/* `to` may be the logits themselves. The row that is `ahead` elements further is fetched. */
static inline void store_gradient(const score_row *s, const gradient_terms *g, const row_total *total, int64_t target,
                                  scalar_t *to, int64_t ahead, bool stream) {
    const acc_t scale = g->scale / total->sum, from = total->largest;
    const acc_t at_target = scale * score_exp(s, vector_splat(load(s->x + target)), from)[0];
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= s->limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = score_exp_pair(s, i, from);
        vector_prefetch_pair(s->x + ahead + i);
        vector_store_pair(to + i, v.a * scale - g->share, v.b * scale - g->share, stream);
    }
    for (; i < s->limit; i += VECTOR_LANES) {
        const vector_t v = score_exp_part(s, i, from) * scale - g->share;
        vector_store_part(to + i, v, vector_count(s->limit - i));
    }
    store(to + target, at_target - g->share - g->hit);
}

#endif
