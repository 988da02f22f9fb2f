/* Rotary position embedding: pairs of columns of each head, turned by an angle that depends on the token and the pair.
 *     x1 cos - x2 sin,  x2 cos + x1 sin
 * Pair j is columns j and j + r, or 2 j and 2 j + 1 where interleaved. The columns from 2 r on are copied. The angles
 * of a token are converted once for all heads. Results may take the place of what is read.
 *
 * Included by bodies whose second dtype variable, of cos and sin, is C. */
#ifndef CSRC_CPU_ROTATION_H
#define CSRC_CPU_ROTATION_H

#include "vector_split.h"

enum { ANGLES = 512 }; /* pairs at a time */

/* Of some pairs: in the order of memory, and in that of vector pairs, as many as fill these. */
typedef struct {
    int64_t first, count;
    acc_t cos[ANGLES], sin[ANGLES];
    acc_t paired_cos[ANGLES], paired_sin[ANGLES];
} angles;

static inline void angles_pair(acc_t *to, const acc_t *from, int64_t count) {
    for (int64_t j = 0; j + 2 * VECTOR_LANES <= count; j += 2 * VECTOR_LANES) {
        const vector_pair_t plain = {vector_load_acc(from + j), vector_load_acc(from + j + VECTOR_LANES)};
        const vector_pair_t v = vector_pair_order(plain);
        vector_store_acc(to + j, v.a);
        vector_store_acc(to + j + VECTOR_LANES, v.b);
    }
}

static inline void angles_of(angles *to, const C_t *cos, const C_t *sin, acc_t sign, int64_t first, int64_t r) {
    to->first = first;
    to->count = r - first < ANGLES ? r - first : ANGLES;
    for (int64_t j = 0; j < to->count; j++) {
        to->cos[j] = (acc_t)load_C(cos + first + j);
        to->sin[j] = sign * (acc_t)load_C(sin + first + j);
    }
    angles_pair(to->paired_cos, to->cos, to->count);
    angles_pair(to->paired_sin, to->sin, to->count);
}

/* One tensor of heads, [b, s, heads, d], and its result, of which the last stride may be any. */
typedef struct {
    const scalar_t *from;
    scalar_t *to;
    const int64_t *stride, *to_stride;
    int64_t b, s, heads, d, r;
    bool interleaved;
    bool stream;   /* see turned_streams */
    int64_t ahead; /* elements to what is fetched */
} turned;

static inline void turn_halves(scalar_t *to, const scalar_t *from, const angles *a, const turned *t) {
    const int64_t r = t->r;
    int64_t j = 0;
    for (; j + 2 * VECTOR_LANES <= a->count; j += 2 * VECTOR_LANES) {
        const int64_t i = a->first + j;
        const vector_pair_t c = {vector_load_acc(a->paired_cos + j), vector_load_acc(a->paired_cos + j + VECTOR_LANES)};
        const vector_pair_t s = {vector_load_acc(a->paired_sin + j), vector_load_acc(a->paired_sin + j + VECTOR_LANES)};
        const vector_pair_t x1 = vector_load_pair(from + i), x2 = vector_load_pair(from + r + i);
        vector_prefetch_pair(from + t->ahead + i);
        vector_prefetch_pair(from + t->ahead + r + i);
        vector_store_pair(to + i, x1.a * c.a - x2.a * s.a, x1.b * c.b - x2.b * s.b, t->stream);
        vector_store_pair(to + r + i, x2.a * c.a + x1.a * s.a, x2.b * c.b + x1.b * s.b, t->stream);
    }
    for (; j < a->count; j += VECTOR_LANES) {
        const int64_t count = vector_count(a->count - j), i = a->first + j;
        const vector_t c = vector_load_acc_part(a->cos + j, count), s = vector_load_acc_part(a->sin + j, count);
        const vector_t x1 = vector_load_part(from + i, count), x2 = vector_load_part(from + r + i, count);
        vector_store_part(to + i, x1 * c - x2 * s, count);
        vector_store_part(to + r + i, x2 * c + x1 * s, count);
    }
}

static inline void turn_neighbours(scalar_t *to, const scalar_t *from, const angles *a, const turned *t) {
    int64_t j = 0;
    for (; j + VECTOR_LANES <= a->count; j += VECTOR_LANES) {
        const int64_t i = 2 * (a->first + j);
        const vector_t c = vector_load_acc(a->cos + j), s = vector_load_acc(a->sin + j);
        const vector_pair_t x = vector_load_split(from + i);
        vector_prefetch_pair(from + t->ahead + i);
        vector_store_joined(to + i, (vector_pair_t){x.a * c - x.b * s, x.b * c + x.a * s}, t->stream);
    }
    if (j < a->count) {
        const int64_t count = a->count - j, i = 2 * (a->first + j);
        const vector_t c = vector_load_acc_part(a->cos + j, count), s = vector_load_acc_part(a->sin + j, count);
        const vector_pair_t x = vector_load_split_part(from + i, 2 * count);
        const vector_pair_t y = {x.a * c - x.b * s, x.b * c + x.a * s};
        vector_store_joined_part(to + i, y, 2 * count);
    }
}

/* Results that are not neighbours. */
static inline void turn_apart(scalar_t *to, const scalar_t *from, const angles *a, const turned *t) {
    const int64_t r = t->r, step = t->to_stride[3];
    for (int64_t j = 0; j < a->count; j++) {
        const int64_t i = a->first + j;
        const int64_t one = t->interleaved ? 2 * i : i, other = t->interleaved ? 2 * i + 1 : i + r;
        const acc_t c = a->cos[j], s = a->sin[j];
        const acc_t x1 = load(from + one), x2 = load(from + other);
        store(to + one * step, x1 * c - x2 * s);
        store(to + other * step, x2 * c + x1 * s);
    }
    for (int64_t i = 2 * r; a->first == 0 && i < t->d; i++)
        to[i * step] = from[i];
}

/* Whether results go past the caches: they are large and new, and wherever a vector begins it is aligned. */
static inline bool turned_streams(const turned *t) {
    const int64_t apart = t->to_stride[0] | t->to_stride[1] | t->to_stride[2] | t->r;
    const bool aligned = (uintptr_t)t->to % VECTOR_BYTES == 0 && apart % (VECTOR_BYTES / (int64_t)sizeof *t->to) == 0;
    return aligned && t->to_stride[3] == 1 && t->to != t->from && vector_streams(t->to, t->b * t->s * t->heads * t->d);
}

/* All heads of a token. */
static inline void turn_token(turned *t, const angles *a, int64_t batch, int64_t at) {
    const int64_t columns = t->heads * t->d, far = columns > 0 ? (VECTOR_AHEAD + columns - 1) / columns : 0;
    t->ahead = at + far < t->s ? far * t->stride[1] : 0;
    for (int64_t head = 0; head < t->heads; head++) {
        scalar_t *to = t->to + batch * t->to_stride[0] + at * t->to_stride[1] + head * t->to_stride[2];
        const scalar_t *x = t->from + batch * t->stride[0] + at * t->stride[1] + head * t->stride[2];
        if (t->to_stride[3] != 1) {
            turn_apart(to, x, a, t);
            continue;
        }
        if (t->interleaved) {
            turn_neighbours(to, x, a, t);
        } else {
            turn_halves(to, x, a, t);
        }
        if (a->first == 0 && to != x && 2 * t->r < t->d)
            memcpy(to + 2 * t->r, x + 2 * t->r, (size_t)(t->d - 2 * t->r) * sizeof *x);
    }
}

#endif
