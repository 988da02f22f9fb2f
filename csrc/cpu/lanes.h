/* Lanes: vectors of cpu_real_t, the one floating type of an expression, and masks of the same shape.
 *
 * For each dtype, cpu_lanes_load_<dtype>(p, step, count) and cpu_lanes_store_<dtype>(p, step, value, count). Integers
 * are stored from whole numbers: what is outside 32 bits (64 for int64) becomes the nearest limit and a NaN becomes 0,
 * and what is left wraps to the dtype's own size. Included by expressions.h and vector_math.h, where ELEMENTWISE_BITS
 * is 32 or 64. */
#ifndef CSRC_CPU_LANES_H
#define CSRC_CPU_LANES_H

#if ELEMENTWISE_BITS == 32
typedef float cpu_real_t;
typedef int32_t cpu_bit_t;
#else
typedef double cpu_real_t;
typedef int64_t cpu_bit_t;
#endif

typedef cpu_real_t cpu_lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef cpu_bit_t cpu_mask __attribute__((vector_size(VECTOR_BYTES)));
#define CPU_LANES ((int64_t)(VECTOR_BYTES / sizeof(cpu_real_t)))

CPU_INLINE cpu_lanes cpu_splat(cpu_real_t value) { return value - (cpu_lanes){0}; }
CPU_INLINE cpu_mask cpu_splat_mask(bool value) { return (cpu_bit_t)-value - (cpu_mask){0}; }
CPU_INLINE cpu_lanes cpu_select(cpu_mask mask, cpu_lanes yes, cpu_lanes no) {
    return (cpu_lanes)((mask & (cpu_mask)yes) | (~mask & (cpu_mask)no));
}
/* `no` where the mask is not set, 0 elsewhere. */
CPU_INLINE cpu_lanes cpu_unless(cpu_mask mask, cpu_lanes no) { return (cpu_lanes)(~mask & (cpu_mask)no); }
CPU_INLINE cpu_mask cpu_select_mask(cpu_mask mask, cpu_mask yes, cpu_mask no) { return (mask & yes) | (~mask & no); }
CPU_INLINE cpu_lanes cpu_of_mask(cpu_mask mask) { return cpu_select(mask, cpu_splat(1), cpu_splat(0)); }

/* ---- loads ---- */

/* Element by element, for what has no faster way. */
#define CPU_LANES_LOAD(dtype)                                                                                          \
    CPU_INLINE cpu_lanes cpu_lanes_gather_##dtype(const cpu_##dtype##_t *p, int64_t step, int64_t count) {             \
        cpu_real_t lane[VECTOR_BYTES / sizeof(cpu_real_t)] = {0};                                                      \
        for (int64_t k = 0; k < count; k++)                                                                            \
            lane[k] = (cpu_real_t)cpu_load_##dtype(p + k * step);                                                      \
        cpu_lanes value;                                                                                               \
        memcpy(&value, lane, sizeof value);                                                                            \
        return value;                                                                                                  \
    }
#define CPU_LANES_STORE(dtype)                                                                                         \
    CPU_INLINE void cpu_lanes_scatter_##dtype(cpu_##dtype##_t *p, int64_t step, cpu_lanes value, int64_t count) {      \
        cpu_real_t lane[VECTOR_BYTES / sizeof(cpu_real_t)];                                                            \
        memcpy(lane, &value, sizeof value);                                                                            \
        for (int64_t k = 0; k < count; k++)                                                                            \
            cpu_store_##dtype(p + k * step, (cpu_##dtype##_acc_t)lane[k]);                                             \
    }
CPU_LANES_LOAD(float64)
CPU_LANES_LOAD(float32)
CPU_LANES_LOAD(float16)
CPU_LANES_LOAD(bfloat16)
CPU_LANES_LOAD(float8_e4m3fn)
CPU_LANES_LOAD(float8_e5m2)
CPU_LANES_LOAD(float8_e4m3fnuz)
CPU_LANES_LOAD(float8_e5m2fnuz)
CPU_LANES_LOAD(float8_e8m0fnu)
CPU_LANES_LOAD(uint8)
CPU_LANES_LOAD(int8)
CPU_LANES_LOAD(int16)
CPU_LANES_LOAD(int32)
CPU_LANES_LOAD(int64)
CPU_LANES_LOAD(_Bool)
CPU_LANES_STORE(float64)
CPU_LANES_STORE(float32)
CPU_LANES_STORE(float16)
CPU_LANES_STORE(bfloat16)
CPU_LANES_STORE(float8_e4m3fn)
CPU_LANES_STORE(float8_e5m2)
CPU_LANES_STORE(float8_e4m3fnuz)
CPU_LANES_STORE(float8_e5m2fnuz)
CPU_LANES_STORE(float8_e8m0fnu)

