// Rotary position embedding: pairs of columns of each head, rotated by an angle that depends on the token and the pair.
//     x1 cos - x2 sin,  x2 cos + x1 sin
// The columns from 2 r on are copied. https://arxiv.org/abs/2104.09864
//
// A thread takes WIDTH pairs of up to ROTATED_HEADS heads of q or of k of one token, so that it loads their angles
// once; neighbouring threads have neighbouring pairs. A row of the grid is a batch, or every 65,535th. Each element is
// read by the thread that writes it, so results may take the place of what is read.
//
// WIDTH:       elements of one access.
// INTERLEAVED: pair j is columns 2 j and 2 j + 1, else j and j + r.
#pragma once

#include "memory_words.cuh"
#include "row_vectors.cuh"

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

// Field by field: a reference to either would need both in memory.
template <typename T>
__device__ __forceinline__ token_heads<T> select_heads(bool first, const token_heads<T> &q, const token_heads<T> &k) {
    token_heads<T> x;
    x.from = first ? q.from : k.from;
    x.to = first ? q.to : k.to;
    x.heads = first ? q.heads : k.heads;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        x.from_stride[i] = first ? q.from_stride[i] : k.from_stride[i];
        x.to_stride[i] = first ? q.to_stride[i] : k.to_stride[i];
    }
    x.step = first ? q.step : k.step;
    return x;
}

template <bool INTERLEAVED, typename T, typename C, int WIDTH, typename Part>
__device__ __forceinline__ void rotate_pairs(Part &x1, Part &x2, const C (&cos)[WIDTH], const C (&sin)[WIDTH],
                                             acc_t<T> sign) {
    using A = acc_t<T>;
    T x[2][WIDTH];
    x1.unpack(x[0]);
    x2.unpack(x[1]);
#pragma unroll
    for (int j = 0; j < WIDTH; j++) {
        // The pair's places: side by side in both parts together, or one in each.
        T &one = INTERLEAVED ? x[2 * j / WIDTH][2 * j % WIDTH] : x[0][j];
        T &other = INTERLEAVED ? x[(2 * j + 1) / WIDTH][(2 * j + 1) % WIDTH] : x[1][j];
        const A c = static_cast<A>(to_acc(cos[j]));
        const A s = sign * static_cast<A>(to_acc(sin[j]));
        const A u = to_acc(one);
        const A v = to_acc(other);
        one = from_acc<T>(u * c - v * s);
        other = from_acc<T>(v * c + u * s);
    }
    x1.pack(x[0]);
    x2.pack(x[1]);
}

template <typename T, typename C, int WIDTH, bool INTERLEAVED>
__device__ __forceinline__ void rotate_heads(const rotation<T, C> &a) {
    constexpr int ALIGNMENT = WIDTH * sizeof(T);
    using part = words_of<T, WIDTH, ALIGNMENT>;
    using angle = words_of<C, WIDTH, ALIGNMENT>;
    const int64_t rotated = a.r / WIDTH;
    const int64_t parts = rotated + (a.d - 2 * a.r + 2 * WIDTH - 1) / (2 * WIDTH);
    const int64_t groups_of_q = (a.q.heads + ROTATED_HEADS - 1) / ROTATED_HEADS;
    const int64_t groups = groups_of_q + (a.k.heads + ROTATED_HEADS - 1) / ROTATED_HEADS;
    const divmod_result by_token = divmod(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, parts * groups);
    const divmod_result by_group = divmod(by_token.remainder, parts);
    const int64_t token = by_token.quotient;
    const int64_t group = by_group.quotient;
    const int64_t number = by_group.remainder; // of the part
    if (token >= a.s) {
        return;
    }
    const bool is_q = group < groups_of_q;
    const token_heads<T> x = select_heads(is_q, a.q, a.k);
    if (x.to == nullptr) {
        return;
    }
    const int64_t head = (is_q ? group : group - groups_of_q) * ROTATED_HEADS;
    const int heads = static_cast<int>(min(int64_t{ROTATED_HEADS}, x.heads - head));
    const bool is_rotated = number < rotated;
    const int64_t pair = number * WIDTH;
    const int64_t first = !is_rotated ? 2 * pair : INTERLEAVED ? 2 * pair : pair;
    const int64_t second = first + (is_rotated && !INTERLEAVED ? a.r : WIDTH);
    const bool has_second = second < a.d;
    const int64_t step = WIDTH > 1 ? 1 : x.step;

    for (int64_t batch = blockIdx.y; batch < a.b; batch += gridDim.y) {
        angle cos = {}, sin = {};
        if (is_rotated) {
            const int64_t row = (a.each_batch ? batch * a.s : 0) + token;
            cos.load(a.cos + row * a.cos_stride + pair);
            sin.load(a.sin + row * a.sin_stride + pair);
        }
        const T *from = x.from + batch * x.from_stride[0] + token * x.from_stride[1] + head * x.from_stride[2];
        T *to = x.to + batch * x.to_stride[0] + token * x.to_stride[1] + head * x.to_stride[2];
        part x1[ROTATED_HEADS], x2[ROTATED_HEADS];
#pragma unroll
        for (int i = 0; i < ROTATED_HEADS; i++) {
            if (i < heads) {
                x1[i].load(from + i * x.from_stride[2] + first);
                if (has_second) {
                    x2[i].load(from + i * x.from_stride[2] + second);
                }
            }
        }
        C c[WIDTH], s[WIDTH];
        cos.unpack(c);
        sin.unpack(s);
#pragma unroll
        for (int i = 0; i < ROTATED_HEADS; i++) {
            if (i < heads) {
                if (is_rotated) {
                    rotate_pairs<INTERLEAVED, T>(x1[i], x2[i], c, s, a.sign);
                }
                x1[i].store(to + i * x.to_stride[2] + first * step);
                if (has_second) {
                    x2[i].store(to + i * x.to_stride[2] + second * step);
                }
            }
        }
    }
}
