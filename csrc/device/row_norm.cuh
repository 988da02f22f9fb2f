// Rows that are normalised, with mean 0 unless CENTERED:
//     y = (x - mean) * rstd * (offset + weight) + bias with rstd = 1 / sqrt(mean((x - mean)^2) + eps)
// and where ADDED, x is the sum of two tensors, rounded as it is stored.
//
// A row is read once, in 16-byte vectors, and stays in registers between the sums and the product. Short rows share a
// warp, several rows in flight per thread; longer ones take a block, the longest a cluster of blocks. The weight is
// loaded before the sum is known, but for CENTERED rows of blocks. A row that fits nowhere is read once more for each
// sum.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds, more than 4 in shared memory; 0 reads the row several times.
// ROWS:    rows that a thread works on at once, `lanes` lanes each; 0 gives a row to a block or cluster. Short rows
//          that are not ALIGNED take a warp each, and VECTORS counts elements.
#pragma once

#include "moments.cuh"
#include "row_part.cuh"

template <typename T> struct norm_rows {
    const T *x;
    const T *residual; // what is added to x
    const T *weight;   // or null for 1 and an offset of 0
    const T *bias;     // or null for 0
    T *y;
    T *total; // x + residual
    acc_t<T> *mean;
    acc_t<T> *rstd; // or null, and mean with it
    acc_t<T> offset;
    acc_t<T> eps;
    int64_t rows, n, lanes, slab;

    __device__ __forceinline__ int width() const { return static_cast<int>(n); }
    __device__ __forceinline__ acc_t<T> weight_offset() const { return weight != nullptr ? offset : acc_t<T>(1); }
    __device__ __forceinline__ acc_t<T> mean_of(acc_t<T> sum) const {
        return sum * (acc_t<T>(1) / static_cast<acc_t<T>>(n));
    }
    __device__ __forceinline__ acc_t<T> rstd_of(acc_t<T> squares) const { return rsqrt(mean_of(squares) + eps); }

    // By one thread of the row.
    template <bool CENTERED>
    __device__ __forceinline__ void store_statistics(int64_t row, acc_t<T> mean_, acc_t<T> rstd_) const {
        if (rstd != nullptr) {
            rstd[row] = rstd_;
            if constexpr (CENTERED) {
                mean[row] = mean_;
            }
        }
    }
};

// What a thread holds of a row: PIECES of it.
template <typename T_, bool CENTERED, bool ADDED, typename Part, int PIECES> struct norm_row {
    using T = T_;
    using A = acc_t<T>;
    using shared = A;
    using part = Part;
    using piece = typename part::piece;
    static constexpr int WIDTH = part::WIDTH;
    using values = A[WIDTH];

    piece x[PIECES];
    piece residual[ADDED ? PIECES : 1];

    struct columns {
        piece weight[PIECES];
        piece bias[CENTERED ? PIECES : 1];

        __device__ __forceinline__ void load(const norm_rows<T> &a, const part &p) {
            load_column(a.weight, p, weight);
            if constexpr (CENTERED) {
                load_column(a.bias, p, bias);
            }
        }
    };

    static __device__ __forceinline__ void load_column(const T *from, const part &p, piece (&to)[PIECES]) {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            to[k] = p.load_common(from, from != nullptr ? p.n : 0, k);
        }
    }

    // In place, x and residual are written.
    __device__ __forceinline__ void load(const norm_rows<T> &a, int64_t row, const part &p) {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            x[k] = p.template load_row<!ADDED>(a.x, a.rows, a.x + row * a.width(), k);
        }
        if constexpr (ADDED) {
#pragma unroll
            for (int k = 0; k < PIECES; k++) {
                residual[k] = p.template load_row<!ADDED>(a.residual, a.rows, a.residual + row * a.width(), k);
            }
        }
    }

    template <typename Group>
    __device__ __forceinline__ void finish(const norm_rows<T> &a, int64_t row, const part &p, const columns &c,
                                           Group &group) {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            p.clear_outside(x[k], k);
            if constexpr (ADDED) {
                p.clear_outside(residual[k], k);
            }
        }
        if constexpr (ADDED) {
            add_residual(a, row, p);
        }
        A mean = 0;
        if constexpr (CENTERED) {
            mean = a.mean_of(group.sum(sum()));
        }
        const A rstd = a.rstd_of(group.sum(squares(p, mean)));
        const A offset = a.weight_offset();
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            values v;
            normalize(k, mean, rstd, offset, c, v);
            p.store(a.y + row * a.width(), k, v);
        }
        if (p.n > 0 && group.leads()) {
            a.template store_statistics<CENTERED>(row, mean, rstd);
        }
    }

    // The elements of piece k of y.
    __device__ __forceinline__ void normalize(int k, A mean, A rstd, A offset, const columns &c, values &v) const {
        values weight, bias;
        part::unpack(x[k], v);
        part::unpack(c.weight[k], weight);
        part::unpack(c.bias[CENTERED ? k : 0], bias);
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            v[i] =
                CENTERED ? (v[i] - mean) * rstd * (offset + weight[i]) + bias[i] : v[i] * rstd * (offset + weight[i]);
        }
    }

    __device__ __forceinline__ void add_residual(const norm_rows<T> &a, int64_t row, const part &p) {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            values v, more;
            part::unpack(x[k], v);
            part::unpack(residual[k], more);
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                v[i] += more[i];
            }
            p.store(a.total + row * a.width(), k, v);
            x[k] = part::pack(v);
        }
    }

    __device__ __forceinline__ A sum() const {
        A found = 0;
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            values v;
            part::unpack(x[k], v);
            A of_piece = v[0]; // a chain of additions for each piece
#pragma unroll
            for (int i = 1; i < WIDTH; i++) {
                of_piece += v[i];
            }
            found += of_piece;
        }
        return found;
    }

    // Elements outside the row are 0.
    __device__ __forceinline__ A squares(const part &p, A mean) const {
        A found = 0;
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            values v;
            part::unpack(x[k], v);
            A of_piece = 0;
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                const A centered = CENTERED ? (p.has(k, i) ? v[i] - mean : A(0)) : v[i];
                of_piece = i == 0 ? centered * centered : of_piece + centered * centered;
            }
            found += of_piece;
        }
        return found;
    }
};