/* `count` elements that follow each other, as one image; parts are copied without touching what is behind them. */
CPU_INLINE void cpu_lanes_copy(void *to, const void *from, int64_t count, size_t size, size_t whole, bool load) {
    if (count == CPU_LANES) {
        memcpy(to, from, whole);
    } else if (CPU_LANES != VECTOR_LANES) { /* the helpers of vector.h count lanes of another type */
        memcpy(to, from, (size_t)count * size);
    } else if (load) {
        cpu_load_part(to, from, count, size, whole);
    } else {
        cpu_store_part(to, from, count, size, whole);
    }
}

/* Dtypes whose vectors, of vector_types.h, have these very lanes. */
#define CPU_LANES_DIRECT(dtype)                                                                                        \
    CPU_INLINE cpu_lanes cpu_lanes_load_##dtype(const cpu_##dtype##_t *p, int64_t step, int64_t count) {               \
        if (step == 1) {                                                                                               \
            cpu_##dtype##_packed_t packed = {0};                                                                       \
            cpu_lanes_copy(&packed, p, count, sizeof *p, sizeof packed, true);                                         \
            return cpu_unpack_##dtype(packed);                                                                         \
        }                                                                                                              \
        return step == 0 ? cpu_splat(cpu_load_##dtype(p)) : cpu_lanes_gather_##dtype(p, step, count);                  \
    }                                                                                                                  \
    CPU_INLINE void cpu_lanes_store_##dtype(cpu_##dtype##_t *p, int64_t step, cpu_lanes value, int64_t count) {        \
        if (step == 1) {                                                                                               \
            const cpu_##dtype##_packed_t packed = cpu_pack_##dtype(value);                                             \
            cpu_lanes_copy(p, &packed, count, sizeof *p, sizeof packed, false);                                        \
        } else {                                                                                                       \
            cpu_lanes_scatter_##dtype(p, step, value, count);                                                          \
        }                                                                                                              \
    }
#define CPU_LANES_GATHERED(dtype)                                                                                      \
    CPU_INLINE cpu_lanes cpu_lanes_load_##dtype(const cpu_##dtype##_t *p, int64_t step, int64_t count) {               \
        return step == 0 ? cpu_splat((cpu_real_t)cpu_load_##dtype(p)) : cpu_lanes_gather_##dtype(p, step, count);      \
    }
#define CPU_LANES_SCATTERED(dtype)                                                                                     \
    CPU_INLINE void cpu_lanes_store_##dtype(cpu_##dtype##_t *p, int64_t step, cpu_lanes value, int64_t count) {        \
        cpu_lanes_scatter_##dtype(p, step, value, count);                                                              \
    }

#define CPU_LANES_INDIRECT(dtype)                                                                                      \
    CPU_LANES_GATHERED(dtype)                                                                                          \
    CPU_LANES_SCATTERED(dtype)
CPU_LANES_INDIRECT(float8_e4m3fn)
CPU_LANES_INDIRECT(float8_e5m2)
CPU_LANES_INDIRECT(float8_e4m3fnuz)
CPU_LANES_INDIRECT(float8_e5m2fnuz)
CPU_LANES_INDIRECT(float8_e8m0fnu)

#if ELEMENTWISE_BITS == 32
CPU_LANES_DIRECT(float32)
CPU_LANES_DIRECT(float16)
CPU_LANES_DIRECT(bfloat16)
CPU_LANES_INDIRECT(float64)

