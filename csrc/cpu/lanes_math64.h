/* Functions of lanes of double: those of the C library, whose errors they have. Included by expressions.h. */
#ifndef CSRC_CPU_LANES_MATH64_H
#define CSRC_CPU_LANES_MATH64_H

#include <math.h>

CPU_LANES_EACH(sqrt, sqrt)
CPU_LANES_EACH(floor, floor)
CPU_LANES_EACH(ceil, ceil)
CPU_LANES_EACH(trunc, trunc)
CPU_LANES_EACH(round, rint)
CPU_LANES_EACH(exp, exp)
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
CPU_INLINE cpu_lanes cpu_lanes_sigmoid(cpu_lanes x) { return 1 / (1 + cpu_lanes_exp(-x)); }

#endif
