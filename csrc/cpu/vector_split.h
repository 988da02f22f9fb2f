/* Elements at even and at odd places, apart: for C bodies that take neighbours together, and whose first dtype variable
 * is a real floating one.
 *
 *     const vector_pair_t v = vector_load_split(x + i);     v.a: x[i], x[i + 2], ...   v.b: x[i + 1], x[i + 3], ...
 *     vector_store_joined(y + i, v, stream);
 */
#ifndef CSRC_CPU_VECTOR_SPLIT_H
#define CSRC_CPU_VECTOR_SPLIT_H

#include "vector.h"

#if CPU_PASTE(CPU_WIDE_, CPU_DTYPE, )
#define CPU_SPLIT_LANES (VECTOR_BYTES / 8)
typedef int64_t cpu_place_t;
#else
#define CPU_SPLIT_LANES (VECTOR_BYTES / 4)
typedef int32_t cpu_place_t;
#endif

/* The lanes of two vectors, the second one's counted behind those of the first. */
#if CPU_SPLIT_LANES == 16
#define CPU_EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define CPU_ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define CPU_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define CPU_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif CPU_SPLIT_LANES == 8
#define CPU_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define CPU_ODD 1, 3, 5, 7, 9, 11, 13, 15
#define CPU_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define CPU_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif CPU_SPLIT_LANES == 4
#define CPU_EVEN 0, 2, 4, 6
#define CPU_ODD 1, 3, 5, 7
#define CPU_LOW 0, 4, 1, 5
#define CPU_HIGH 2, 6, 3, 7
#else
#define CPU_EVEN 0, 2
#define CPU_ODD 1, 3
#define CPU_LOW 0, 2
#define CPU_HIGH 1, 3
#endif

#if defined(__clang__)
#define CPU_PICK(v, ...) __builtin_shufflevector((v).a, (v).b, __VA_ARGS__)
#else
typedef cpu_place_t cpu_places_t __attribute__((vector_size(VECTOR_BYTES)));
#define CPU_PICK(v, ...) __builtin_shuffle((v).a, (v).b, (cpu_places_t){__VA_ARGS__})
#endif

/* Of the lanes of v.a, followed by those of v.b, the ones at even places and the ones at odd places; and back. */
static inline vector_pair_t vector_split(vector_pair_t v) {
    return (vector_pair_t){CPU_PICK(v, CPU_EVEN), CPU_PICK(v, CPU_ODD)};
}
static inline vector_pair_t vector_join(vector_pair_t v) {
    return (vector_pair_t){CPU_PICK(v, CPU_LOW), CPU_PICK(v, CPU_HIGH)};
}

/* From the order of memory to the order that pairs of this dtype have. */
static inline vector_pair_t vector_pair_order(vector_pair_t v) {
#if CPU_PASTE(CPU_PAIRED_, CPU_DTYPE, )
    return vector_split(v);
#else
    return v;
#endif
}

static inline vector_pair_t vector_load_split(const scalar_t *p) {
#if CPU_PASTE(CPU_PAIRED_, CPU_DTYPE, )
    return vector_load_pair(p);
#else
    return vector_split(vector_load_pair(p));
#endif
}
/* As vector_store_pair. */
static inline void vector_store_joined(scalar_t *p, vector_pair_t v, bool stream) {
#if !CPU_PASTE(CPU_PAIRED_, CPU_DTYPE, )
    v = vector_join(v);
#endif
    vector_store_pair(p, v.a, v.b, stream);
}

/* The first `count` elements, 0 <= count <= 2 * VECTOR_LANES; what is not loaded is zero. */
static inline vector_pair_t vector_load_split_part(const scalar_t *p, int64_t count) {
    const int64_t first = vector_count(count);
    return vector_split((vector_pair_t){vector_load_part(p, first), vector_load_part(p + first, count - first)});
}
static inline void vector_store_joined_part(scalar_t *p, vector_pair_t v, int64_t count) {
    const int64_t first = vector_count(count);
    v = vector_join(v);
    vector_store_part(p, v.a, first);
    vector_store_part(p + first, v.b, count - first);
}

#endif
