/* softmax: y = exp(s - max(s)) / sum(exp(s - max(s))) over each row of s = scale * x + bias; columns behind the causal
 * limit are left out, rows in which nothing is left are zeros. Units are rows.
 *
 * A row is read for its largest value, and once more, from the caches, for its exponentials. These are kept
 * until their sum is known; those of a row that is too long for that are computed twice. */

#include "rows.h"
#include "score_rows.h"

static inline void softmax_store(const score_row *s, acc_t largest, acc_t inverse, scalar_t *y, const scalar_t *next,
                                 bool stream) {
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= s->limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = score_exp_pair(s, i, largest);
        vector_prefetch_pair(next + i);
        vector_store_pair(y + i, v.a * inverse, v.b * inverse, stream);
    }
    for (; i < s->limit; i += VECTOR_LANES)
        vector_store_part(y + i, score_exp_part(s, i, largest) * inverse, vector_count(s->limit - i));
}

static void softmax(const softmax_args *a, int64_t begin, int64_t end) {
    enum { GROUP = 8, SHORT = 512 }; /* several short rows at a time, so that what each waits for overlaps */
    const int64_t n = a->n;
    const int64_t group = n <= SHORT ? GROUP : 1;
    const bool stream = vector_streams_rows(a->y, a->rows, n);
    const acc_t sign = a->scale < 0 ? -1 : 1;
    const acc_t factor = a->bias ? a->scale : sign;
    acc_t rate = a->bias ? SCORE_LOG2_E : sign * a->scale * SCORE_LOG2_E;
    if (rate < (acc_t)4e-37)
        rate = (acc_t)4e-37; /* 0 times -infinity would be a NaN */
    acc_t kept[SCORE_KEPT];
    for (int64_t row = begin; row < end; row += group) {
        const int64_t count = end - row < group ? end - row : group;
        score_row s[GROUP];
        acc_t largest[GROUP], inverse[GROUP];
        for (int64_t r = 0; r < count; r++) {
            s[r] = (score_row){
                .x = a->x + (row + r) * n,
                .bias = a->bias ? a->bias + row_offset(row + r, a->bias_dim, a->bias_size, a->bias_stride) : NULL,
                .factor = factor,
                .rate = rate,
                .least = vector_exp2_least(rate),
                .limit = causal_limit(a->causal, row + r, a->m, n),
                .kept = n <= SCORE_KEPT ? kept + r * n : NULL,
            };
            largest[r] = score_largest(&s[r]);
        }
        for (int64_t r = 0; r < count; r++) {
            const acc_t sum = score_sum(&s[r], largest[r], 0);
            inverse[r] = sum == 0 ? 0 : 1 / sum;
        }
        for (int64_t r = 0; r < count; r++) {
            scalar_t *y = a->y + (row + r) * n;
            const scalar_t *next = row + r + group < end ? s[r].x + group * n : s[r].x;
            softmax_store(&s[r], largest[r], inverse[r], y, next, stream);
            memset(y + s[r].limit, 0, (size_t)(n - s[r].limit) * sizeof *y);
        }
    }
    if (stream)
        vector_stream_end();
}
