/* Functions of lanes of double: those of the C library, whose errors they have, but for exp and sigmoid, whose largest
 * errors are 1.1 and 2 units in the last place of the result. Included by expressions.h. */
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

/* (e^r - 1 - r) / r^2 on |r| <= ln 2 / 2, in independent parts as those of lanes_math32.h */
CPU_INLINE cpu_lanes cpu_exp_tail(cpu_lanes r) {
    const cpu_lanes r2 = r * r, r4 = r2 * r2;
    return (2.510038549551032e-8 * r + 2.7620088445409746e-7) * (r4 * r4) +
           ((2.7557268459997064e-6 * r + 2.4801521295954376e-5) * r2 +
            (1.9841269863053618e-4 * r + 1.3888888917213717e-3)) *
               r4 +
           ((8.333333333330062e-3 * r + 4.166666666662413e-2) * r2 + (1.6666666666666669e-1 * r + 0.5));
}
/* 2^k for a whole number -1022 <= k <= 1023. */
CPU_INLINE cpu_lanes cpu_power_of_two(cpu_mask k) { return (cpu_lanes)((k + 1023) << 52); }
CPU_INLINE cpu_lanes cpu_lanes_exp(cpu_lanes x) {
    const cpu_lanes whole = cpu_splat(0x1.8p52); /* here floats are whole numbers apart: adding rounds */
    x = cpu_smaller(cpu_splat(710), cpu_larger(cpu_splat(-746), x));
    const cpu_lanes shifted = x * 0x1.71547652b82fep+0 + whole; /* x / ln 2 */
    const cpu_lanes k = shifted - whole;
    const cpu_lanes r = (x - k * 0x1.62e42fefap-1) - k * 0x1.cf79abc9e3b3ap-40; /* ln 2 in two parts */
    const cpu_mask power = (cpu_mask)shifted - (cpu_mask)whole, half = power >> 1;
    return (r * r * cpu_exp_tail(r) + r + 1) * cpu_power_of_two(half) * cpu_power_of_two(power - half);
}
CPU_INLINE cpu_lanes cpu_lanes_sigmoid(cpu_lanes x) { return 1 / (1 + cpu_lanes_exp(-x)); }

#endif