/* Narrow integers pass through 32 bits. */
#define CPU_LANES_NARROW(dtype, scalar)                                                                                \
    typedef scalar cpu_lanes_##dtype##_t __attribute__((vector_size(VECTOR_BYTES / 4 * sizeof(scalar))));              \
    CPU_INLINE cpu_lanes cpu_lanes_load_##dtype(const scalar *p, int64_t step, int64_t count) {                        \
        if (step == 1 && count == CPU_LANES) {                                                                         \
            cpu_lanes_##dtype##_t packed;                                                                              \
            memcpy(&packed, p, sizeof packed);                                                                         \
            return __builtin_convertvector(__builtin_convertvector(packed, cpu_mask), cpu_lanes);                      \
        }                                                                                                              \
        return step == 0 ? cpu_splat((cpu_real_t) * p) : cpu_lanes_gather_##dtype(p, step, count);                     \
    }                                                                                                                  \
    CPU_INLINE void cpu_lanes_store_##dtype(scalar *p, int64_t step, cpu_lanes value, int64_t count) {                 \
        const cpu_lanes_##dtype##_t packed = __builtin_convertvector(cpu_whole(value), cpu_lanes_##dtype##_t);         \
        if (step == 1 && count == CPU_LANES) {                                                                         \
            memcpy(p, &packed, sizeof packed);                                                                         \
            return;                                                                                                    \
        }                                                                                                              \
        scalar lane[VECTOR_BYTES / 4];                                                                                 \
        memcpy(lane, &packed, sizeof packed);                                                                          \
        for (int64_t k = 0; k < count; k++)                                                                            \
            p[k * step] = lane[k];                                                                                     \
    }

CPU_INLINE cpu_mask cpu_whole(cpu_lanes value) {
    const cpu_lanes limit = cpu_splat(2147483648.0f);
    const cpu_mask fits = (value < limit) & (value >= -limit);
    const cpu_mask inside = __builtin_convertvector(cpu_select(fits, value, cpu_splat(0)), cpu_mask);
    const cpu_mask least = INT32_MIN - (cpu_mask){0}, most = INT32_MAX - (cpu_mask){0};
    return inside | ((value >= limit) & most) | ((value < -limit) & least);
}
CPU_LANES_NARROW(uint8, uint8_t)
CPU_LANES_NARROW(int8, int8_t)
CPU_LANES_NARROW(int16, int16_t)
CPU_LANES_NARROW(int32, int32_t)
#else
CPU_LANES_DIRECT(float64)
CPU_LANES_INDIRECT(float32)
CPU_LANES_INDIRECT(float16)
CPU_LANES_INDIRECT(bfloat16)

#define CPU_LANES_NARROW(dtype, scalar)                                                                                \
    CPU_LANES_GATHERED(dtype)                                                                                          \
    CPU_INLINE void cpu_lanes_store_##dtype(scalar *p, int64_t step, cpu_lanes value, int64_t count) {                 \
        for (int64_t k = 0; k < count; k++)                                                                            \
            p[k * step] = (scalar)cpu_whole32(value[k]);                                                               \
    }

CPU_INLINE int32_t cpu_whole32(cpu_real_t value) {
    const int32_t limit = value < 0 ? INT32_MIN : value > 0 ? INT32_MAX : 0;
    return value >= -2147483648.0 && value < 2147483648.0 ? (int32_t)value : limit;
}
CPU_LANES_NARROW(uint8, uint8_t)
CPU_LANES_NARROW(int8, int8_t)
CPU_LANES_NARROW(int16, int16_t)
CPU_LANES_NARROW(int32, int32_t)
#endif

CPU_INLINE int64_t cpu_whole64(cpu_real_t value) {
    const cpu_real_t limit = (cpu_real_t)9223372036854775808.0;
    const int64_t most = value < 0 ? INT64_MIN : value > 0 ? INT64_MAX : 0;
    return value >= -limit && value < limit ? (int64_t)value : most;
}
CPU_LANES_GATHERED(int64)
CPU_INLINE void cpu_lanes_store_int64(int64_t *p, int64_t step, cpu_lanes value, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        p[k * step] = cpu_whole64(value[k]);
}

/* ---- bool: a mask, or a number when it is computed with ---- */

CPU_INLINE cpu_mask cpu_lanes_load_mask(const bool *p, int64_t step, int64_t count) {
    if (step == 0)
        return cpu_splat_mask(cpu_load__Bool(p) != 0);
    cpu_bit_t lane[VECTOR_BYTES / sizeof(cpu_bit_t)] = {0};
    for (int64_t k = 0; k < count; k++)
        lane[k] = (cpu_bit_t)-cpu_load__Bool(p + k * step);
    cpu_mask mask;
    memcpy(&mask, lane, sizeof mask);
    return mask;
}
CPU_INLINE cpu_lanes cpu_lanes_load__Bool(const bool *p, int64_t step, int64_t count) {
    return cpu_of_mask(cpu_lanes_load_mask(p, step, count));
}
CPU_INLINE void cpu_lanes_store_mask(bool *p, int64_t step, cpu_mask mask, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        p[k * step] = mask[k] != 0;
}

