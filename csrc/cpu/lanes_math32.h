/* Functions of lanes of float. Each is a range reduction and a polynomial; the coefficients are minimax fits of the
 * function named beside them, rounded to float. Largest errors, measured against double over every 61st float, with and
 * without fused multiply-adds, in units in the last place of the result:
 *
 *     exp 1.02   exp2 1.3   expm1 1.7   log .89   log2 1.4   log1p 1.5   tanh 2.6   erf 2.3   rsqrt 1.5
 *     sigmoid 2.4, and 0 below -88.4, where the result would be below 4.2e-39
 *     sin and cos 7.8e-8 absolute
 *
 * Infinities and NaNs go through as in the C library. Included by lanes.h. */
#ifndef CSRC_CPU_LANES_MATH32_H
#define CSRC_CPU_LANES_MATH32_H

#include <math.h>

CPU_LANES_EACH(sqrt, sqrtf)
CPU_LANES_EACH(floor, floorf)
CPU_LANES_EACH(ceil, ceilf)
CPU_LANES_EACH(trunc, truncf)
CPU_LANES_EACH(round, rintf)
CPU_LANES_EACH(exact_sin, sinf)
CPU_LANES_EACH(exact_cos, cosf)
CPU_LANES_EACH2(pow, powf)

CPU_INLINE cpu_lanes cpu_lanes_rsqrt(cpu_lanes x) { return 1 / cpu_lanes_sqrt(x); }

/* Where floats are whole numbers apart, adding rounds: for |x| < 2^22, x + CPU_WHOLE has the nearest whole number in
 * its low bits. */
#define CPU_WHOLE 12582912.0f

/* A NaN stays one. */
CPU_INLINE cpu_lanes cpu_between(cpu_lanes x, float low, float high) {
    return cpu_smaller(cpu_splat(high), cpu_larger(cpu_splat(low), x));
}

/* 2^k for a whole number -126 <= k <= 127; 128 gives infinity. */
CPU_INLINE cpu_lanes cpu_power_of_two(cpu_mask k) { return (cpu_lanes)((k + 127) << 23); }

/* x * 2^k, with k + CPU_WHOLE as `shifted`; in two steps where there is no instruction for it, so that neither factor
 * leaves the range of float. */
CPU_INLINE cpu_lanes cpu_scale(cpu_lanes x, cpu_lanes shifted) {
#if defined(__x86_64__) && VECTOR_BYTES == 64
    return __builtin_ia32_scalefps512_mask(x, shifted - CPU_WHOLE, x, CPU_EVERY_LANE, 4);
#else
    const cpu_mask k = (cpu_mask)shifted - (cpu_mask)cpu_splat(CPU_WHOLE), half = k >> 1;
    return x * cpu_power_of_two(half) * cpu_power_of_two(k - half);
#endif
}

/* ln 2 in two parts; products of the first with whole numbers below 2^15 are exact. */
#define CPU_LN2_HIGH 0x1.63p-1f
#define CPU_LN2_LOW -0x1.bd0106p-13f
#define CPU_LOG2_E 0x1.715476p+0f

