// Each row in one byte per element and a scale of its own: with m = max(|x|) and L the largest number of Q,
//     scale = m / L    q = x * (L / m), rounded
// both in float. A row is read once and stays in registers until its largest element is known.
//
// ALIGNED: every row is made of whole, aligned vectors; others are loaded element by element, neighbouring lanes
//          neighbouring ones.
// HELD:    vectors or elements of a row that a thread holds; 0 reads the row twice.
// ROWS:    rows that a thread works on at once, a.lanes lanes each; 0 gives a row to a block or cluster.
#include "quantize_per_token.cuh"

#include "float8.cuh"
#include "row_max.cuh"
#include "row_vectors.cuh"

template <typename Q> struct quantized;
template <> struct quantized<int8_t> {
    static constexpr float LARGEST = 127;

    static __device__ __forceinline__ uint32_t pair(float first, float second) {
        return byte(first) | byte(second) << 8;
    }
    static __device__ __forceinline__ uint32_t byte(float value) {
        int whole;
        asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(whole) : "f"(value));
        return static_cast<uint32_t>(whole) & 0xff;
    }
};
template <> struct quantized<__nv_fp8_e4m3> {
    static constexpr float LARGEST = 448;

    static __device__ __forceinline__ uint32_t pair(float first, float second) {
        return __nv_cvt_float2_to_fp8x2(make_float2(first, second), __NV_SATFINITE, __NV_E4M3);
    }
    static __device__ __forceinline__ uint32_t byte(float value) {
        return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
    }
};

// The part of a row that a thread holds, as numbers, zero outside the row.
template <typename T, bool ALIGNED, int HELD> struct held_row {
    static constexpr int SIZE = ALIGNED ? vector_size<T> : 1;
    float values[HELD][SIZE];

    __device__ __forceinline__ void load(const T *row, int n, int first, int stride) {
        if constexpr (ALIGNED) {
            uint4 vectors[HELD];
#pragma unroll
            for (int k = 0; k < HELD; k++) {
                vectors[k] = load_vector<T, true>(row, n, first + k * stride);
            }
#pragma unroll
            for (int k = 0; k < HELD; k++) {
                unpack<T>(vectors[k], values[k]);
            }
        } else {
#pragma unroll
            for (int k = 0; k < HELD; k++) {
                const int column = first + k * stride;
                values[k][0] = column < n ? to_acc(row[column]) : 0.0f;
            }
        }
    }

    __device__ __forceinline__ float largest() const {
        float found = 0;
#pragma unroll
        for (int k = 0; k < HELD; k++) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                found = max_or_nan(found, fabsf(values[k][i]));
            }
        }
        return found;
    }

    template <typename Q>
    __device__ __forceinline__ void store(Q *row, int n, int first, int stride, float factor) const {
#pragma unroll
        for (int k = 0; k < HELD; k++) {
            const int column = first + k * stride;
            if (column < n) {
                if constexpr (ALIGNED) {
                    uint32_t words[SIZE / 4];
#pragma unroll
                    for (int i = 0; i < SIZE; i += 4) {
                        words[i / 4] = quantized<Q>::pair(values[k][i] * factor, values[k][i + 1] * factor) |
                                       quantized<Q>::pair(values[k][i + 2] * factor, values[k][i + 3] * factor) << 16;
                    }
                    if constexpr (SIZE == 8) {
                        __stcg(reinterpret_cast<uint2 *>(row + column), make_uint2(words[0], words[1]));
                    } else {
                        __stcg(reinterpret_cast<uint32_t *>(row + column), words[0]);
                    }
                } else {
                    reinterpret_cast<uint8_t *>(row)[column] =
                        static_cast<uint8_t>(quantized<Q>::byte(values[k][0] * factor));
                }
            }
        }
    }
};

// What elements are multiplied by: finite, so that a zero stays one. A NaN stays a NaN.
template <typename Q> __device__ __forceinline__ float row_factor(float largest) {
    const float factor = quantized<Q>::LARGEST / largest;
    return factor > 3.4028234e38f ? 3.4028234e38f : factor;
}

