/* Rotary position embedding: pairs of columns of each head, rotated by an angle that depends on the token and the pair.
 *     x1 cos - x2 sin,  x2 cos + x1 sin
 * Pair j is columns j and j + r, or 2 j and 2 j + 1 where interleaved. The columns from 2 r on are copied. The angles
 * of a token are converted once for all heads. Results may take the place of what is read.
 *
 * Included by bodies whose second dtype variable, of cos and sin, is C. */
#ifndef CSRC_CPU_ROTATION_H
#define CSRC_CPU_ROTATION_H

#include "vector_split.h"

enum { ANGLES = 512 }; /* pairs at a time */

/* Heads of every token, [b, s, heads, d], and their results, of which the last stride may be any. */
typedef struct {
    const scalar_t *from;
    scalar_t *to; /* or null, where nothing is wanted */
    const int64_t *from_stride, *to_stride;
    int64_t heads;
    int64_t ahead; /* elements from what is read to what is fetched */
    bool stream;   /* results go past the caches */
} token_heads;

typedef struct {
    token_heads q, k;
    const C_t *cos, *sin;
    int64_t cos_stride, sin_stride; /* from one token to the next */
    bool each_batch;                /* has angles of its own */
    bool interleaved;
    acc_t sign; /* of the angles */
    int64_t b, s, d, r;
} rotation;

/* Of some pairs: in the order of memory, and in that of vector pairs, as many as fill these. */
typedef struct {
    int64_t first, count;
    acc_t cos[ANGLES], sin[ANGLES];
    acc_t paired_cos[ANGLES], paired_sin[ANGLES];
} angles;

static inline void pair_angles(acc_t *to, const acc_t *from, int64_t count) {
    for (int64_t j = 0; j + 2 * VECTOR_LANES <= count; j += 2 * VECTOR_LANES) {
        const vector_pair_t plain = {vector_load_acc(from + j), vector_load_acc(from + j + VECTOR_LANES)};
        const vector_pair_t v = vector_pair_order(plain);
        vector_store_acc(to + j, v.a);
        vector_store_acc(to + j + VECTOR_LANES, v.b);
    }
}

static inline void load_angles(angles *to, const C_t *cos, const C_t *sin, acc_t sign, int64_t first, int64_t r) {
    to->first = first;
    to->count = r - first < ANGLES ? r - first : ANGLES;
    for (int64_t j = 0; j < to->count; j++) {
        to->cos[j] = (acc_t)load_C(cos + first + j);
        to->sin[j] = sign * (acc_t)load_C(sin + first + j);
    }
    pair_angles(to->paired_cos, to->cos, to->count);
    pair_angles(to->paired_sin, to->sin, to->count);
}

static inline void rotate_halves(scalar_t *to, const scalar_t *from, const angles *a, int64_t r, const token_heads *x) {
    int64_t j = 0;
    for (; j + 2 * VECTOR_LANES <= a->count; j += 2 * VECTOR_LANES) {
        const int64_t i = a->first + j;
        const vector_pair_t c = {vector_load_acc(a->paired_cos + j), vector_load_acc(a->paired_cos + j + VECTOR_LANES)};
        const vector_pair_t s = {vector_load_acc(a->paired_sin + j), vector_load_acc(a->paired_sin + j + VECTOR_LANES)};
        const vector_pair_t x1 = vector_load_pair(from + i), x2 = vector_load_pair(from + r + i);
        vector_prefetch_pair(from + x->ahead + i);
        vector_prefetch_pair(from + x->ahead + r + i);
        vector_store_pair(to + i, x1.a * c.a - x2.a * s.a, x1.b * c.b - x2.b * s.b, x->stream);
        vector_store_pair(to + r + i, x2.a * c.a + x1.a * s.a, x2.b * c.b + x1.b * s.b, x->stream);
    }
    for (; j < a->count; j += VECTOR_LANES) {
        const int64_t count = vector_count(a->count - j), i = a->first + j;
        const vector_t c = vector_load_acc_part(a->cos + j, count), s = vector_load_acc_part(a->sin + j, count);
        const vector_t x1 = vector_load_part(from + i, count), x2 = vector_load_part(from + r + i, count);
        vector_store_part(to + i, x1 * c - x2 * s, count);
        vector_store_part(to + r + i, x2 * c + x1 * s, count);
    }
}

