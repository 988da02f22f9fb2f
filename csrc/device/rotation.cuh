// Rotary position embedding: pairs of columns of each head, turned by an angle that depends on the token and the pair.
//     x1 cos - x2 sin,  x2 cos + x1 sin
// The columns from 2 r on are copied. https://arxiv.org/abs/2104.09864
//
// A thread takes WIDTH pairs of HEADS heads of one token, so that it loads their angles once; neighbouring threads have
// neighbouring pairs. q and k lie side by side in one count of heads. Each element is read by the thread that writes
// it, so results may take the place of what is read.
//
// WIDTH:       elements of one access.
// INTERLEAVED: pair j is columns 2 j and 2 j + 1, else j and j + r.
#pragma once

#include "row_vectors.cuh"

// Elements that are loaded and stored together. ALIGNMENT is that of their address, in bytes.
template <typename T, int WIDTH, int ALIGNMENT>
struct alignas(ALIGNMENT > int(sizeof(T)) ? ALIGNMENT : int(sizeof(T))) packed {
    T values[WIDTH];
};

// Heads of every token: b x s x heads x d. What is read has neighbouring columns; what is written has them `step`
// apart, which is 1 where WIDTH is not.
template <typename T> struct token_heads {
    const T *from;
    T *to; // or null, where nothing is wanted
    int64_t heads;
    int64_t from_stride[3];
    int64_t to_stride[3];
    int64_t step;
};

template <typename T, typename C> struct rotation {
    token_heads<T> q, k;
    const C *cos;
    const C *sin;
    int64_t cos_stride, sin_stride; // from one token to the next
    bool each_batch;                // has angles of its own
    acc_t<T> sign;                  // of the angles
    int64_t b, s, r, d;
};

constexpr int ROTATED_HEADS = 4;

template <typename T, typename C, int WIDTH, bool INTERLEAVED>
__device__ __forceinline__ void rotate(const rotation<T, C> &a) {
    using A = acc_t<T>;
    constexpr int ALIGNMENT = WIDTH * sizeof(T);
    using part = packed<T, WIDTH, ALIGNMENT>;
    using angle = packed<C, WIDTH, ALIGNMENT>;
    const int64_t heads = a.q.heads + a.k.heads;
    const int64_t rotated = a.r / WIDTH;
    const int64_t parts = rotated + (a.d - 2 * a.r + 2 * WIDTH - 1) / (2 * WIDTH);
    const int64_t groups = (heads + ROTATED_HEADS - 1) / ROTATED_HEADS;
    const quotient by_parts = divided(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, parts);
    const quotient by_groups = divided(by_parts.whole, groups);
    const quotient token = divided(by_groups.whole, a.s); // of a batch
    if (token.whole >= a.b) {
        return;
    }
    const bool turns = by_parts.rest < rotated;
    const int64_t rest = 2 * a.r + (by_parts.rest - rotated) * 2 * WIDTH;
    const int64_t first = !turns ? rest : INTERLEAVED ? by_parts.rest * 2 * WIDTH : by_parts.rest * WIDTH;
    const int64_t second = first + (turns && !INTERLEAVED ? a.r : WIDTH);

    const T *from[ROTATED_HEADS];
    T *to[ROTATED_HEADS];
    int64_t step[ROTATED_HEADS];
    part x1[ROTATED_HEADS], x2[ROTATED_HEADS];
#pragma unroll
    for (int i = 0; i < ROTATED_HEADS; i++) {
        const int64_t head = by_groups.rest * ROTATED_HEADS + i;
        const bool is_q = head < a.q.heads;
        const int64_t index = is_q ? head : head - a.q.heads;
        from[i] = is_q ? a.q.from : a.k.from;
        to[i] = is_q ? a.q.to : a.k.to;
        step[i] = WIDTH > 1 ? 1 : is_q ? a.q.step : a.k.step;
        const int64_t at[3] = {token.whole, token.rest, index};
#pragma unroll
        for (int dim = 0; dim < 3; dim++) {
            from[i] += at[dim] * (is_q ? a.q.from_stride[dim] : a.k.from_stride[dim]);
            to[i] += to[i] != nullptr ? at[dim] * (is_q ? a.q.to_stride[dim] : a.k.to_stride[dim]) : 0;
        }
        if (head >= heads) {
            to[i] = nullptr;
        }
        if (to[i] != nullptr) {
            x1[i] = *reinterpret_cast<const part *>(from[i] + first);
            if (second < a.d) {
                x2[i] = *reinterpret_cast<const part *>(from[i] + second);
            }
        }
    }
    if (!turns) {
#pragma unroll
        for (int i = 0; i < ROTATED_HEADS; i++) {
            if (to[i] != nullptr) {
                *reinterpret_cast<part *>(to[i] + first * step[i]) = x1[i];
                if (second < a.d) {
                    *reinterpret_cast<part *>(to[i] + second * step[i]) = x2[i];
                }
            }
        }
        return;
    }
    const int64_t angles = (a.each_batch ? token.whole * a.s : 0) + token.rest;
    const int64_t pair = by_parts.rest * WIDTH;
    const angle cos = *reinterpret_cast<const angle *>(a.cos + angles * a.cos_stride + pair);
    const angle sin = *reinterpret_cast<const angle *>(a.sin + angles * a.sin_stride + pair);
#pragma unroll
    for (int i = 0; i < ROTATED_HEADS; i++) {
        if (to[i] == nullptr) {
            continue;
        }
        T *elements[2] = {x1[i].values, x2[i].values};
#pragma unroll
        for (int j = 0; j < WIDTH; j++) {
            // The pair's places: side by side in both parts together, or one in each.
            T &one = INTERLEAVED ? elements[2 * j / WIDTH][2 * j % WIDTH] : x1[i].values[j];
            T &other = INTERLEAVED ? elements[(2 * j + 1) / WIDTH][(2 * j + 1) % WIDTH] : x2[i].values[j];
            const A c = static_cast<A>(to_acc(cos.values[j]));
            const A s = a.sign * static_cast<A>(to_acc(sin.values[j]));
            const A u = to_acc(one);
            const A v = to_acc(other);
            one = from_acc<T>(u * c - v * s);
            other = from_acc<T>(v * c + u * s);
        }
        *reinterpret_cast<part *>(to[i] + first * step[i]) = x1[i];
        *reinterpret_cast<part *>(to[i] + second * step[i]) = x2[i];
    }
}