/* x = k ln 2 + r with |r| <= ln 2 / 2; gives k + CPU_WHOLE. */
CPU_INLINE cpu_lanes cpu_reduce_exp(cpu_lanes x, cpu_lanes *r) {
    const cpu_lanes shifted = cpu_fma(x, cpu_splat(CPU_LOG2_E), cpu_splat(CPU_WHOLE)), k = shifted - CPU_WHOLE;
    *r = cpu_fma(k, cpu_splat(-CPU_LN2_LOW), cpu_fma(k, cpu_splat(-CPU_LN2_HIGH), x));
    return shifted;
}
/* e^r - 1 */
CPU_INLINE cpu_lanes cpu_exp_fraction(cpu_lanes r) {
    const cpu_lanes tail = CPU_POLYNOMIAL(r, 0.5f, 1.66665182e-1f, 4.16662060e-2f, 8.36891774e-3f, 1.39505381e-3f);
    return cpu_fma(r * r, tail, r);
}
/* Where neither the result nor its inverse leaves the range of float: -87 <= x <= 87; infinite from 88.4 to 89. */
CPU_INLINE cpu_lanes cpu_moderate_exp(cpu_lanes x) {
    cpu_lanes r;
    const cpu_mask k = (cpu_mask)cpu_reduce_exp(x, &r); /* and bits that cpu_power_of_two shifts out */
    return (cpu_exp_fraction(r) + 1.0f) * cpu_power_of_two(k);
}
CPU_INLINE cpu_lanes cpu_lanes_exp(cpu_lanes x) {
    cpu_lanes r;
    const cpu_lanes shifted = cpu_reduce_exp(cpu_between(x, -104.0f, 89.0f), &r);
    return cpu_scale(cpu_exp_fraction(r) + 1.0f, shifted);
}
CPU_INLINE cpu_lanes cpu_lanes_expm1(cpu_lanes x) {
    cpu_lanes r;
    const cpu_mask k = (cpu_mask)cpu_reduce_exp(cpu_between(x, -20.0f, 89.0f), &r);
    const cpu_lanes half = cpu_power_of_two(k - 1); /* 2^128 is no float */
    const cpu_lanes y = 2.0f * cpu_fma(half, cpu_exp_fraction(r), half - 0.5f);
    return cpu_select(x == 0, x, y); /* keeps the sign of zero */
}
/* 2^r on [-1/2, 1/2] */
CPU_INLINE cpu_lanes cpu_exp2_fraction(cpu_lanes r) {
    return CPU_POLYNOMIAL(r, 1.0f, 6.93147182e-1f, 2.40226507e-1f, 5.55032753e-2f, 9.61800478e-3f, 1.34004164e-3f,
                          1.54760448e-4f);
}
CPU_INLINE cpu_lanes cpu_lanes_exp2(cpu_lanes x) {
    x = cpu_between(x, -151.0f, 129.0f);
    const cpu_lanes shifted = x + CPU_WHOLE, k = shifted - CPU_WHOLE;
    return cpu_scale(cpu_exp2_fraction(x - k), shifted);
}

/* x = 2^k (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for finite x > 0. */
CPU_INLINE cpu_lanes cpu_reduce_log(cpu_lanes x, cpu_lanes *f) {
    const cpu_mask denormal = x < 0x1p-126f;
    const cpu_mask bits = (cpu_mask)cpu_select(denormal, x * 0x1p23f, x);
    const cpu_mask k = (bits - 0x3f3504f3) >> 23; /* the bits of sqrt(1/2) */
    *f = (cpu_lanes)(bits - (k << 23)) - 1.0f;
    return __builtin_convertvector(k - (denormal & 23), cpu_lanes);
}
/* log(1 + f) - f on [sqrt(1/2) - 1, sqrt(2) - 1] */
CPU_INLINE cpu_lanes cpu_log_tail(cpu_lanes f) {
    const cpu_lanes q = CPU_POLYNOMIAL(f, -0.5f, 3.33333164e-1f, -2.50008106e-1f, 2.00022861e-1f, -1.66245535e-1f,
                                       1.41811967e-1f, -1.31287679e-1f, 1.28816217e-1f, -7.85954595e-2f);
    return f * f * q;
}
CPU_INLINE cpu_lanes cpu_log_limits(cpu_lanes x, cpu_lanes y) {
    const cpu_lanes infinity = cpu_splat(__builtin_inff());
    y = cpu_select(x == infinity, x, y);
    return cpu_select(x > 0, y, cpu_select(x == 0, -infinity, cpu_splat(__builtin_nanf(""))));
}
CPU_INLINE cpu_lanes cpu_lanes_log(cpu_lanes x) {
    cpu_lanes f;
    const cpu_lanes k = cpu_reduce_log(x, &f);
    const cpu_lanes y = cpu_fma(k, cpu_splat(CPU_LN2_LOW), cpu_log_tail(f)) + f;
    return cpu_log_limits(x, cpu_fma(k, cpu_splat(CPU_LN2_HIGH), y));
}
CPU_INLINE cpu_lanes cpu_lanes_log2(cpu_lanes x) {
    cpu_lanes f;
    const cpu_lanes k = cpu_reduce_log(x, &f), tail = cpu_log_tail(f);
    /* log2(e) is 1 and a rest, so that the large part of the product is exact. */
    return cpu_log_limits(x, cpu_fma(tail + f, cpu_splat(4.42695041e-1f), tail) + f + k);
}
/* log of 1 + x as rounded, and what the rounding lost. */
CPU_INLINE cpu_lanes cpu_lanes_log1p(cpu_lanes x) {
    const cpu_lanes u = 1.0f + x;
    const cpu_lanes lost = (x - (u - 1.0f)) / u;
    const cpu_mask exact = (u == 0) | (u == __builtin_inff());
    return cpu_select(u == 1.0f, x, cpu_lanes_log(u) + cpu_select(exact, cpu_splat(0), lost));
}

