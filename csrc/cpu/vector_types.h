/* Vectors of each dtype: the lanes that it is computed in and their sum, the elements as they lie in memory, and the
 * conversions between the two. Included by vector.h, which says what bodies use.
 *
 * Compiler builtins stand where other code has immintrin.h, for the reason given in scalar.h.
 */
#ifndef CSRC_CPU_VECTOR_TYPES_H
#define CSRC_CPU_VECTOR_TYPES_H

#include "scalar.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

/* For each dtype: cpu_<dtype>_vector_t, lanes of acc_t; cpu_<dtype>_packed_t, the same number of elements as they lie
 * in memory; the conversions between the two; and the sum of the lanes, always in the same order: upper half onto lower
 * half, here by pieces of 16 bytes, since gcc adds single lanes one by one. */
#define CPU_VECTOR_TYPES(dtype, scalar, acc)                                                                           \
    typedef acc cpu_##dtype##_vector_t __attribute__((vector_size(VECTOR_BYTES)));                                     \
    typedef scalar cpu_##dtype##_packed_t __attribute__((vector_size(VECTOR_BYTES / sizeof(acc) * sizeof(scalar))));   \
    static inline acc cpu_sum_##dtype(cpu_##dtype##_vector_t vector) {                                                 \
        typedef acc piece_t __attribute__((vector_size(16)));                                                          \
        piece_t piece[VECTOR_BYTES / 16];                                                                              \
        memcpy(piece, &vector, sizeof piece);                                                                          \
        for (int half = VECTOR_BYTES / 32; half > 0; half /= 2)                                                        \
            for (int i = 0; i < half; i++)                                                                             \
                piece[i] += piece[half + i];                                                                           \
        acc lane[16 / sizeof(acc)];                                                                                    \
        memcpy(lane, piece, sizeof lane);                                                                              \
        for (size_t half = 8 / sizeof(acc); half > 0; half /= 2)                                                       \
            for (size_t i = 0; i < half; i++)                                                                          \
                lane[i] += lane[half + i];                                                                             \
        return lane[0];                                                                                                \
    }

#define CPU_VECTOR_PLAIN(dtype, scalar, acc)                                                                           \
    CPU_VECTOR_TYPES(dtype, scalar, acc)                                                                               \
    static inline cpu_##dtype##_vector_t cpu_unpack_##dtype(cpu_##dtype##_packed_t packed) {                           \
        return __builtin_convertvector(packed, cpu_##dtype##_vector_t);                                                \
    }                                                                                                                  \
    static inline cpu_##dtype##_packed_t cpu_pack_##dtype(cpu_##dtype##_vector_t vector) {                             \
        return __builtin_convertvector(vector, cpu_##dtype##_packed_t);                                                \
    }

#define CPU_VECTOR_COMPLEX(dtype)                                                                                      \
    typedef cpu_##dtype##_t cpu_##dtype##_vector_t;                                                                    \
    typedef cpu_##dtype##_t cpu_##dtype##_packed_t;                                                                    \
    static inline cpu_##dtype##_t cpu_sum_##dtype(cpu_##dtype##_vector_t vector) { return vector; }                    \
    static inline cpu_##dtype##_vector_t cpu_unpack_##dtype(cpu_##dtype##_packed_t packed) { return packed; }          \
    static inline cpu_##dtype##_packed_t cpu_pack_##dtype(cpu_##dtype##_vector_t vector) { return vector; }

CPU_VECTOR_PLAIN(float64, double, double)
CPU_VECTOR_PLAIN(float32, float, float)
CPU_VECTOR_PLAIN(uint8, uint8_t, int64_t)
CPU_VECTOR_PLAIN(int8, int8_t, int64_t)
CPU_VECTOR_PLAIN(int16, int16_t, int64_t)
CPU_VECTOR_PLAIN(int32, int32_t, int64_t)
CPU_VECTOR_PLAIN(int64, int64_t, int64_t)
CPU_VECTOR_COMPLEX(complex64)
CPU_VECTOR_COMPLEX(complex128)

CPU_VECTOR_TYPES(_Bool, uint8_t, int64_t)
static inline cpu__Bool_vector_t cpu_unpack__Bool(cpu__Bool_packed_t packed) {
    return (__builtin_convertvector(packed, cpu__Bool_vector_t) != 0) & 1; /* a comparison is 0 or all ones */
}
static inline cpu__Bool_packed_t cpu_pack__Bool(cpu__Bool_vector_t vector) {
    return __builtin_convertvector((vector != 0) & 1, cpu__Bool_packed_t);
}

typedef uint32_t cpu_bits_vector_t __attribute__((vector_size(VECTOR_BYTES)));

