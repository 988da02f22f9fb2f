/* Rotary position embedding: pairs of columns of each head, turned by an angle that depends on the token and the pair.
 *     x1 cos - x2 sin,  x2 cos + x1 sin
 * Pair j is columns j and j + r, or 2 j and 2 j + 1 where interleaved. The columns from 2 r on are copied. The angles
 * of a token are converted once for all heads. Results may take the place of what is read.
 *
 * Included by bodies whose second dtype variable, of cos and sin, is C. */
#ifndef CSRC_CPU_ROTATION_H
#define CSRC_CPU_ROTATION_H

#include "vector.h"

enum { ANGLES = 512 }; /* pairs at a time */

/* Of some pairs: for interleaved ones each cosine twice, and each sine with either sign. */
typedef struct {
    int64_t first, count;
    acc_t cos[2 * ANGLES], sin[2 * ANGLES];
} angles;

static inline void angles_of(angles *to, const C_t *cos, const C_t *sin, acc_t sign, int64_t first, int64_t r,
                             bool interleaved) {
    to->first = first;
    to->count = r - first < ANGLES ? r - first : ANGLES;
    for (int64_t j = 0; j < to->count; j++) {
        const acc_t c = (acc_t)load_C(cos + first + j);
        const acc_t s = sign * (acc_t)load_C(sin + first + j);
        if (interleaved) {
            to->cos[2 * j] = to->cos[2 * j + 1] = c;
            to->sin[2 * j] = -s;
            to->sin[2 * j + 1] = s;
        } else {
            to->cos[j] = c;
            to->sin[j] = s;
        }
    }
}

/* Neighbouring lanes change places. */
static inline vector_t swapped(vector_t v) {
    acc_t lane[sizeof(vector_t) / sizeof(acc_t)];
    if (sizeof(acc_t) == 4) { /* in pairs, without leaving the register */
        typedef uint64_t pairs_t __attribute__((vector_size(sizeof(vector_t))));
        const pairs_t pairs = (pairs_t)v;
        return (vector_t)(pairs << 32 | pairs >> 32);
    }
    memcpy(lane, &v, sizeof v);
    for (int64_t k = 0; k < VECTOR_LANES; k++)
        v[k] = lane[k ^ 1];
    return v;
}

static inline void turn_halves(scalar_t *to, const scalar_t *from, const angles *a, int64_t r) {
    for (int64_t j = 0; j < a->count; j += VECTOR_LANES) {
        const int64_t count = vector_count(a->count - j), i = a->first + j;
        const vector_t c = vector_load_acc_part(a->cos + j, count), s = vector_load_acc_part(a->sin + j, count);
        const vector_t x1 = vector_load_part(from + i, count), x2 = vector_load_part(from + r + i, count);
        vector_store_part(to + i, x1 * c - x2 * s, count);
        vector_store_part(to + r + i, x2 * c + x1 * s, count);
    }
}

static inline void turn_neighbours(scalar_t *to, const scalar_t *from, const angles *a) {
    for (int64_t j = 0; j < 2 * a->count; j += VECTOR_LANES) {
        const int64_t count = vector_count(2 * a->count - j), i = 2 * a->first + j;
        const vector_t c = vector_load_acc_part(a->cos + j, count), s = vector_load_acc_part(a->sin + j, count);
        const vector_t x = vector_load_part(from + i, count);
        vector_store_part(to + i, x * c + swapped(x) * s, count);
    }
}

/* Results that are not neighbours. */
static inline void turn_apart(scalar_t *to, int64_t step, const scalar_t *from, const angles *a, int64_t r, int64_t d,
                              bool interleaved) {
    for (int64_t j = 0; j < a->count; j++) {
        const int64_t i = a->first + j;
        const int64_t one = interleaved ? 2 * i : i, other = interleaved ? 2 * i + 1 : i + r;
        const acc_t c = a->cos[interleaved ? 2 * j : j], s = a->sin[interleaved ? 2 * j + 1 : j];
        const acc_t x1 = load(from + one), x2 = load(from + other);
        store(to + one * step, x1 * c - x2 * s);
        store(to + other * step, x2 * c + x1 * s);
    }
    for (int64_t i = 2 * r; a->first == 0 && i < d; i++)
        to[i * step] = from[i];
}

/* `step` elements lie between the columns of a result. */
static inline void turn_heads(scalar_t *to, int64_t to_stride, int64_t step, const scalar_t *from, int64_t from_stride,
                              int64_t heads, const angles *a, int64_t r, int64_t d, bool interleaved) {
    for (int64_t head = 0; head < heads; head++) {
        scalar_t *own = to + head * to_stride;
        const scalar_t *x = from + head * from_stride;
        if (step != 1) {
            turn_apart(own, step, x, a, r, d, interleaved);
            continue;
        }
        if (interleaved) {
            turn_neighbours(own, x, a);
        } else {
            turn_halves(own, x, a, r);
        }
        if (a->first == 0 && own != x)
            memcpy(own + 2 * r, x + 2 * r, (size_t)(d - 2 * r) * sizeof *x);
    }
}

#endif
