/* softmax: y = exp(s - max(s)) / sum(exp(s - max(s))) over each row of s = scale * x + bias; columns behind the causal
 * limit are left out, rows in which nothing is left are zeros. Units are rows.
 *
 * A row is read for its largest value, and once more, from the caches, for its exponentials. These wait in a buffer
 * until their sum is known; those of a row that is too long for it are computed twice. */

#include <math.h>

#include "rows.h"
#include "vector_math.h"

enum { SOFTMAX_BUFFER = 8192 };

/* The exponent of a value is rate * (value - largest), in powers of two. Without a bias values are those of x, the sign
 * of scale apart, so that it is differences that are scaled. */
typedef struct {
    const scalar_t *x;
    const scalar_t *bias; /* or null */
    acc_t factor;
    acc_t rate;
    int64_t limit; /* columns that take part */
} softmax_scores;

static inline vector_pair_t softmax_pair(const softmax_scores *s, int64_t i) {
    const vector_pair_t x = vector_load_pair(s->x + i);
    if (!s->bias)
        return (vector_pair_t){x.a * s->factor, x.b * s->factor};
    const vector_pair_t bias = vector_load_pair(s->bias + i);
    return (vector_pair_t){x.a * s->factor + bias.a, x.b * s->factor + bias.b};
}

/* Lanes that the row does not have are -infinity, of which nothing comes. */
static inline vector_t softmax_part(const softmax_scores *s, int64_t i) {
    const int64_t count = vector_count(s->limit - i);
    vector_t v = vector_load_part(s->x + i, count) * s->factor;
    if (s->bias)
        v += vector_load_part(s->bias + i, count);
    return vector_padded(v, count, (acc_t)-INFINITY);
}

static inline acc_t softmax_largest(const softmax_scores *s) {
    vector_t a = vector_splat((acc_t)-INFINITY), b = a;
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= s->limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = softmax_pair(s, i);
        a = vector_larger(v.a, a);
        b = vector_larger(v.b, b);
    }
    for (; i < s->limit; i += VECTOR_LANES)
        a = vector_larger(softmax_part(s, i), a);
    const acc_t largest = vector_largest(vector_larger(b, a));
    return largest == (acc_t)-INFINITY ? 0 : largest; /* nothing can be subtracted from -infinity */
}

static inline vector_t softmax_exp(const softmax_scores *s, vector_t v, acc_t largest) {
    return vector_exp2_down((v - largest) * s->rate);
}

/* The sum of the exponentials, which are left in `buffer`, in the order of pairs, unless it is null. */
static inline acc_t softmax_sum(const softmax_scores *s, acc_t largest, acc_t *buffer) {
    vector_t a = {0}, b = {0};
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= s->limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = softmax_pair(s, i);
        const vector_t first = softmax_exp(s, v.a, largest), second = softmax_exp(s, v.b, largest);
        a += first;
        b += second;
        if (buffer) {
            vector_store_acc(buffer + i, first);
            vector_store_acc(buffer + i + VECTOR_LANES, second);
        }
    }
    for (; i < s->limit; i += VECTOR_LANES) {
        const vector_t v = softmax_exp(s, softmax_part(s, i), largest);
        a += v;
        if (buffer)
            vector_store_acc_part(buffer + i, v, vector_count(s->limit - i));
    }
    return vector_sum(a + b);
}

static inline void softmax_store(const softmax_scores *s, acc_t largest, acc_t inverse, const acc_t *buffer,
                                 scalar_t *y, const scalar_t *next, bool stream) {
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= s->limit; i += 2 * VECTOR_LANES) {
        vector_pair_t v;
        vector_prefetch_pair(next + i);
        if (buffer) {
            v = (vector_pair_t){vector_load_acc(buffer + i), vector_load_acc(buffer + i + VECTOR_LANES)};
        } else {
            v = softmax_pair(s, i);
            v = (vector_pair_t){softmax_exp(s, v.a, largest), softmax_exp(s, v.b, largest)};
        }
        vector_store_pair(y + i, v.a * inverse, v.b * inverse, stream);
    }
    for (; i < s->limit; i += VECTOR_LANES) {
        const int64_t count = vector_count(s->limit - i);
        const vector_t v =
            buffer ? vector_load_acc_part(buffer + i, count) : softmax_exp(s, softmax_part(s, i), largest);
        vector_store_part(y + i, v * inverse, count);
    }
}

static void softmax(const softmax_args *a, int64_t begin, int64_t end) {
    enum { GROUP = 8, SHORT = 512 }; /* several short rows at a time, so that what each waits for overlaps */
    const int64_t n = a->n;
    const int64_t group = n <= SHORT ? GROUP : 1;
    const bool stream = vector_streams_rows(a->y, a->rows, n);
    const acc_t log2_e = (acc_t)1.44269504088896340736;
    const acc_t size = (a->scale < 0 ? -a->scale : a->scale) * log2_e;
    acc_t space[SOFTMAX_BUFFER];
    for (int64_t row = begin; row < end; row += group) {
        const int64_t count = end - row < group ? end - row : group;
        softmax_scores s[GROUP];
        acc_t largest[GROUP], inverse[GROUP];
        for (int64_t r = 0; r < count; r++) {
            s[r] = (softmax_scores){
                .x = a->x + (row + r) * n,
                .bias = a->bias ? a->bias + row_offset(row + r, a->bias_dim, a->bias_size, a->bias_stride) : NULL,
                .factor = a->bias        ? a->scale
                          : a->scale < 0 ? -1
                                         : 1,
                .rate = a->bias     ? log2_e
                        : size == 0 ? (acc_t)1e-37
                                    : size, /* of 0 times -infinity comes a NaN */
                .limit = causal_limit(a->causal, row + r, a->m, n),
            };
            largest[r] = softmax_largest(&s[r]);
        }
        for (int64_t r = 0; r < count; r++) {
            const acc_t sum = softmax_sum(&s[r], largest[r], n <= SOFTMAX_BUFFER ? space + r * n : NULL);
            inverse[r] = sum == 0 ? 0 : 1 / sum;
        }
        for (int64_t r = 0; r < count; r++) {
            scalar_t *y = a->y + (row + r) * n;
            const scalar_t *next = row + r + group < end ? s[r].x + group * n : s[r].x;
            softmax_store(&s[r], largest[r], inverse[r], n <= SOFTMAX_BUFFER ? space + r * n : NULL, y, next, stream);
            memset(y + s[r].limit, 0, (size_t)(n - s[r].limit) * sizeof *y);
        }
    }
    if (stream)
        vector_stream_end();
}
