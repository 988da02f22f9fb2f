/* Vectors for C bodies: VECTOR_LANES values of acc_t, the type that the first dtype variable is computed in.
 *
 *     const vector_t v = vector_load(x + i) * s;      arithmetic is C's, with another vector or with an acc_t
 *     vector_store(y + i, v);                         rounds as store does
 *     vector_store_part(y + i, v, count);             the end of a row
 *
 * The width follows the instruction set that the file is compiled for: 16 bytes, 32 with AVX2, 64 with AVX-512.
 * Pointers need the alignment of an element only, except for streamed stores. Complex numbers are vectors of one lane,
 * so that what is right for vectors is right for every dtype.
 *
 * Loops over much data take pairs of vectors: a pair holds 2 * VECTOR_LANES elements that follow each other in memory,
 * but in an order of its own, which for bfloat16 halves the cost of the conversions. Treat both halves alike.
 *
 * Before this file: scalar.h, scalar_t, acc_t, load, store, and CPU_DTYPE, the name of the first variable's dtype.
 * Compiler builtins stand where other code has immintrin.h, for the reason given in scalar.h.
 */
#ifndef CSRC_CPU_VECTOR_H
#define CSRC_CPU_VECTOR_H

#include "scalar.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

/* For each dtype: cpu_<dtype>_vector_t, lanes of acc_t; cpu_<dtype>_packed_t, the same number of elements as they lie
 * in memory; and the conversions between the two. */
#define CPU_VECTOR_TYPES(dtype, scalar, acc)                                                                           \
    typedef acc cpu_##dtype##_vector_t __attribute__((vector_size(VECTOR_BYTES)));                                     \
    typedef scalar cpu_##dtype##_packed_t __attribute__((vector_size(VECTOR_BYTES / sizeof(acc) * sizeof(scalar))));

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

/* ---- what bodies use: the first dtype variable ---- */

typedef CPU_PASTE(cpu_, CPU_DTYPE, _vector_t) vector_t;
typedef CPU_PASTE(cpu_, CPU_DTYPE, _packed_t) vector_packed_t;
#define VECTOR_LANES ((int64_t)(sizeof(vector_t) / sizeof(acc_t)))

static inline vector_t vector_load(const scalar_t *p) {
    vector_packed_t packed;
    memcpy(&packed, p, sizeof packed);
    return CPU_PASTE(cpu_unpack_, CPU_DTYPE, )(packed);
}
static inline void vector_store(scalar_t *p, vector_t v) {
    const vector_packed_t packed = CPU_PASTE(cpu_pack_, CPU_DTYPE, )(v);
    memcpy(p, &packed, sizeof packed);
}

/* Parts of vectors. `count` elements of `size` bytes, 0 <= count <= VECTOR_LANES, between memory and a register image
 * of `whole` bytes, which is VECTOR_LANES elements. AVX-512 masks the access; elsewhere the bits of count say which
 * pieces to copy: no call, no loop. */
static inline void cpu_copy_part(void *to, const void *from, int64_t count, size_t size) {
    char *t = to;
    const char *f = from;
    if (count == VECTOR_LANES) {
        memcpy(t, f, (size_t)VECTOR_LANES * size);
        return;
    }
    if (VECTOR_LANES > 8 && (count & 8)) {
        memcpy(t, f, 8 * size);
        t += 8 * size;
        f += 8 * size;
    }
    if (VECTOR_LANES > 4 && (count & 4)) {
        memcpy(t, f, 4 * size);
        t += 4 * size;
        f += 4 * size;
    }
    if (VECTOR_LANES > 2 && (count & 2)) {
        memcpy(t, f, 2 * size);
        t += 2 * size;
        f += 2 * size;
    }
    if (count & 1)
        memcpy(t, f, size);
}

#if VECTOR_BYTES == 64
typedef short cpu_mask2_t __attribute__((vector_size(32)));
typedef float cpu_mask4_t __attribute__((vector_size(64)));
typedef double cpu_mask8_t __attribute__((vector_size(64)));
#endif

static inline void cpu_load_part(void *image, const void *p, int64_t count, size_t size, size_t whole) {
#if VECTOR_BYTES == 64
    const unsigned mask = (1u << count) - 1u;
    if (size == 2 && whole == 32) {
        const cpu_mask2_t v = __builtin_ia32_loaddquhi256_mask(p, (cpu_mask2_t){0}, (uint16_t)mask);
        memcpy(image, &v, 32);
        return;
    }
    if (size == 4 && whole == 64) {
        const cpu_mask4_t v = __builtin_ia32_loadups512_mask(p, (cpu_mask4_t){0}, (uint16_t)mask);
        memcpy(image, &v, 64);
        return;
    }
    if (size == 8 && whole == 64) {
        const cpu_mask8_t v = __builtin_ia32_loadupd512_mask(p, (cpu_mask8_t){0}, (uint8_t)mask);
        memcpy(image, &v, 64);
        return;
    }
#endif
    memset(image, 0, whole);
    cpu_copy_part(image, p, count, size);
}

