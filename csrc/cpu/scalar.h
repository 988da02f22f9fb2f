/* Elements of tensors on the CPU: for each dtype the C type that is stored, the type that is computed in, and the
 * load and store between the two.
 *
 * Everything is reached by pasting the dtype's name: CPU_SCALAR(bfloat16), CPU_ACC(bfloat16), CPU_LOAD(bfloat16)(p),
 * CPU_STORE(bfloat16)(p, value). A new dtype is one more block of two types and two functions here, and one in
 * vector_types.h. stdbool.h turns the argument `bool` into `_Bool` before it is pasted, which is why that block says
 * _Bool.
 *
 * Half formats are structs: arithmetic on their bits does not compile. All conversions round to nearest even, keep
 * infinities, denormals and signed zeros, and turn every NaN into a NaN. No vendor header is included: immintrin.h
 * alone takes longer to parse than a body takes to compile.
 */
#ifndef CSRC_CPU_SCALAR_H
#define CSRC_CPU_SCALAR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "float8.h"

#define CPU_PASTE_NOW(a, b, c) a##b##c
#define CPU_PASTE(a, b, c) CPU_PASTE_NOW(a, b, c)

/* #if CPU_PASTE(CPU_WIDE_, dtype, ): a floating dtype that is computed in 64 bits. */
#define CPU_WIDE_float64 1

/* For functions whose constant arguments choose among loops, and for what a loop must not call. */
#define CPU_INLINE static inline __attribute__((always_inline))

#define CPU_SCALAR(dtype) CPU_PASTE(cpu_, dtype, _t)
#define CPU_ACC(dtype) CPU_PASTE(cpu_, dtype, _acc_t)
#define CPU_LOAD(dtype) CPU_PASTE(cpu_load_, dtype, )
#define CPU_STORE(dtype) CPU_PASTE(cpu_store_, dtype, )

/* Functions of a value that is computed in, of float or double as it is: no value is converted on the way. Whole and
 * complex numbers do not compile. */
#define CPU_REAL_FUNCTION(function, x) _Generic((x), float: function##f, double: function)(x)
#define acc_exp(x) CPU_REAL_FUNCTION(exp, x)
#define acc_log(x) CPU_REAL_FUNCTION(log, x)
#define acc_sqrt(x) CPU_REAL_FUNCTION(sqrt, x)
#define acc_tanh(x) CPU_REAL_FUNCTION(tanh, x)
#define acc_abs(x) CPU_REAL_FUNCTION(fabs, x)

/* Dtypes whose C type converts by assignment; the cast wraps integers, as PyTorch does. */
#define CPU_PLAIN(dtype, scalar, acc)                                                                                  \
    typedef scalar cpu_##dtype##_t;                                                                                    \
    typedef acc cpu_##dtype##_acc_t;                                                                                   \
    static inline acc cpu_load_##dtype(const scalar *p) { return (acc) * p; }                                          \
    static inline void cpu_store_##dtype(scalar *p, acc value) { *p = (scalar)value; }

CPU_PLAIN(float64, double, double)
CPU_PLAIN(float32, float, float)
CPU_PLAIN(uint8, uint8_t, int64_t)
CPU_PLAIN(int8, int8_t, int64_t)
CPU_PLAIN(int16, int16_t, int64_t)
CPU_PLAIN(int32, int32_t, int64_t)
CPU_PLAIN(int64, int64_t, int64_t)
CPU_PLAIN(complex64, float _Complex, float _Complex)
CPU_PLAIN(complex128, double _Complex, double _Complex)

/* `bits` variables: elements of any dtype by their size, to be moved and not computed with. */
typedef struct {
    uint64_t low, high;
} cpu_pair_t;
CPU_PLAIN(bits8, uint8_t, uint8_t)
CPU_PLAIN(bits16, uint16_t, uint16_t)
CPU_PLAIN(bits32, uint32_t, uint32_t)
CPU_PLAIN(bits64, uint64_t, uint64_t)
typedef cpu_pair_t cpu_bits128_t;
typedef cpu_pair_t cpu_bits128_acc_t;
static inline cpu_pair_t cpu_load_bits128(const cpu_pair_t *p) { return *p; }
static inline void cpu_store_bits128(cpu_pair_t *p, cpu_pair_t value) { *p = value; }

/* bool: a tensor viewed from bytes may hold others than 0 and 1, which C does not let a _Bool hold. */
typedef bool cpu__Bool_t;
typedef int64_t cpu__Bool_acc_t;
static inline int64_t cpu_load__Bool(const bool *p) { return *(const unsigned char *)p != 0; }
static inline void cpu_store__Bool(bool *p, int64_t value) { *p = value != 0; }