// The vectors that a thread holds of a row: in registers, or SHARED, 32 apart.
template <int PIECES, bool SHARED> struct held_vectors {
    uint4 vectors[PIECES];
    __device__ __forceinline__ const uint4 &operator[](int k) const { return vectors[k]; }
};
template <int PIECES> struct held_vectors<PIECES, true> {
    const uint4 *slots;
    __device__ __forceinline__ const uint4 &operator[](int k) const { return slots[k * 32]; }
};

// A CENTERED row of a block or cluster, PIECES vectors for each thread. The mean and the squared distances to it are
// found in one pass and one exchange. Weight and bias are loaded late, which leaves registers for more rows; a single
// vector for each thread is for few rows, which have registers enough.
template <typename T_, bool ALIGNED, int PIECES, bool SHARED> struct centered_row : held_vectors<PIECES, SHARED> {
    using T = T_;
    using A = acc_t<T>;
    using shared = moments<A>;
    using part = row_part<T, ALIGNED>;
    static constexpr int WIDTH = part::WIDTH;
    using values = A[WIDTH];

    struct columns {
        uint4 weight, bias;

        __device__ __forceinline__ void load(const norm_rows<T> &a, const part &p) {
            if constexpr (PIECES == 1) {
                load_piece(a, p, 0);
            }
        }
        __device__ __forceinline__ void load_piece(const norm_rows<T> &a, const part &p, int k) {
            weight = p.load_common(a.weight, a.weight != nullptr ? p.n : 0, k);
            bias = p.load_common(a.bias, a.bias != nullptr ? p.n : 0, k);
        }
    };

    __device__ __forceinline__ void load(const norm_rows<T> &a, int64_t row, const part &p) {
        if constexpr (!SHARED) {
#pragma unroll
            for (int k = 0; k < PIECES; k++) {
                this->vectors[k] = p.load(a.x + row * a.width(), k);
            }
        }
    }

    __device__ __forceinline__ void finish(const norm_rows<T> &a, int64_t row, const part &p, columns &c,
                                           block_group<shared> &group) const {
        const moments<A> found = row_moments(p, group);
        const A rstd = a.rstd_of(found.squares);
        const A offset = a.weight_offset();
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            values v, weight, bias;
            if constexpr (PIECES > 1) {
                c.load_piece(a, p, k);
            }
            unpack<T>(c.weight, weight);
            unpack<T>(c.bias, bias);
            unpack<T>((*this)[k], v);
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                v[i] = (v[i] - found.mean) * rstd * (offset + weight[i]) + bias[i];
            }
            p.store(a.y + row * a.width(), k, v);
        }
        if (group.leads()) {
            a.template store_statistics<true>(row, found.mean, rstd);
        }
    }

    __device__ __forceinline__ moments<A> row_moments(const part &p, block_group<shared> &group) const {
        constexpr int COLUMNS = PIECES * 32 * WIDTH; // of a warp
        const int warp = group.warps.rank * group.warps.warps + group.warps.warp;
        const int origin = p.first - int(threadIdx.x) % 32 * WIDTH - warp * COLUMNS;
        auto columns_of = [&](int i) {
            const int start = origin + i * COLUMNS;
            return static_cast<A>(max(0, min(p.n, start + COLUMNS) - max(0, start)));
        };
        A count;
        const moments<A> own = own_moments(p, count);
        const moments<A> of_warp = lane_moments(own, count, columns_of(warp), 32);
        return group_moments(of_warp, group.warps, group.buffers, group.next_round(), columns_of);
    }

    // Of the elements that the thread holds, `count` of them: sums of distances to one of them, so that what cancels is
    // no more than their number times as large as what is left.
    __device__ __forceinline__ moments<A> own_moments(const part &p, A &count) const {
        values v;
        unpack<T>((*this)[0], v);
        const A origin = p.first < 0 ? v[WIDTH - 1] : v[0];
        A sum = 0;
        A squares = 0;
        int held = 0;
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            unpack<T>((*this)[k], v);
            const int inside = p.inside(k);
            held += inside;
            if (!ALIGNED && inside < WIDTH) {
#pragma unroll
                for (int i = 0; i < WIDTH; i++) {
                    v[i] = p.has(k, i) ? v[i] : origin;
                }
            }
            A piece_sum = 0;
            A piece_squares = 0;
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                const A distance = v[i] - origin;
                piece_sum = i == 0 ? distance : piece_sum + distance;
                piece_squares = i == 0 ? distance * distance : piece_squares + distance * distance;
            }
            sum += inside > 0 ? piece_sum : A(0);
            squares += inside > 0 ? piece_squares : A(0);
        }
        count = static_cast<A>(held);
        const A inverse = held == PIECES * WIDTH ? A(1) / (PIECES * WIDTH) : A(1) / max(count, A(1));
        const A offset = sum * inverse;
        const A rest = squares - offset * sum;
        return {origin + offset, rest < 0 ? A(0) : rest};
    }
};

