/* Element-wise arithmetic on one element of any type: bool, int64_t, float, double. Integers wrap as PyTorch's do, and
 * a division by zero is 0 rather than the end of the process. Included by expressions.h. */
#ifndef CSRC_CPU_ELEMENTS_H
#define CSRC_CPU_ELEMENTS_H

#include <math.h>

CPU_INLINE int64_t cpu_add_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
CPU_INLINE int64_t cpu_sub_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
CPU_INLINE int64_t cpu_mul_i64(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
CPU_INLINE int64_t cpu_neg_i64(int64_t a) { return cpu_sub_i64(0, a); }
CPU_INLINE int64_t cpu_abs_i64(int64_t a) { return a < 0 ? cpu_neg_i64(a) : a; }
CPU_INLINE int64_t cpu_sign_i64(int64_t a) { return (a > 0) - (a < 0); }
CPU_INLINE int64_t cpu_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
CPU_INLINE int64_t cpu_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
/* Towards minus infinity. */
CPU_INLINE int64_t cpu_floordiv_i64(int64_t a, int64_t b) {
    if (b == 0 || b == -1)
        return b == 0 ? 0 : cpu_neg_i64(a); /* INT64_MIN / -1 traps too */
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
/* The sign of b. */
CPU_INLINE int64_t cpu_mod_i64(int64_t a, int64_t b) { return cpu_sub_i64(a, cpu_mul_i64(cpu_floordiv_i64(a, b), b)); }

/* A whole number as an integer: outside the range the nearest limit, 0 for a NaN. */
CPU_INLINE int64_t cpu_whole32_f64(double value) {
    const int64_t most = value < 0 ? INT32_MIN : value > 0 ? INT32_MAX : 0;
    return value >= -2147483648.0 && value < 2147483648.0 ? (int64_t)value : most;
}
CPU_INLINE int64_t cpu_whole64_f64(double value) {
    const int64_t most = value < 0 ? INT64_MIN : value > 0 ? INT64_MAX : 0;
    return value >= -9223372036854775808.0 && value < 9223372036854775808.0 ? (int64_t)value : most;
}
CPU_INLINE int64_t cpu_whole32_f32(float value) { return cpu_whole32_f64((double)value); }
CPU_INLINE int64_t cpu_whole64_f32(float value) { return cpu_whole64_f64((double)value); }

#define CPU_ELEMENT_FUNCTIONS(real, kind, f)                                                                           \
    CPU_INLINE real cpu_exp_##kind(real x) { return exp##f(x); }                                                       \
    CPU_INLINE real cpu_exp2_##kind(real x) { return exp2##f(x); }                                                     \
    CPU_INLINE real cpu_expm1_##kind(real x) { return expm1##f(x); }                                                   \
    CPU_INLINE real cpu_log_##kind(real x) { return log##f(x); }                                                       \
    CPU_INLINE real cpu_log2_##kind(real x) { return log2##f(x); }                                                     \
    CPU_INLINE real cpu_log1p_##kind(real x) { return log1p##f(x); }                                                   \
    CPU_INLINE real cpu_sqrt_##kind(real x) { return sqrt##f(x); }                                                     \
    CPU_INLINE real cpu_rsqrt_##kind(real x) { return 1 / sqrt##f(x); }                                                \
    CPU_INLINE real cpu_sigmoid_##kind(real x) { return 1 / (1 + exp##f(-x)); }                                        \
    CPU_INLINE real cpu_tanh_##kind(real x) { return tanh##f(x); }                                                     \
    CPU_INLINE real cpu_erf_##kind(real x) { return erf##f(x); }                                                       \
    CPU_INLINE real cpu_sin_##kind(real x) { return sin##f(x); }                                                       \
    CPU_INLINE real cpu_cos_##kind(real x) { return cos##f(x); }                                                       \
    CPU_INLINE real cpu_pow_##kind(real x, real y) { return pow##f(x, y); }                                            \
    CPU_INLINE real cpu_floor_##kind(real x) { return floor##f(x); }                                                   \
    CPU_INLINE real cpu_ceil_##kind(real x) { return ceil##f(x); }                                                     \
    CPU_INLINE real cpu_trunc_##kind(real x) { return trunc##f(x); }                                                   \
    CPU_INLINE real cpu_round_##kind(real x) { return rint##f(x); }                                                    \
    CPU_INLINE real cpu_abs_##kind(real x) { return fabs##f(x); }                                                      \
    CPU_INLINE real cpu_sign_##kind(real x) { return (real)((x > 0) - (x < 0)); }                                      \
    CPU_INLINE real cpu_min_##kind(real a, real b) { return a < b || a != a ? a : b; }                                 \
    CPU_INLINE real cpu_max_##kind(real a, real b) { return a > b || a != a ? a : b; }                                 \
    CPU_INLINE bool cpu_isnan_##kind(real x) { return x != x; }                                                        \
    CPU_INLINE bool cpu_isinf_##kind(real x) { return fabs##f(x) == (real)__builtin_inf(); }                           \
    CPU_INLINE bool cpu_isfinite_##kind(real x) { return fabs##f(x) < (real)__builtin_inf(); }

CPU_ELEMENT_FUNCTIONS(float, f32, f)
CPU_ELEMENT_FUNCTIONS(double, f64, )

#endif
