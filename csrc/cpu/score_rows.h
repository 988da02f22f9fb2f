/* Rows of scores whose exponentials are summed: what softmax and cross entropy have in common. The columns of a row
 * that do not take part come last. */
#ifndef CSRC_CPU_SCORE_ROWS_H
#define CSRC_CPU_SCORE_ROWS_H

#include <math.h>

#include "vector_math.h"

static const acc_t SCORE_LOG2_E = (acc_t)1.44269504088896340736;

/* The exponent of a value is rate * (value - largest), in powers of two. Without a bias values are those of x, the sign
 * of scale apart, so that it is differences that are scaled. */
typedef struct {
    const scalar_t *x;
    const scalar_t *bias; /* or null */
    acc_t factor;
    acc_t rate, least; /* see vector_exp2 */
    int64_t limit;     /* columns that take part */
    acc_t *kept;       /* where exponentials stay, in the order of pairs, for who needs them again; or null */
} score_row;

/* Columns of a row that is kept, at most: 32 KiB, which stay in the first-level cache; of float64 64, in the second. */
enum { SCORE_KEPT = 8192 };

static inline vector_pair_t score_pair(const score_row *s, int64_t i) {
    const vector_pair_t x = vector_load_pair(s->x + i);
    if (!s->bias)
        return (vector_pair_t){x.a * s->factor, x.b * s->factor};
    const vector_pair_t bias = vector_load_pair(s->bias + i);
    return (vector_pair_t){x.a * s->factor + bias.a, x.b * s->factor + bias.b};
}

/* Lanes that the row does not have are -infinity, of which nothing comes. */
static inline vector_t score_part(const score_row *s, int64_t i) {
    const int64_t count = vector_count(s->limit - i);
    vector_t v = vector_load_part(s->x + i, count) * s->factor;
    if (s->bias)
        v += vector_load_part(s->bias + i, count);
    return vector_padded(v, count, (acc_t)-INFINITY);
}

static inline acc_t score_largest(const score_row *s) {
    const int64_t step = 2 * VECTOR_LANES;
    vector_t a = vector_splat((acc_t)-INFINITY), b = a, c = a, d = a; /* none waits for another */
    int64_t i = 0;
    for (; i + 2 * step <= s->limit; i += 2 * step) {
        const vector_pair_t v = score_pair(s, i), w = score_pair(s, i + step);
        a = vector_larger(v.a, a);
        b = vector_larger(v.b, b);
        c = vector_larger(w.a, c);
        d = vector_larger(w.b, d);
    }
    for (; i + step <= s->limit; i += step) {
        const vector_pair_t v = score_pair(s, i);
        a = vector_larger(v.a, a);
        b = vector_larger(v.b, b);
    }
    for (; i < s->limit; i += VECTOR_LANES)
        c = vector_larger(score_part(s, i), c);
    const acc_t largest = vector_largest(vector_larger(vector_larger(a, b), vector_larger(c, d)));
    return largest == (acc_t)-INFINITY ? 0 : largest; /* nothing can be subtracted from -infinity */
}

static inline vector_t score_exp(const score_row *s, vector_t v, acc_t largest) {
    return vector_exp2(v - largest, s->rate, s->least);
}

/* The sum of the exponentials. What is `ahead` elements further is fetched. */
static inline acc_t score_sum(const score_row *s, acc_t largest, int64_t ahead) {
    vector_t a = {0}, b = {0};
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= s->limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = score_pair(s, i);
        vector_prefetch_pair(s->x + ahead + i);
        const vector_t first = score_exp(s, v.a, largest), second = score_exp(s, v.b, largest);
        a += first;
        b += second;
        if (s->kept) {
            vector_store_acc(s->kept + i, first);
            vector_store_acc(s->kept + i + VECTOR_LANES, second);
        }
    }
    for (; i < s->limit; i += VECTOR_LANES) {
        const vector_t v = score_exp(s, score_part(s, i), largest);
        a += v;
        if (s->kept)
            vector_store_acc_part(s->kept + i, v, vector_count(s->limit - i));
    }
    return vector_sum(a + b);
}

/* Exponentials of values less `largest`, or those that were kept. */
static inline vector_pair_t score_exp_pair(const score_row *s, int64_t i, acc_t largest) {
    if (s->kept)
        return (vector_pair_t){vector_load_acc(s->kept + i), vector_load_acc(s->kept + i + VECTOR_LANES)};
    const vector_pair_t v = score_pair(s, i);
    return (vector_pair_t){score_exp(s, v.a, largest), score_exp(s, v.b, largest)};
}
static inline vector_t score_exp_part(const score_row *s, int64_t i, acc_t largest) {
    if (s->kept)
        return vector_load_acc_part(s->kept + i, vector_count(s->limit - i));
    return score_exp(s, score_part(s, i), largest);
}

#endif
