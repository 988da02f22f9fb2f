/* Functions of lanes of double: those of the C library, whose errors they have, but for exp and sigmoid, whose largest
 * errors are 1.2 and 2.2 units in the last place of the result. Included by lanes.h. */
#ifndef CSRC_CPU_LANES_MATH64_H
#define CSRC_CPU_LANES_MATH64_H

#include <math.h>

CPU_LANES_EACH(sqrt, sqrt)
CPU_LANES_EACH(floor, floor)
CPU_LANES_EACH(ceil, ceil)
CPU_LANES_EACH(trunc, trunc)
CPU_LANES_EACH(round, rint)
CPU_LANES_EACH(exp2, exp2)
CPU_LANES_EACH(expm1, expm1)
CPU_LANES_EACH(log, log)
CPU_LANES_EACH(log2, log2)
CPU_LANES_EACH(log1p, log1p)
CPU_LANES_EACH(tanh, tanh)
CPU_LANES_EACH(erf, erf)
CPU_LANES_EACH(sin, sin)
CPU_LANES_EACH(cos, cos)
CPU_LANES_EACH2(pow, pow)
CPU_INLINE cpu_lanes cpu_lanes_rsqrt(cpu_lanes x) { return 1 / cpu_lanes_sqrt(x); }

#define CPU_WHOLE 0x1.8p52 /* as in lanes_math32.h */

/* 2^k for a whole number -1022 <= k <= 1023. */
CPU_INLINE cpu_lanes cpu_power_of_two(cpu_mask k) { return (cpu_lanes)((k + 1023) << 52); }

/* x * 2^k, with k + CPU_WHOLE as `shifted`; in two steps where there is no instruction for it. */
CPU_INLINE cpu_lanes cpu_scale(cpu_lanes x, cpu_lanes shifted) {
#if defined(__x86_64__) && VECTOR_BYTES == 64
    return __builtin_ia32_scalefpd512_mask(x, shifted - CPU_WHOLE, x, CPU_EVERY_LANE, 4);
#else
    const cpu_mask k = (cpu_mask)shifted - (cpu_mask)cpu_splat(CPU_WHOLE), half = k >> 1;
    return x * cpu_power_of_two(half) * cpu_power_of_two(k - half);
#endif
}

/* (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2 */
CPU_INLINE cpu_lanes cpu_exp_tail(cpu_lanes r) {
    return CPU_POLYNOMIAL(r, 0.5, 1.6666666666666669e-1, 4.166666666662413e-2, 8.333333333330062e-3,
                          1.3888888917213717e-3, 1.9841269863053618e-4, 2.4801521295954376e-5, 2.7557268459997064e-6,
                          2.7620088445409746e-7, 2.510038549551032e-8);
}
CPU_INLINE cpu_lanes cpu_lanes_exp(cpu_lanes x) {
    x = cpu_smaller(cpu_splat(710), cpu_larger(cpu_splat(-746), x));
    const cpu_lanes shifted = cpu_fma(x, cpu_splat(0x1.71547652b82fep+0), cpu_splat(CPU_WHOLE)); /* x / ln 2 */
    const cpu_lanes k = shifted - CPU_WHOLE;
    /* ln 2 in two parts */
    const cpu_lanes r = cpu_fma(k, cpu_splat(-0x1.cf79abc9e3b3ap-40), cpu_fma(k, cpu_splat(-0x1.62e42fefap-1), x));
    return cpu_scale(cpu_fma(r * r, cpu_exp_tail(r), r) + 1, shifted);
}
CPU_INLINE cpu_lanes cpu_lanes_sigmoid(cpu_lanes x) { return 1 / (1 + cpu_lanes_exp(-x)); }

#endif
