/* Functions of vector_t, lane by lane, and the largest of its lanes: for C bodies whose first dtype variable is a real
 * floating one. Accuracy as in lanes_math32.h and lanes_math64.h. */
#ifndef CSRC_CPU_VECTOR_MATH_H
#define CSRC_CPU_VECTOR_MATH_H

#include "vector.h"

/* lanes.h works on vectors of float or of double; here these are the vectors that the dtype is computed in. */
#if CPU_PASTE(CPU_WIDE_, CPU_DTYPE, )
#define ELEMENTWISE_BITS 64
#else
#define ELEMENTWISE_BITS 32
#endif
#include "elements.h"
#include "lanes.h"

static inline vector_t vector_exp(vector_t v) { return cpu_lanes_exp(v); }
static inline vector_t vector_log(vector_t v) { return cpu_lanes_log(v); }
static inline vector_t vector_sqrt(vector_t v) { return cpu_lanes_sqrt(v); }
static inline vector_t vector_splat(acc_t value) { return value - (vector_t){0}; }

/* The larger of two, lane by lane; where v is a NaN, the other one. */
static inline vector_t vector_larger(vector_t v, vector_t other) { return cpu_larger(v, other); }

/* 2^(rate * v), in few steps, for rate > 0 and rate * v < 127.5: 0 from `least` on, which is vector_exp2_least(rate),
 * and 1 of 0. A NaN stays one. Of float, the largest error is 2.3 units in the last place of the result, besides that
 * of a product rate * v that is rounded, where there is no instruction for a product and a sum. */
static inline acc_t vector_exp2_least(acc_t rate) { return -127 / rate; }
static inline vector_t vector_exp2(vector_t v, acc_t rate, acc_t least) {
#if ELEMENTWISE_BITS == 64
    (void)least;
    return cpu_lanes_exp2(v * rate);
#else
    /* See CPU_WHOLE: the whole number k nearest to rate * v is in the low bits of the sum, with the 127 that makes it
     * the exponent of 2^k; that of -127 is 0. */
    const vector_t magic = vector_splat(CPU_WHOLE + 127.0f), scale = vector_splat(rate);
    v = cpu_larger(vector_splat(least), v);
    const vector_t shifted = cpu_fma(v, scale, magic);
    const vector_t power = (vector_t)((cpu_mask)shifted << 23);
    const vector_t r = cpu_fma(v, scale, magic - shifted);
    return CPU_POLYNOMIAL(r, 1.0f, 6.93147004e-1f, 2.40222424e-1f, 5.55073358e-2f, 9.67151299e-3f, 1.32647273e-3f) *
           power;
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