static inline uint32_t cpu_float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float cpu_float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* bfloat16: the upper half of a float32. */
typedef struct {
    uint16_t bits;
} cpu_bfloat16_t;
typedef float cpu_bfloat16_acc_t;
static inline float cpu_load_bfloat16(const cpu_bfloat16_t *p) { return cpu_float_of_bits((uint32_t)p->bits << 16); }
static inline void cpu_store_bfloat16(cpu_bfloat16_t *p, float value) {
    const uint32_t bits = cpu_float_bits(value);
    /* Adding just under half of the last kept bit, plus that bit, carries exactly when nearest-even rounds up; on a
     * NaN the carry could run into the sign. */
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    p->bits = value != value ? 0x7fc0u : (uint16_t)rounded;
}

/* float16: IEEE binary16, by the processor where the instruction set has the conversion. */
typedef struct {
    uint16_t bits;
} cpu_float16_t;
typedef float cpu_float16_acc_t;

#if defined(__aarch64__)
#define CPU_FLOAT16_NATIVE 1
__extension__ typedef _Float16 cpu_native_float16_t;
#elif defined(__F16C__)
#define CPU_FLOAT16_F16C 1
typedef short cpu_f16c_half_t __attribute__((vector_size(16)));
typedef float cpu_f16c_float_t __attribute__((vector_size(16)));
#else
/* In integers, four at a time as vector_types.h needs them: bits of float16 to bits of float32 and back. */
typedef uint32_t cpu_soft_t __attribute__((vector_size(16)));
typedef float cpu_soft_float_t __attribute__((vector_size(16)));

static inline cpu_soft_t cpu_soft_if(cpu_soft_t all_ones, cpu_soft_t yes, cpu_soft_t no) {
    return (all_ones & yes) | (~all_ones & no);
}

static inline cpu_soft_t cpu_widen_float16(cpu_soft_t half) {
    const cpu_soft_t magnitude = half & 0x7fffu;
    /* 112 is the difference of the exponent biases; an infinity or NaN needs it twice to reach the top exponent. */
    const cpu_soft_t normal = (magnitude << 13) + (112u << 23);
    const cpu_soft_t top = normal + (112u << 23);
    /* A denormal is magnitude * 2^-24, and 2^-24 is one step above 0.5 in float32. */
    const cpu_soft_t denormal = (cpu_soft_t)((cpu_soft_float_t)(magnitude + 0x3f000000u) - 0.5f);
    const cpu_soft_t finite = cpu_soft_if((cpu_soft_t)(magnitude < 0x400u), denormal, normal);
    return ((half & 0x8000u) << 16) | cpu_soft_if((cpu_soft_t)(magnitude < 0x7c00u), finite, top);
}

static inline cpu_soft_t cpu_narrow_float16(cpu_soft_t bits) {
    const cpu_soft_t magnitude = bits & 0x7fffffffu;
    /* As for bfloat16, with 13 bits to drop and the exponent moved to the smaller bias. */
    const cpu_soft_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    /* Below 2^-14 adding 0.5 does the rounding: one step there is 2^-24, the smallest denormal. */
    const cpu_soft_t denormal = (cpu_soft_t)((cpu_soft_float_t)magnitude + 0.5f) - 0x3f000000u;
    const cpu_soft_t finite = cpu_soft_if((cpu_soft_t)(magnitude < 0x38800000u), denormal, normal);
    const cpu_soft_t top = 0x7c00u + ((cpu_soft_t)(magnitude > 0x7f800000u) & 0x200u);
    return ((bits >> 16) & 0x8000u) |
           cpu_soft_if((cpu_soft_t)(magnitude < 0x477ff000u), finite, top); /* from 65520: inf */
}
#endif

static inline float cpu_load_float16(const cpu_float16_t *p) {
#if defined(CPU_FLOAT16_NATIVE)
    cpu_native_float16_t half;
    memcpy(&half, p, sizeof half);
    return (float)half;
#elif defined(CPU_FLOAT16_F16C)
    const cpu_f16c_half_t half = {(short)p->bits};
    const cpu_f16c_float_t value = __builtin_ia32_vcvtph2ps(half);
    return value[0];
#else
    return cpu_float_of_bits(cpu_widen_float16((cpu_soft_t){p->bits})[0]);
#endif
}

static inline void cpu_store_float16(cpu_float16_t *p, float value) {
#if defined(CPU_FLOAT16_NATIVE)
    const cpu_native_float16_t half = (cpu_native_float16_t)value;
    memcpy(p, &half, sizeof half);
#elif defined(CPU_FLOAT16_F16C)
    const cpu_f16c_float_t wide = {value};
    const cpu_f16c_half_t half = __builtin_ia32_vcvtps2ph(wide, 0); /* 0: nearest even, whatever the mode is set to */
    p->bits = (uint16_t)half[0];
#else
    p->bits = (uint16_t)cpu_narrow_float16((cpu_soft_t){cpu_float_bits(value)})[0];
#endif
}

#endif