static inline void cpu_store_part(void *p, const void *image, int64_t count, size_t size, size_t whole) {
#if VECTOR_BYTES == 64
    const unsigned mask = (1u << count) - 1u;
    if (size == 2 && whole == 32) {
        cpu_mask2_t v;
        memcpy(&v, image, 32);
        __builtin_ia32_storedquhi256_mask(p, v, (uint16_t)mask);
        return;
    }
    if (size == 4 && whole == 64) {
        cpu_mask4_t v;
        memcpy(&v, image, 64);
        __builtin_ia32_storeups512_mask(p, v, (uint16_t)mask);
        return;
    }
    if (size == 8 && whole == 64) {
        cpu_mask8_t v;
        memcpy(&v, image, 64);
        __builtin_ia32_storeupd512_mask(p, v, (uint8_t)mask);
        return;
    }
#endif
    (void)whole;
    cpu_copy_part(p, image, count, size);
}

/* Lanes to take of the `rest` elements, more than none, that a row still has. */
static inline int64_t vector_count(int64_t rest) { return rest < VECTOR_LANES ? rest : VECTOR_LANES; }

/* The first `count` lanes, 0 <= count <= VECTOR_LANES; lanes that are not loaded are zero. */
static inline vector_t vector_load_part(const scalar_t *p, int64_t count) {
    vector_packed_t packed;
    cpu_load_part(&packed, p, count, sizeof *p, sizeof packed);
    return CPU_PASTE(cpu_unpack_, CPU_DTYPE, )(packed);
}
static inline void vector_store_part(scalar_t *p, vector_t v, int64_t count) {
    const vector_packed_t packed = CPU_PASTE(cpu_pack_, CPU_DTYPE, )(v);
    cpu_store_part(p, &packed, count, sizeof *p, sizeof packed);
}

