/* Element-wise arithmetic on one complex number, of two floats or two doubles. complex.h is not included: its macros
 * are words that a spec may use as names. Products are the four of the parts, as in PyTorch, without a second look at
 * infinities; functions are those of C. Included by expressions.h. */
#ifndef CSRC_CPU_COMPLEX_ELEMENTS_H
#define CSRC_CPU_COMPLEX_ELEMENTS_H

#define CPU_COMPLEX_ELEMENTS(real, kind, parts, f)                                                                     \
    typedef real _Complex cpu_##kind##_t;                                                                              \
    CPU_INLINE real cpu_real_##kind(cpu_##kind##_t z) { return __builtin_creal##f(z); }                                \
    CPU_INLINE real cpu_imag_##kind(cpu_##kind##_t z) { return __builtin_cimag##f(z); }                                \
    CPU_INLINE cpu_##kind##_t cpu_complex_##kind(real re) { return __builtin_complex(re, (real)0); }                   \
    CPU_INLINE cpu_##kind##_t cpu_conj_##kind(cpu_##kind##_t z) { return __builtin_conj##f(z); }                       \
    CPU_INLINE cpu_##kind##_t cpu_times_i_##kind(cpu_##kind##_t z) {                                                   \
        return __builtin_complex(-cpu_imag_##kind(z), cpu_real_##kind(z));                                             \
    }                                                                                                                  \
    CPU_INLINE cpu_##kind##_t cpu_scaled_##kind(cpu_##kind##_t z, real by) {                                           \
        return __builtin_complex(cpu_real_##kind(z) * by, cpu_imag_##kind(z) * by);                                    \
    }                                                                                                                  \
    CPU_INLINE cpu_##kind##_t cpu_neg_##kind(cpu_##kind##_t z) { return -z; }                                          \
    CPU_INLINE cpu_##kind##_t cpu_add_##kind(cpu_##kind##_t a, cpu_##kind##_t b) { return a + b; }                     \
    CPU_INLINE cpu_##kind##_t cpu_sub_##kind(cpu_##kind##_t a, cpu_##kind##_t b) { return a - b; }                     \
    CPU_INLINE cpu_##kind##_t cpu_mul_##kind(cpu_##kind##_t a, cpu_##kind##_t b) {                                     \
        const real x = cpu_real_##kind(a), y = cpu_imag_##kind(a), u = cpu_real_##kind(b), v = cpu_imag_##kind(b);     \
        return __builtin_complex(x * u - y * v, x * v + y * u);                                                        \
    }                                                                                                                  \
    /* By the larger part of b, so that no square overflows (R. L. Smith, Algorithm 116). */                           \
    CPU_INLINE cpu_##kind##_t cpu_div_##kind(cpu_##kind##_t a, cpu_##kind##_t b) {                                     \
        const real x = cpu_real_##kind(a), y = cpu_imag_##kind(a), u = cpu_real_##kind(b), v = cpu_imag_##kind(b);     \
        if (u == 0 && v == 0)                                                                                          \
            return __builtin_complex(x / fabs##f(u), y / fabs##f(u));                                                  \
        if (fabs##f(u) >= fabs##f(v)) {                                                                                \
            const real ratio = v / u, below = u + v * ratio;                                                           \
            return __builtin_complex((x + y * ratio) / below, (y - x * ratio) / below);                                \
        }                                                                                                              \
        const real ratio = u / v, below = u * ratio + v;                                                               \
        return __builtin_complex((x * ratio + y) / below, (y * ratio - x) / below);                                    \
    }                                                                                                                  \
    CPU_INLINE bool cpu_equal_##kind(cpu_##kind##_t a, cpu_##kind##_t b) { return a == b; }                            \
    CPU_INLINE real cpu_abs_##kind(cpu_##kind##_t z) { return hypot##f(cpu_real_##kind(z), cpu_imag_##kind(z)); }      \
    CPU_INLINE cpu_##kind##_t cpu_sign_##kind(cpu_##kind##_t z) {                                                      \
        const real length = cpu_abs_##kind(z);                                                                         \
        return length == 0 ? cpu_complex_##kind(0)                                                                     \
                           : __builtin_complex(cpu_real_##kind(z) / length, cpu_imag_##kind(z) / length);              \
    }                                                                                                                  \
    CPU_INLINE cpu_##kind##_t cpu_exp_##kind(cpu_##kind##_t z) { return __builtin_cexp##f(z); }                        \
    CPU_INLINE cpu_##kind##_t cpu_log_##kind(cpu_##kind##_t z) { return __builtin_clog##f(z); }                        \
    CPU_INLINE cpu_##kind##_t cpu_exp2_##kind(cpu_##kind##_t z) {                                                      \
        return cpu_exp_##kind(cpu_scaled_##kind(z, (real)0.69314718055994530942));                                     \
    }                                                                                                                  \
    CPU_INLINE cpu_##kind##_t cpu_log2_##kind(cpu_##kind##_t z) {                                                      \
        return cpu_scaled_##kind(cpu_log_##kind(z), (real)1.4426950408889634074);                                      \
    }                                                                                                                  \
    CPU_INLINE cpu_##kind##_t cpu_sqrt_##kind(cpu_##kind##_t z) { return __builtin_csqrt##f(z); }                      \
    CPU_INLINE cpu_##kind##_t cpu_rsqrt_##kind(cpu_##kind##_t z) {                                                     \
        return cpu_div_##kind(cpu_complex_##kind(1), cpu_sqrt_##kind(z));                                              \
    }                                                                                                                  \
    CPU_INLINE cpu_##kind##_t cpu_sigmoid_##kind(cpu_##kind##_t z) {                                                   \
        return cpu_div_##kind(cpu_complex_##kind(1), cpu_complex_##kind(1) + cpu_exp_##kind(-z));                      \
    }                                                                                                                  \
    CPU_INLINE cpu_##kind##_t cpu_tanh_##kind(cpu_##kind##_t z) { return __builtin_ctanh##f(z); }                      \
    CPU_INLINE cpu_##kind##_t cpu_sin_##kind(cpu_##kind##_t z) { return __builtin_csin##f(z); }                        \
    CPU_INLINE cpu_##kind##_t cpu_cos_##kind(cpu_##kind##_t z) { return __builtin_ccos##f(z); }                        \
    CPU_INLINE bool cpu_isnan_##kind(cpu_##kind##_t z) { return z != z; }                                              \
    CPU_INLINE bool cpu_isinf_##kind(cpu_##kind##_t z) {                                                               \
        return cpu_isinf_##parts(cpu_real_##kind(z)) || cpu_isinf_##parts(cpu_imag_##kind(z));                         \
    }                                                                                                                  \
    CPU_INLINE bool cpu_isfinite_##kind(cpu_##kind##_t z) {                                                            \
        return cpu_isfinite_##parts(cpu_real_##kind(z)) && cpu_isfinite_##parts(cpu_imag_##kind(z));                   \
    }

CPU_COMPLEX_ELEMENTS(float, c64, f32, f)
CPU_COMPLEX_ELEMENTS(double, c128, f64, )

CPU_INLINE cpu_c128_t cpu_to_c128_c64(cpu_c64_t z) { return (cpu_c128_t)z; }
CPU_INLINE cpu_c64_t cpu_to_c64_c128(cpu_c128_t z) { return (cpu_c64_t)z; }

/* A power is the exponential of a product, whose error grows with it: floats are raised as doubles. */
CPU_INLINE cpu_c128_t cpu_pow_c128(cpu_c128_t a, cpu_c128_t b) { return __builtin_cpow(a, b); }
CPU_INLINE cpu_c64_t cpu_pow_c64(cpu_c64_t a, cpu_c64_t b) { return (cpu_c64_t)__builtin_cpow(a, b); }

#endif