// A block for each row, which it reads for each sum and once more for y.
template <bool CENTERED, bool ADDED, typename T>
__device__ __forceinline__ void normalize_in_reads(const norm_rows<T> &a) {
    using A = acc_t<T>;
    constexpr int LOADS = CENTERED || ADDED ? 4 : 8; // in flight per thread and tensor
    constexpr int READS = CENTERED ? 3 : 2;
    __shared__ group_buffer<A> buffers[2];
    const int64_t start = blockIdx.x * a.n;
    const A offset = a.weight_offset();
    A mean = 0;
    A rstd = 0;
#pragma unroll 1
    for (int read = 0; read < READS; read++) {
        const bool last = read == READS - 1;
        const T *x = (ADDED && read > 0 ? a.total : a.x) + start;
        A sum = 0;
#pragma unroll 1
        for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
            A v[LOADS], weight[LOADS], bias[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = min(first + k * blockDim.x, a.n - 1); // no branches between loads
                v[k] = to_acc(x[i]);
                weight[k] = last && a.weight != nullptr ? to_acc(a.weight[i]) : A(0);
                bias[k] = CENTERED && last && a.bias != nullptr ? to_acc(a.bias[i]) : A(0);
                if (ADDED && read == 0) {
                    v[k] = to_acc(from_acc<T>(v[k] + to_acc(a.residual[start + i])));
                }
            }
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = first + k * blockDim.x;
                if (i < a.n) {
                    const A centered = v[k] - mean;
                    sum += CENTERED && read == 0 ? centered : centered * centered;
                    if (ADDED && read == 0) {
                        a.total[start + i] = from_acc<T>(v[k]);
                    }
                    if (last) {
                        a.y[start + i] = from_acc<T>(centered * rstd * (offset + weight[k]) + bias[k]);
                    }
                }
            }
        }
        if (!last) {
            sum = group_sum(sum, whole_block(), buffers, 0, read);
            if (CENTERED && read == 0) {
                mean = a.mean_of(sum);
            } else {
                rstd = a.rstd_of(sum);
            }
        }
    }
    if (threadIdx.x == 0) {
        a.template store_statistics<CENTERED>(blockIdx.x, mean, rstd);
    }
}
