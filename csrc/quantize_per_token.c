/* quantize_per_token: each row in one byte per element and a scale of its own. With m = max(|x|) and L the largest
 * number of Q, scale = m / L    q = x * (L / m), rounded both in float. Units are rows; a row is read twice, the second
 * time from the caches. */

#include <float.h>
#include <math.h>

#include "vector_math.h"

/* The dtypes that Q stands for, by the paste of their names. */
#define QUANTIZED_WHOLE_int8 1
#define QUANTIZED_WHOLE CPU_PASTE(QUANTIZED_WHOLE_, Q_DTYPE, )

#if QUANTIZED_WHOLE
#define QUANTIZED_LARGEST 127.0f
typedef int8_t quantized_vector_t __attribute__((vector_size(sizeof(vector_t) / sizeof(acc_t))));

/* A rounding that compilers do not join with the product before. */
static inline void quantize_vector(Q_t *q, vector_t v, int64_t count) {
    const quantized_vector_t bytes =
        __builtin_convertvector(__builtin_convertvector(cpu_lanes_round(v), cpu_mask), quantized_vector_t);
    memcpy(q, &bytes, (size_t)count);
}
#else
#define QUANTIZED_LARGEST 448.0f

static inline void quantize_vector(Q_t *q, vector_t v, int64_t count) {
    const vector_t limited = cpu_between(v, -QUANTIZED_LARGEST, QUANTIZED_LARGEST);
    for (int64_t k = 0; k < count; k++)
        store_Q(q + k, limited[k]);
}
#endif

/* The largest of |x|; a NaN if there is one. */
static inline acc_t quantize_largest(const scalar_t *x, int64_t n) {
    vector_t a = {0}, b = {0};
    cpu_mask nan = {0};
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(x + i);
        a = vector_larger(cpu_lanes_abs(v.a), a);
        b = vector_larger(cpu_lanes_abs(v.b), b);
        nan |= (v.a != v.a) | (v.b != v.b);
    }
    for (; i < n; i += VECTOR_LANES) {
        const vector_t v = vector_load_part(x + i, vector_count(n - i));
        a = vector_larger(cpu_lanes_abs(v), a);
        nan |= v != v;
    }
    return cpu_any(nan) ? NAN : vector_largest(vector_larger(b, a));
}

static void quantize_per_token(const quantize_per_token_args *a, int64_t begin, int64_t end) {
    const int64_t n = a->n;
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *x = a->x + row * n;
        const scalar_t *next = row + 1 < end ? x + n : x;
        Q_t *q = a->q + row * n;
        const acc_t largest = quantize_largest(x, n);
        acc_t factor = QUANTIZED_LARGEST / largest;
        factor = factor > FLT_MAX ? FLT_MAX : factor; /* a zero stays one */
        a->scale[row] = largest / QUANTIZED_LARGEST;
        int64_t i = 0;
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES) {
            __builtin_prefetch(next + i, 0, 2);
            quantize_vector(q + i, vector_load(x + i) * factor, VECTOR_LANES);
        }
        for (; i < n; i += VECTOR_LANES) {
            const int64_t count = vector_count(n - i);
            quantize_vector(q + i, vector_load_part(x + i, count) * factor, count);
        }
    }
}
