/* Rows in one byte per element and a scale of their own: with m = max(|x|) and L the largest number of Q,
 *     scale = m / L    q = x * (L / m), rounded
 * both in float. For bodies with a dtype variable Q, int8 or float8_e4m3fn. */
#ifndef CSRC_CPU_QUANTIZE_H
#define CSRC_CPU_QUANTIZE_H

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

/* The largest of |v| over some vectors, and where there was a NaN, which the comparison passes over. */
typedef struct {
    vector_t largest;
    cpu_mask nan;
} quantize_extent;

static inline void quantize_extend(quantize_extent *e, vector_t v) {
    e->largest = vector_larger(cpu_lanes_abs(v), e->largest);
    e->nan |= v != v;
}

/* Of two, which hide the latency of each other; a NaN if there was one. */
static inline acc_t quantize_largest(const quantize_extent *a, const quantize_extent *b) {
    return cpu_any(a->nan | b->nan) ? NAN : vector_largest(vector_larger(b->largest, a->largest));
}

/* What elements are multiplied by. L / m may be no float where m is small: such a row is raised by a power of 2 first.
 * Finite, so that a zero stays one. A NaN stays a NaN. */
typedef struct {
    acc_t raise;
    acc_t factor;
} quantize_factors;

static inline quantize_factors quantize_factors_of(acc_t largest) {
    const acc_t raise = largest < 0x1p-64f ? 0x1p64f : 1.0f;
    const acc_t factor = QUANTIZED_LARGEST / (largest * raise);
    return (quantize_factors){raise, factor > FLT_MAX ? FLT_MAX : factor};
}

static inline vector_t quantize_scaled(vector_t v, quantize_factors f) { return v * f.raise * f.factor; }

#endif