CPU_VECTOR_TYPES(bfloat16, uint16_t, float)
static inline cpu_bfloat16_vector_t cpu_unpack_bfloat16(cpu_bfloat16_packed_t packed) {
#if VECTOR_BYTES == 64 && defined(__GNUC__) && !defined(__clang__) /* gcc 12 would convert two halves and join them */
    typedef short halves_t __attribute__((vector_size(32)));
    typedef int words_t __attribute__((vector_size(64)));
    const words_t words = __builtin_ia32_pmovzxwd512_mask((halves_t)packed, (words_t){0}, 0xffff);
    return (cpu_bfloat16_vector_t)(words << 16);
#else
    return (cpu_bfloat16_vector_t)(__builtin_convertvector(packed, cpu_bits_vector_t) << 16);
#endif
}
/* As cpu_store_bfloat16; the results are the upper halves. */
static inline cpu_bits_vector_t cpu_round_bfloat16(cpu_bfloat16_vector_t vector) {
    const cpu_bits_vector_t bits = (cpu_bits_vector_t)vector;
    return bits + 0x7fffu + ((bits >> 16) & 1u);
}
static inline cpu_bits_vector_t cpu_round_nan_bfloat16(cpu_bfloat16_vector_t vector) {
    const cpu_bits_vector_t nan = (cpu_bits_vector_t)(vector != vector);
    return (cpu_round_bfloat16(vector) & ~nan) | (nan & 0x7fc00000u);
}
static inline cpu_bfloat16_packed_t cpu_pack_bfloat16(cpu_bfloat16_vector_t vector) {
    return __builtin_convertvector(cpu_round_nan_bfloat16(vector) >> 16, cpu_bfloat16_packed_t);
}

/* Lane by lane: float8 data is loaded and stored, and nothing is said of how fast. */
#define CPU_VECTOR_BYTES(dtype)                                                                                        \
    CPU_VECTOR_TYPES(dtype, uint8_t, float)                                                                            \
    static inline cpu_##dtype##_vector_t cpu_unpack_##dtype(cpu_##dtype##_packed_t packed) {                           \
        cpu_##dtype##_vector_t vector;                                                                                 \
        for (size_t i = 0; i < sizeof packed; i++) {                                                                   \
            const cpu_##dtype##_t one = {packed[i]};                                                                   \
            vector[i] = cpu_load_##dtype(&one);                                                                        \
        }                                                                                                              \
        return vector;                                                                                                 \
    }                                                                                                                  \
    static inline cpu_##dtype##_packed_t cpu_pack_##dtype(cpu_##dtype##_vector_t vector) {                             \
        cpu_##dtype##_packed_t packed;                                                                                 \
        for (size_t i = 0; i < sizeof packed; i++) {                                                                   \
            cpu_##dtype##_t one;                                                                                       \
            cpu_store_##dtype(&one, vector[i]);                                                                        \
            packed[i] = one.bits;                                                                                      \
        }                                                                                                              \
        return packed;                                                                                                 \
    }

CPU_VECTOR_BYTES(float8_e4m3fn)
CPU_VECTOR_BYTES(float8_e5m2)
CPU_VECTOR_BYTES(float8_e4m3fnuz)
CPU_VECTOR_BYTES(float8_e5m2fnuz)
CPU_VECTOR_BYTES(float8_e8m0fnu)

CPU_VECTOR_TYPES(float16, uint16_t, float)
#if defined(CPU_FLOAT16_NATIVE)
typedef cpu_native_float16_t cpu_native_vector_t __attribute__((vector_size(VECTOR_BYTES / 2)));
#elif defined(CPU_FLOAT16_F16C)
typedef short cpu_f16c_vector_t __attribute__((vector_size(VECTOR_BYTES / 2)));
#if defined(__clang__)
#define CPU_ALL_LANES 0xffff /* the compilers differ in the sign of this one mask */
#else
#define CPU_ALL_LANES (-1)
#endif
#endif

static inline cpu_float16_vector_t cpu_unpack_float16(cpu_float16_packed_t packed) {
#if defined(CPU_FLOAT16_NATIVE)
    return __builtin_convertvector((cpu_native_vector_t)packed, cpu_float16_vector_t);
#elif defined(CPU_FLOAT16_F16C) && VECTOR_BYTES == 64
    return __builtin_ia32_vcvtph2ps512_mask((cpu_f16c_vector_t)packed, (cpu_float16_vector_t){0}, CPU_ALL_LANES, 4);
#elif defined(CPU_FLOAT16_F16C) && VECTOR_BYTES == 32
    return __builtin_ia32_vcvtph2ps256((cpu_f16c_vector_t)packed);
#else
    return (cpu_float16_vector_t)cpu_widen_float16(__builtin_convertvector(packed, cpu_soft_t));
#endif
}
static inline cpu_float16_packed_t cpu_pack_float16(cpu_float16_vector_t vector) {
#if defined(CPU_FLOAT16_NATIVE)
    return (cpu_float16_packed_t) __builtin_convertvector(vector, cpu_native_vector_t);
#elif defined(CPU_FLOAT16_F16C) && VECTOR_BYTES == 64
    return (cpu_float16_packed_t)__builtin_ia32_vcvtps2ph512_mask(vector, 0, (cpu_f16c_vector_t){0}, 0xffff);
#elif defined(CPU_FLOAT16_F16C) && VECTOR_BYTES == 32
    return (cpu_float16_packed_t)__builtin_ia32_vcvtps2ph256(vector, 0);
#else
    return __builtin_convertvector(cpu_narrow_float16((cpu_soft_t)vector), cpu_float16_packed_t);
#endif
}

#endif