static inline void rotate_neighbours(scalar_t *to, const scalar_t *from, const angles *a, const token_heads *x) {
    int64_t j = 0;
    for (; j + VECTOR_LANES <= a->count; j += VECTOR_LANES) {
        const int64_t i = 2 * (a->first + j);
        const vector_t c = vector_load_acc(a->cos + j), s = vector_load_acc(a->sin + j);
        const vector_pair_t v = vector_load_split(from + i);
        vector_prefetch_pair(from + x->ahead + i);
        vector_store_joined(to + i, (vector_pair_t){v.a * c - v.b * s, v.b * c + v.a * s}, x->stream);
    }
    if (j < a->count) {
        const int64_t count = a->count - j, i = 2 * (a->first + j);
        const vector_t c = vector_load_acc_part(a->cos + j, count), s = vector_load_acc_part(a->sin + j, count);
        const vector_pair_t v = vector_load_split_part(from + i, 2 * count);
        const vector_pair_t y = {v.a * c - v.b * s, v.b * c + v.a * s};
        vector_store_joined_part(to + i, y, 2 * count);
    }
}

/* Results that are not neighbours. */
static inline void rotate_strided(scalar_t *to, int64_t step, const scalar_t *from, const angles *a,
                                  const rotation *heads) {
    const int64_t r = heads->r;
    for (int64_t j = 0; j < a->count; j++) {
        const int64_t i = a->first + j;
        const int64_t one = heads->interleaved ? 2 * i : i, other = heads->interleaved ? 2 * i + 1 : i + r;
        const acc_t c = a->cos[j], s = a->sin[j];
        const acc_t x1 = load(from + one), x2 = load(from + other);
        store(to + one * step, x1 * c - x2 * s);
        store(to + other * step, x2 * c + x1 * s);
    }
    for (int64_t i = 2 * r; a->first == 0 && i < heads->d; i++)
        to[i * step] = from[i];
}

/* All heads of a token. */
static inline void rotate_token(token_heads *x, const angles *a, const rotation *heads, int64_t batch, int64_t at) {
    const int64_t d = heads->d, r = heads->r, columns = x->heads * d;
    const int64_t tokens_ahead = columns > 0 ? (VECTOR_AHEAD + columns - 1) / columns : 0;
    x->ahead = at + tokens_ahead < heads->s ? tokens_ahead * x->from_stride[1] : 0;
    for (int64_t head = 0; head < x->heads; head++) {
        const int64_t *const to_stride = x->to_stride, *const from_stride = x->from_stride;
        scalar_t *to = x->to + batch * to_stride[0] + at * to_stride[1] + head * to_stride[2];
        const scalar_t *from = x->from + batch * from_stride[0] + at * from_stride[1] + head * from_stride[2];
        if (to_stride[3] != 1) {
            rotate_strided(to, to_stride[3], from, a, heads);
            continue;
        }
        if (heads->interleaved) {
            rotate_neighbours(to, from, a, x);
        } else {
            rotate_halves(to, from, a, r, x);
        }
        if (a->first == 0 && to != from && 2 * r < d)
            memcpy(to + 2 * r, from + 2 * r, (size_t)(d - 2 * r) * sizeof *to);
    }
}

/* Whether results go past the caches: they are large and new, and wherever a vector begins it is aligned. */
static inline bool rotation_streams(const token_heads *x, const rotation *heads) {
    const int64_t apart = x->to_stride[0] | x->to_stride[1] | x->to_stride[2] | heads->r;
    const bool aligned = (uintptr_t)x->to % VECTOR_BYTES == 0 && apart % (VECTOR_BYTES / (int64_t)sizeof *x->to) == 0;
    return x->to && aligned && x->to_stride[3] == 1 && x->to != x->from &&
           vector_streams(x->to, heads->b * heads->s * x->heads * heads->d);
}

/* The tokens [begin, end) of all batches. */
static inline void rotate_tokens(rotation *heads, int64_t begin, int64_t end) {
    token_heads *const q = &heads->q, *const k = &heads->k;
    q->stream = rotation_streams(q, heads);
    k->stream = rotation_streams(k, heads);
    angles a;
    for (int64_t token = begin; token < end; token++) {
        const int64_t batch = token / heads->s, at = token % heads->s, row = heads->each_batch ? token : at;
        const C_t *const cos = heads->cos + row * heads->cos_stride, *const sin = heads->sin + row * heads->sin_stride;
        int64_t first = 0;
        do {
            load_angles(&a, cos, sin, heads->sign, first, heads->r);
            if (q->to)
                rotate_token(q, &a, heads, batch, at);
            if (k->to)
                rotate_token(k, &a, heads, batch, at);
            first += ANGLES;
        } while (first < heads->r);
    }
    if (q->stream || k->stream)
        vector_stream_end();
}

#endif
