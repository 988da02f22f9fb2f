/* Functions of vector_t, lane by lane, and the largest of its lanes: for C bodies whose first dtype variable is a real
 * floating one. Accuracy as in lanes_math32.h and lanes_math64.h. */
#ifndef CSRC_CPU_VECTOR_MATH_H
#define CSRC_CPU_VECTOR_MATH_H

#include "vector.h"

/* lanes.h works on vectors of float or of double; here these are the vectors that the dtype is computed in. */
#define CPU_WIDE_float64 1
#if CPU_PASTE(CPU_WIDE_, CPU_DTYPE, )
#define ELEMENTWISE_BITS 64
typedef double cpu_real_t;
typedef int64_t cpu_bit_t;
#else
#define ELEMENTWISE_BITS 32
typedef float cpu_real_t;
typedef int32_t cpu_bit_t;
#endif
#define CPU_INLINE static inline __attribute__((always_inline))
#include "elements.h"
#include "lanes.h"
#if ELEMENTWISE_BITS == 64
#include "lanes_math64.h"
#else
#include "lanes_math32.h"
#endif

static inline vector_t vector_exp(vector_t v) { return cpu_lanes_exp(v); }
static inline vector_t vector_log(vector_t v) { return cpu_lanes_log(v); }
static inline vector_t vector_splat(acc_t value) { return value - (vector_t){0}; }

/* The larger of two, lane by lane; where v is a NaN, the other one. */
static inline vector_t vector_larger(vector_t v, vector_t other) { return cpu_larger(v, other); }

/* 2^v, as exact as cpu_lanes_exp2 in fewer steps: results below the normal numbers of float are 0, those from 2^127.5
 * on infinite. A NaN stays one. */
static inline vector_t vector_exp2(vector_t v) {
#if ELEMENTWISE_BITS == 64
    return cpu_lanes_exp2(v);
#else
    const vector_t magic = vector_splat(12582912.0f); /* see cpu_nearest: k is in the low bits of the sum */
    v = cpu_smaller(vector_splat(128.0f), cpu_larger(vector_splat(-127.0f), v));
    const vector_t shifted = v + magic;
    const vector_t power =
        (vector_t)(((cpu_mask)shifted - (cpu_mask)magic + 127) << 23); /* 0 of -127, infinite of 128 */
    return cpu_exp2_fraction(v - (shifted - magic)) * power;
#endif
}

/* `rest` in the lanes from number `count` on. */
static inline vector_t vector_padded(vector_t v, int64_t count, acc_t rest) {
    for (int64_t k = count; k < VECTOR_LANES; k++)
        v[k] = rest;
    return v;
}

/* As vector_sum, of which the reason for its form holds too. */
static inline acc_t vector_largest(vector_t v) {
    acc_t lane[sizeof(vector_t) / sizeof(acc_t)];
    memcpy(lane, &v, sizeof lane);
    for (int i = 0; VECTOR_LANES >= 16 && i < 8; i++)
        lane[i] = lane[i] > lane[8 + i] ? lane[i] : lane[8 + i];
    for (int i = 0; VECTOR_LANES >= 8 && i < 4; i++)
        lane[i] = lane[i] > lane[4 + i] ? lane[i] : lane[4 + i];
    for (int i = 0; VECTOR_LANES >= 4 && i < 2; i++)
        lane[i] = lane[i] > lane[2 + i] ? lane[i] : lane[2 + i];
    return lane[0] > lane[1] ? lane[0] : lane[1];
}

#endif
