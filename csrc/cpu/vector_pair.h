/* Pairs of vectors, for loops over much data, and outputs that are too large for the caches. Included by vector.h.
 *
 * A pair holds 2 * VECTOR_LANES elements that follow each other in memory, but in an order of its own, which for
 * bfloat16 halves the cost of the conversions. Treat both halves alike.
 *
 * Streaming stores go past the caches, which saves reading every line that is about to be overwritten. It pays where
 * the output would not be found in a cache afterwards anyway. A body asks once whether to stream, stores whole pairs at
 * addresses aligned to VECTOR_BYTES, and ends with vector_stream_end. */
#ifndef CSRC_CPU_VECTOR_PAIR_H
#define CSRC_CPU_VECTOR_PAIR_H

#include "vector.h"

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

/* 64 bytes between memory and a register, in halves: from the second cache on these come as fast and, on some
 * processors, a few percent faster (on AMD's Zen 5, 7 % for a product of doubles in the last-level cache). clang would
 * compute in halves, too. */
#if VECTOR_BYTES == 64 && !defined(__clang__)
#define CPU_HALVES 1
typedef double cpu_half_t __attribute__((vector_size(32)));
typedef double cpu_whole_t __attribute__((vector_size(64)));
static inline void cpu_load_halves(void *image, const void *p) {
    cpu_half_t low, high;
    memcpy(&low, p, 32);
    memcpy(&high, (const char *)p + 32, 32);
    const cpu_whole_t below = __builtin_ia32_pd512_256pd(low);
    const cpu_whole_t whole = __builtin_ia32_insertf64x4_mask(below, high, 1, below, 0xff);
    memcpy(image, &whole, 64);
}
static inline void cpu_store_halves(void *p, const void *image) {
    cpu_whole_t whole;
    memcpy(&whole, image, 64);
    const cpu_half_t low = __builtin_ia32_extractf64x4_mask(whole, 0, (cpu_half_t){0}, 0xff);
    const cpu_half_t high = __builtin_ia32_extractf64x4_mask(whole, 1, (cpu_half_t){0}, 0xff);
    memcpy(p, &low, 32);
    memcpy((char *)p + 32, &high, 32);
}
#endif

/* Loads `size` bytes, a constant. */
static inline void cpu_get(void *to, const void *p, size_t size) {
#if defined(CPU_HALVES)
    if (size == 64) {
        cpu_load_halves(to, p);
        return;
    }
#endif
    memcpy(to, p, size);
}

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
#if defined(CPU_HALVES)
    if (size == 64) {
        cpu_store_halves(p, from);
        return;
    }
#endif
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
    cpu_get(&bits, p, sizeof bits);
    return (vector_pair_t){(vector_t)(bits << 16), (vector_t)(bits & 0xffff0000u)};
#else
    vector_packed_t first, second;
    cpu_get(&first, p, sizeof first);
    cpu_get(&second, p + VECTOR_LANES, sizeof second);
    return (vector_pair_t){CPU_PASTE(cpu_unpack_, CPU_DTYPE, )(first), CPU_PASTE(cpu_unpack_, CPU_DTYPE, )(second)};
#endif
}

/* One element in every lane of a pair; zeros where there is none. */
static inline vector_pair_t vector_same_pair(const scalar_t *p) {
    const acc_t value = p == NULL ? 0 : CPU_PASTE(cpu_load_, CPU_DTYPE, )(p);
    const vector_t v = value - (vector_t){0};
    return (vector_pair_t){v, v};
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