/* ---- what is the same in both widths ---- */

/* The smaller and the larger of two: b where either is a NaN, as the instructions of x86 have it. */
#if defined(__x86_64__) && VECTOR_BYTES == 64 && !defined(__clang__)
#define CPU_LANES_ORDER(which, type) __builtin_ia32_##which##type##512_mask(a, b, b, CPU_EVERY_LANE, 4)
#elif defined(__x86_64__) && VECTOR_BYTES == 64
#define CPU_LANES_ORDER(which, type) __builtin_ia32_##which##type##512(a, b, 4)
#elif defined(__x86_64__) && VECTOR_BYTES == 32
#define CPU_LANES_ORDER(which, type) __builtin_ia32_##which##type##256(a, b)
#elif defined(__x86_64__)
#define CPU_LANES_ORDER(which, type) __builtin_ia32_##which##type(a, b)
#endif
#if !defined(__x86_64__)
CPU_INLINE cpu_lanes cpu_smaller(cpu_lanes a, cpu_lanes b) { return cpu_select(a < b, a, b); }
CPU_INLINE cpu_lanes cpu_larger(cpu_lanes a, cpu_lanes b) { return cpu_select(a > b, a, b); }
#elif ELEMENTWISE_BITS == 32
#if defined(__clang__)
#define CPU_EVERY_LANE 0xffff
#else
#define CPU_EVERY_LANE (-1) /* in the type that gcc gives a mask */
#endif
CPU_INLINE cpu_lanes cpu_smaller(cpu_lanes a, cpu_lanes b) { return CPU_LANES_ORDER(min, ps); }
CPU_INLINE cpu_lanes cpu_larger(cpu_lanes a, cpu_lanes b) { return CPU_LANES_ORDER(max, ps); }
#else
#define CPU_EVERY_LANE 0xff
CPU_INLINE cpu_lanes cpu_smaller(cpu_lanes a, cpu_lanes b) { return CPU_LANES_ORDER(min, pd); }
CPU_INLINE cpu_lanes cpu_larger(cpu_lanes a, cpu_lanes b) { return CPU_LANES_ORDER(max, pd); }
#endif
/* a * b + c in half the steps, and rounded once, where the instruction set can: for polynomials, and for what is as
 * good either way. Products and sums are joined where this is written and nowhere else, so that compilers agree. */
#if defined(__FMA__) && VECTOR_BYTES == 64
#define CPU_LANES_FMA(type) __builtin_ia32_vfmadd##type##512_mask(a, b, c, CPU_EVERY_LANE, 4)
#elif defined(__FMA__) && VECTOR_BYTES == 32
#define CPU_LANES_FMA(type) __builtin_ia32_vfmadd##type##256(a, b, c)
#endif
#if defined(CPU_LANES_FMA) && ELEMENTWISE_BITS == 32
CPU_INLINE cpu_lanes cpu_fma(cpu_lanes a, cpu_lanes b, cpu_lanes c) { return CPU_LANES_FMA(ps); }
#elif defined(CPU_LANES_FMA)
CPU_INLINE cpu_lanes cpu_fma(cpu_lanes a, cpu_lanes b, cpu_lanes c) { return CPU_LANES_FMA(pd); }
#elif defined(__aarch64__) /* one instruction for all lanes */
#define CPU_REAL_FMA(a, b, c) _Generic((a), float: __builtin_fmaf, double: __builtin_fma)(a, b, c)
CPU_INLINE cpu_lanes cpu_fma(cpu_lanes a, cpu_lanes b, cpu_lanes c) {
    for (int64_t k = 0; k < CPU_LANES; k++)
        a[k] = CPU_REAL_FMA(a[k], b[k], c[k]);
    return a;
}
#else
CPU_INLINE cpu_lanes cpu_fma(cpu_lanes a, cpu_lanes b, cpu_lanes c) { return a * b + c; }
#endif