template <typename T, typename Q, bool ALIGNED, int HELD, int ROWS>
__device__ __forceinline__ void quantize_by_lanes(const quantize_per_token_args<T, Q> &a) {
    using part = held_row<T, ALIGNED, HELD>;
    const int n = static_cast<int>(a.n);
    const int lanes = ALIGNED ? static_cast<int>(a.lanes) : 32;
    const int groups = blockDim.x / lanes;
    const int lane = threadIdx.x % lanes;
    const int first = lane * part::SIZE;
    const int stride = lanes * part::SIZE;
    const int64_t first_row = int64_t{blockIdx.x} * groups * ROWS + threadIdx.x / lanes;
    part x[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t row = first_row + r * groups;
        x[r].load(a.x + row * n, row < a.rows ? n : 0, first, stride);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t row = first_row + r * groups;
        const float largest = lane_max(x[r].largest(), lanes);
        x[r].store(a.q + row * n, row < a.rows ? n : 0, first, stride, row_factor<Q>(largest));
        if (row < a.rows && lane == 0) {
            a.scale[row] = largest / quantized<Q>::LARGEST;
        }
    }
}

template <typename T, typename Q, bool ALIGNED, int HELD>
__device__ __forceinline__ void quantize_by_blocks(const quantize_per_token_args<T, Q> &a) {
    __shared__ group_buffer<float> buffers[2];
    using part = held_row<T, ALIGNED, HELD>;
    constexpr int STRIDE = 32 * part::SIZE; // what a warp holds are neighbours
    const bool alone = HELD == 1;           // such rows need no cluster
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;
    const warp_group group = {warps, warp, 0, alone ? 1 : cluster_blocks(), alone ? 0 : cluster_rank()};
    if (group.blocks > 1) {
        announce_block(buffers);
    }
    const int64_t row = alone ? blockIdx.x : cluster_index();
    const int n = static_cast<int>(a.n);
    const int first = ((group.rank * warps + warp) * HELD * 32 + int(threadIdx.x) % 32) * part::SIZE;
    part x;
    x.load(a.x + row * n, n, first, STRIDE);
    const float own = x.largest();
    if (group.blocks > 1) {
        await_cluster();
    }
    const float largest = cluster_max(own, group, buffers, 0, 0);
    x.store(a.q + row * n, n, first, STRIDE, row_factor<Q>(largest));
    if (group.rank == 0 && threadIdx.x == 0) {
        a.scale[row] = largest / quantized<Q>::LARGEST;
    }
}

template <typename T, typename Q>
__device__ __forceinline__ void quantize_in_two_reads(const quantize_per_token_args<T, Q> &a) {
    constexpr int LOADS = 8; // in flight per thread
    __shared__ group_buffer<float> buffers[2];
    const int64_t row = blockIdx.x;
    const T *x = a.x + row * a.n;
    uint8_t *q = reinterpret_cast<uint8_t *>(a.q) + row * a.n;
    float largest = 0;
    float factor = 0;
#pragma unroll 1
    for (int read = 0; read < 2; read++) {
#pragma unroll 1
        for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
            float values[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                values[k] = to_acc(x[min(first + k * blockDim.x, a.n - 1)]); // no branches between loads
            }
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = first + k * blockDim.x;
                if (read == 0) {
                    largest = max_or_nan(largest, fabsf(values[k])); // the last one may come again
                } else if (i < a.n) {
                    q[i] = static_cast<uint8_t>(quantized<Q>::byte(values[k] * factor));
                }
            }
        }
        if (read == 0) {
            largest = cluster_max(largest, whole_block(), buffers, 0, 0);
            factor = row_factor<Q>(largest);
        }
    }
    if (threadIdx.x == 0) {
        a.scale[row] = largest / quantized<Q>::LARGEST;
    }
}

template <typename T, typename Q, bool ALIGNED, int HELD, int ROWS>
__device__ void quantize_per_token(const quantize_per_token_args<T, Q> &a) {
    if constexpr (HELD == 0) {
        quantize_in_two_reads(a);
    } else if constexpr (ROWS == 0) {
        quantize_by_blocks<T, Q, ALIGNED, HELD>(a);
    } else {
        quantize_by_lanes<T, Q, ALIGNED, HELD, ROWS>(a);
    }
}
