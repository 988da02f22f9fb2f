// Rows that are normalised, with mean 0 unless CENTERED:
//     y = (x - mean) * rstd * (offset + weight) + bias with rstd = 1 / sqrt(mean((x - mean)^2) + eps)
// and where ADDED, x is the sum of two tensors, rounded as it is stored.
//
// A row is read once, in 16-byte vectors, and stays in registers between the sums and the product. Short rows share a
// warp, several rows in flight per thread; longer ones take a block, the longest a cluster of blocks. The weight is
// loaded before the sum is known. A row that fits nowhere is read once more for each sum.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 reads the row several times.
// ROWS:    rows that a thread works on at once, `lanes` lanes each; 0 gives a row to a block or cluster. Short rows
//          that are not ALIGNED take a warp each, and VECTORS counts elements.
#pragma once

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
    int64_t rows, n, lanes;

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
        const part given = {from != nullptr ? p.n : 0, p.first, p.stride};
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            to[k] = given.load(from, k);
        }
    }

    // In place, x and residual are written.
    __device__ __forceinline__ void load(const norm_rows<T> &a, int64_t row, const part &p) {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            x[k] = p.template load<!ADDED>(a.x + row * a.width(), k);
        }
        if constexpr (ADDED) {
#pragma unroll
            for (int k = 0; k < PIECES; k++) {
                residual[k] = p.template load<!ADDED>(a.residual + row * a.width(), k);
            }
        }
    }

    template <typename Group>
    __device__ __forceinline__ void finish(const norm_rows<T> &a, int64_t row, const part &p, const columns &c,
                                           Group &group) {
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
            values v, weight, bias;
            part::unpack(x[k], v);
            part::unpack(c.weight[k], weight);
            part::unpack(c.bias[CENTERED ? k : 0], bias);
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                v[i] = CENTERED ? (v[i] - mean) * rstd * (offset + weight[i]) + bias[i]
                                : v[i] * rstd * (offset + weight[i]);
            }
            p.store(a.y + row * a.width(), k, v);
        }
        if (p.n > 0 && group.leads()) {
            a.template store_statistics<CENTERED>(row, mean, rstd);
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

template <bool CENTERED, bool ADDED, bool ALIGNED, int VECTORS, int ROWS, typename T>
__device__ __forceinline__ void normalize_rows(const norm_rows<T> &a) {
    if constexpr (VECTORS == 0) {
        normalize_in_reads<CENTERED, ADDED>(a);
    } else if constexpr (ROWS == 0) {
        using row = norm_row<T, CENTERED, ADDED, row_part<T, ALIGNED>, VECTORS>;
        rows_by_blocks<row, VECTORS, VECTORS == 1>(a, a.x);
    } else {
        using row = norm_row<T, CENTERED, ADDED, row_part<T, ALIGNED, !ALIGNED>, VECTORS>;
        rows_by_lanes<row, ROWS>(a, ALIGNED ? static_cast<int>(a.lanes) : 32);
    }
}
