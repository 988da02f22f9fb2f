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
 * Loops over much data take pairs of vectors: vector_pair.h.
 *
 * Before this file: scalar.h, scalar_t, acc_t, load, store, and CPU_DTYPE, the name of the first variable's dtype.
 */
#ifndef CSRC_CPU_VECTOR_H
#define CSRC_CPU_VECTOR_H

#include "vector_types.h"

/* The first dtype variable. */
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

/* Sum of the lanes, always in the same order. */
static inline acc_t vector_sum(vector_t v) { return CPU_PASTE(cpu_sum_, CPU_DTYPE, )(v); }

#include "vector_pair.h"

#endif