/* The same for arrays of acc_t: scratch and saved values. */
static inline vector_t vector_load_acc(const acc_t *p) {
    vector_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void vector_store_acc(acc_t *p, vector_t v) { memcpy(p, &v, sizeof v); }
static inline vector_t vector_load_acc_part(const acc_t *p, int64_t count) {
    vector_t v;
    cpu_load_part(&v, p, count, sizeof *p, sizeof v);
    return v;
}
static inline void vector_store_acc_part(acc_t *p, vector_t v, int64_t count) {
    cpu_store_part(p, &v, count, sizeof *p, sizeof v);
}

/* Sum of the lanes, always in the same order: upper half onto lower half. Written out, since gcc keeps a loop over the
 * halvings in memory. */
static inline acc_t vector_sum(vector_t v) {
    acc_t lane[sizeof(vector_t) / sizeof(acc_t)];
    memcpy(lane, &v, sizeof lane);
    for (int i = 0; VECTOR_LANES >= 16 && i < 8; i++)
        lane[i] += lane[8 + i];
    for (int i = 0; VECTOR_LANES >= 8 && i < 4; i++)
        lane[i] += lane[4 + i];
    for (int i = 0; VECTOR_LANES >= 4 && i < 2; i++)
        lane[i] += lane[2 + i];
    return VECTOR_LANES >= 2 ? lane[0] + lane[1] : lane[0];
}

/* ---- pairs, and outputs that are too large for the caches ----
 *
 * Streaming stores go past the caches, which saves reading every line that is about to be overwritten. It pays where
 * the output would not be found in a cache afterwards anyway. A body asks once whether to stream, stores whole pairs at
 * addresses aligned to VECTOR_BYTES, and ends with vector_stream_end. */
#define VECTOR_STREAM_BYTES (INT64_C(16) << 20) /* with an input as large: the last-level cache of a small server */

/* Whether an output of n elements is to be streamed. */
static inline bool vector_streams(const scalar_t *p, int64_t n) {
#if defined(__x86_64__)
    const bool element_aligned = (uintptr_t)p % sizeof *p == 0; /* otherwise no element is ever aligned to a vector */
    return element_aligned && n > VECTOR_STREAM_BYTES / (int64_t)sizeof *p;
#else
    return (void)p, (void)n, false;
#endif
}

/* The same for an output of rows: they are streamed where each starts aligned, since the ends of other rows would have
 * to share lines with what is streamed. */
static inline bool vector_streams_rows(const scalar_t *p, int64_t rows, int64_t n) {
    const bool aligned = (uintptr_t)p % VECTOR_BYTES == 0 && n % (VECTOR_BYTES / (int64_t)sizeof *p) == 0;
    return aligned && vector_streams(p, rows * n);
}

/* Where data comes from memory as fast as it can be used, the processor's own prefetching falls short: loops ask for
 * what they need VECTOR_AHEAD elements later, into the second-level cache, so as not to push out what is in use. */
#define VECTOR_AHEAD ((int64_t)(8192 / sizeof(scalar_t)))
static inline void vector_prefetch_pair(const scalar_t *p) {
    __builtin_prefetch(p, 0, 2);
    if (2 * VECTOR_LANES * sizeof *p > 64)
        __builtin_prefetch(p + VECTOR_LANES, 0, 2);
}

/* Elements before the first one of p[0, n) at which a pair may be streamed. */
static inline int64_t vector_stream_head(const scalar_t *p, int64_t n) {
    const size_t past = (uintptr_t)p % VECTOR_BYTES;
    const int64_t head = past == 0 ? 0 : (int64_t)((VECTOR_BYTES - past) / sizeof *p);
    return head < n ? head : n;
}

/* Orders the streamed data before whatever tells other threads that it is there. */
static inline void vector_stream_end(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

#if defined(__x86_64__)
typedef float cpu_line16_t __attribute__((vector_size(16)));
#if VECTOR_BYTES >= 32
typedef float cpu_line32_t __attribute__((vector_size(32)));
#endif
#if VECTOR_BYTES >= 64
typedef float cpu_line64_t __attribute__((vector_size(64)));
#endif

#if defined(__clang__)
#define CPU_STREAM(bytes, p, line) __builtin_nontemporal_store(line, (cpu_line##bytes##_t *)(p))
#else
#define CPU_STREAM(bytes, p, line) CPU_STREAM_##bytes(p, line)
#define CPU_STREAM_16 __builtin_ia32_movntps
#define CPU_STREAM_32 __builtin_ia32_movntps256
#define CPU_STREAM_64 __builtin_ia32_movntps512
#endif
#endif

/* Stores `size` bytes, a constant; when `stream`, past the caches where there is an instruction for that size. */
static inline void cpu_put(void *p, const void *from, size_t size, bool stream) {
#if defined(__x86_64__)
    if (stream && size == 8) {
        long long line;
        memcpy(&line, from, 8);
        __builtin_ia32_movnti64(p, line);
        return;
    }
    if (stream && size == 16) {
        cpu_line16_t line;
        memcpy(&line, from, 16);
        CPU_STREAM(16, p, line);
        return;
    }
#if VECTOR_BYTES >= 32
    if (stream && size == 32) {
        cpu_line32_t line;
        memcpy(&line, from, 32);
        CPU_STREAM(32, p, line);
        return;
    }
#endif
#if VECTOR_BYTES >= 64
    if (stream && size == 64) {
        cpu_line64_t line;
        memcpy(&line, from, 64);
        CPU_STREAM(64, p, line);
        return;
    }
#endif
#endif
    (void)stream;
    memcpy(p, from, size);
}

typedef struct {
    vector_t a;
    vector_t b;
} vector_pair_t;

#define CPU_PAIRED_bfloat16 1

static inline vector_pair_t vector_load_pair(const scalar_t *p) {
#if CPU_PASTE(CPU_PAIRED_, CPU_DTYPE, ) /* even and odd elements: a shift and a mask */
    cpu_bits_vector_t bits;
    memcpy(&bits, p, sizeof bits);
    return (vector_pair_t){(vector_t)(bits << 16), (vector_t)(bits & 0xffff0000u)};
#else
    return (vector_pair_t){vector_load(p), vector_load(p + VECTOR_LANES)};
#endif
}

/* One element in every place of a pair; zeros where there is none. */
static inline void vector_fill_pair(scalar_t *pair, const scalar_t *p) {
    scalar_t value = (scalar_t){0};
    if (p != NULL)
        value = *p;
    for (int64_t i = 0; i < 2 * VECTOR_LANES; i++)
        pair[i] = value;
}

/* When `stream`, p is aligned to VECTOR_BYTES. */
static inline void vector_store_pair(scalar_t *p, vector_t a, vector_t b, bool stream) {
#if CPU_PASTE(CPU_PAIRED_, CPU_DTYPE, )
#if VECTOR_BYTES == 64 /* one comparison finds a NaN in either */
    const bool nan = __builtin_ia32_cmpps512_mask(a, b, 3, 0xffff, 4) != 0;
    const cpu_bits_vector_t even = nan ? cpu_round_nan_bfloat16(a) : cpu_round_bfloat16(a);
    const cpu_bits_vector_t odd = nan ? cpu_round_nan_bfloat16(b) : cpu_round_bfloat16(b);
#else
    const cpu_bits_vector_t even = cpu_round_nan_bfloat16(a);
    const cpu_bits_vector_t odd = cpu_round_nan_bfloat16(b);
#endif
    const cpu_bits_vector_t both = (even >> 16) | (odd & 0xffff0000u);
    cpu_put(p, &both, sizeof both, stream);
#else
    const vector_packed_t first = CPU_PASTE(cpu_pack_, CPU_DTYPE, )(a);
    const vector_packed_t second = CPU_PASTE(cpu_pack_, CPU_DTYPE, )(b);
    cpu_put(p, &first, sizeof first, stream);
    cpu_put(p + VECTOR_LANES, &second, sizeof second, stream);
#endif
}

#endif