/* The polynomial of x with these coefficients, the constant one first, by Horner's rule. */
#define CPU_POLYNOMIAL(x, ...)                                                                                         \
    cpu_polynomial(x, (const cpu_real_t[]){__VA_ARGS__}, sizeof((const cpu_real_t[]){__VA_ARGS__}) / sizeof(cpu_real_t))
CPU_INLINE cpu_lanes cpu_polynomial(cpu_lanes x, const cpu_real_t *coefficient, size_t count) {
    cpu_lanes y = cpu_splat(coefficient[count - 1]);
    for (size_t k = count - 1; k > 0; k--)
        y = cpu_fma(y, x, cpu_splat(coefficient[k - 1]));
    return y;
}

CPU_INLINE cpu_lanes cpu_lanes_min(cpu_lanes a, cpu_lanes b) { return cpu_select(a != a, a, cpu_smaller(a, b)); }
CPU_INLINE cpu_lanes cpu_lanes_max(cpu_lanes a, cpu_lanes b) { return cpu_select(a != a, a, cpu_larger(a, b)); }
/* The same where b is a number: then a needs no test in each lane, and a NaN of b becomes one of all. */
CPU_INLINE cpu_lanes cpu_lanes_min_of(cpu_lanes a, cpu_real_t b) {
    return (cpu_lanes)((cpu_mask)cpu_smaller(cpu_splat(b), a) | cpu_splat_mask(b != b));
}
CPU_INLINE cpu_lanes cpu_lanes_max_of(cpu_lanes a, cpu_real_t b) {
    return (cpu_lanes)((cpu_mask)cpu_larger(cpu_splat(b), a) | cpu_splat_mask(b != b));
}
CPU_INLINE cpu_mask cpu_sign_bits(void) { return (cpu_mask)cpu_splat(-(cpu_real_t)0); }
CPU_INLINE cpu_lanes cpu_lanes_abs(cpu_lanes x) { return (cpu_lanes)((cpu_mask)x & ~cpu_sign_bits()); }
CPU_INLINE cpu_lanes cpu_with_sign_of(cpu_lanes magnitude, cpu_lanes sign) {
    return (cpu_lanes)((cpu_mask)magnitude | ((cpu_mask)sign & cpu_sign_bits()));
}
CPU_INLINE cpu_lanes cpu_lanes_sign(cpu_lanes x) {
    return cpu_select(x > 0, cpu_splat(1), cpu_select(x < 0, cpu_splat(-1), cpu_splat(0)));
}
CPU_INLINE cpu_mask cpu_lanes_isnan(cpu_lanes x) { return x != x; }
CPU_INLINE cpu_mask cpu_lanes_isinf(cpu_lanes x) { return cpu_lanes_abs(x) == cpu_splat((cpu_real_t)__builtin_inf()); }
CPU_INLINE cpu_mask cpu_lanes_isfinite(cpu_lanes x) {
    return cpu_lanes_abs(x) < cpu_splat((cpu_real_t)__builtin_inf());
}
static inline bool cpu_any(cpu_mask mask) {
    uint64_t word[VECTOR_BYTES / 8], all = 0;
    memcpy(word, &mask, sizeof mask);
    for (size_t i = 0; i < VECTOR_BYTES / 8; i++)
        all |= word[i];
    return all != 0;
}

/* A function of the C library, lane by lane; those of one instruction become that instruction on the whole vector. */
#define CPU_LANES_EACH(name, function)                                                                                 \
    static inline cpu_lanes cpu_lanes_##name(cpu_lanes x) {                                                            \
        cpu_real_t lane[VECTOR_BYTES / sizeof(cpu_real_t)];                                                            \
        memcpy(lane, &x, sizeof x);                                                                                    \
        for (size_t k = 0; k < VECTOR_BYTES / sizeof(cpu_real_t); k++)                                                 \
            lane[k] = function(lane[k]);                                                                               \
        memcpy(&x, lane, sizeof x);                                                                                    \
        return x;                                                                                                      \
    }
#define CPU_LANES_EACH2(name, function)                                                                                \
    static inline cpu_lanes cpu_lanes_##name(cpu_lanes x, cpu_lanes y) {                                               \
        for (int64_t k = 0; k < CPU_LANES; k++)                                                                        \
            x[k] = function(x[k], y[k]);                                                                               \
        return x;                                                                                                      \
    }

#if ELEMENTWISE_BITS == 32
#include "lanes_math32.h"
#else
#include "lanes_math64.h"
#endif

#endif