CPU_INLINE cpu_lanes cpu_lanes_sigmoid(cpu_lanes x) {
    return 1.0f / (1.0f + cpu_moderate_exp(cpu_between(-x, -87.0f, 89.0f)));
}
/* m / (m + 2) with m = e^(2 |x|) - 1; from 10 on it is 1. */
CPU_INLINE cpu_lanes cpu_lanes_tanh(cpu_lanes x) {
    const cpu_lanes a = cpu_smaller(cpu_splat(10.0f), cpu_lanes_abs(x));
    cpu_lanes r;
    const cpu_lanes power = cpu_power_of_two((cpu_mask)cpu_reduce_exp(a + a, &r));
    const cpu_lanes m = cpu_fma(power, cpu_exp_fraction(r), power - 1.0f);
    return cpu_with_sign_of(m / (m + 2.0f), x);
}
/* erf(x) / x - 1 in x^2, below 1; (1 - erf(x))^(1/8) from there to 4 */
CPU_INLINE cpu_lanes cpu_lanes_erf(cpu_lanes x) {
    const cpu_lanes a = cpu_smaller(cpu_splat(4.0f), cpu_lanes_abs(x));
    const cpu_lanes p = CPU_POLYNOMIAL(a * a, 1.28379121e-1f, -3.7612325e-1f, 1.12801798e-1f, -2.67113112e-2f,
                                       4.91755083e-3f, -5.63142064e-4f);
    const cpu_lanes root = CPU_POLYNOMIAL(a, 1.0008347f, -1.45060554e-1f, -6.1426416e-2f, -1.13734948e-2f,
                                          1.29258307e-2f, -2.46972265e-3f, 1.4984842e-4f);
    const cpu_lanes square = root * root, fourth = square * square;
    const cpu_lanes large = cpu_fma(-fourth, fourth, cpu_splat(1.0f));
    return cpu_with_sign_of(cpu_select(a < 1.0f, cpu_fma(a, p, a), large), x);
}

/* x = j pi/2 + r with |r| <= pi/4, for |x| <= 8192; pi/2 in three parts, products of the first two with j are exact. */
CPU_INLINE cpu_mask cpu_reduce_angle(cpu_lanes x, cpu_lanes *r) {
    const cpu_lanes shifted = cpu_fma(x, cpu_splat(0x1.45f306p-1f), cpu_splat(CPU_WHOLE)), j = shifted - CPU_WHOLE;
    *r = cpu_fma(j, cpu_splat(-0x1.92p+0f), x);
    *r = cpu_fma(j, cpu_splat(-0x1.5110b4p-22f), cpu_fma(j, cpu_splat(-0x1.fbp-12f), *r));
    return (cpu_mask)shifted; /* the low bits are those of j */
}
/* sin(r + j pi/2) */
CPU_INLINE cpu_lanes cpu_shifted_sine(cpu_lanes r, cpu_mask j) {
    const cpu_lanes z = r * r;
    const cpu_lanes sine = CPU_POLYNOMIAL(z, -1.66666672e-1f, 8.33332911e-3f, -1.98393274e-4f, 2.71823729e-6f) * z;
    const cpu_lanes tail = CPU_POLYNOMIAL(z, 4.16666679e-2f, -1.38888834e-3f, 2.47995122e-5f, -2.72095434e-7f) * z * z;
    const cpu_lanes cosine = cpu_fma(z, cpu_splat(-0.5f), tail) + 1.0f;
    const cpu_lanes y = cpu_select((j & 1) != 0, cosine, cpu_fma(sine, r, r));
    return (cpu_lanes)((cpu_mask)y ^ ((j & 2) << 30));
}
static inline cpu_lanes cpu_lanes_sin(cpu_lanes x) {
    if (cpu_any(~(cpu_mask)(cpu_lanes_abs(x) <= 8192.0f)))
        return cpu_lanes_exact_sin(x);
    cpu_lanes r;
    const cpu_mask j = cpu_reduce_angle(x, &r);
    return cpu_shifted_sine(r, j);
}
static inline cpu_lanes cpu_lanes_cos(cpu_lanes x) {
    if (cpu_any(~(cpu_mask)(cpu_lanes_abs(x) <= 8192.0f)))
        return cpu_lanes_exact_cos(x);
    cpu_lanes r;
    const cpu_mask j = cpu_reduce_angle(x, &r);
    return cpu_shifted_sine(r, j + 1);
}

#endif
