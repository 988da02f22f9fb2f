// Each row in one byte per element and a scale of its own: csrc/device/quantize.cuh has the formulas. A row is read
// once and stays in registers until its largest element is known.
//
// ALIGNED: every row is made of whole, aligned vectors; others are loaded element by element, neighbouring lanes
//          neighbouring ones. With 2 ROWS they go in runs of HELD slabs: row_runs.cuh.
// HELD:    vectors or elements of a row that a thread holds; 0 reads the row twice.
// ROWS:    rows that a thread works on at once, a.lanes lanes each; 0 gives a row to a block or cluster.
#include "quantize_per_token.cuh"

#include "quantize.cuh"

// What a thread holds of a row, as numbers: see row_part.cuh.
template <typename T_, typename Q, bool ALIGNED, int HELD> struct quantized_row {
    using T = T_;
    using shared = float;
    using part = row_part<T, ALIGNED, !ALIGNED>;

    float values[HELD][part::WIDTH];

    struct columns {
        __device__ __forceinline__ void load(const quantize_per_token_args<T, Q> &, const part &) {}
    };

    __device__ __forceinline__ void load(const quantize_per_token_args<T, Q> &a, int64_t row, const part &p) {
        typename part::piece x[HELD];
#pragma unroll
        for (int k = 0; k < HELD; k++) {
            x[k] = p.load(a.x + row * static_cast<int>(a.n), k);
        }
#pragma unroll
        for (int k = 0; k < HELD; k++) {
            part::unpack(x[k], values[k]);
        }
    }

    template <typename Group>
    __device__ __forceinline__ void finish(const quantize_per_token_args<T, Q> &a, int64_t row, const part &p,
                                           const columns &, Group &group) const {
        const float largest = group_max(largest_of(values), group);
        store_quantized(a.q + row * static_cast<int>(a.n), p, factors_of_row<Q>(largest), values);
        if (row < a.rows && group.leads()) {
            a.scale[row] = row_scale<Q>(largest);
        }
    }
};

template <typename T, typename Q>
__device__ __forceinline__ void quantize_in_two_reads(const quantize_per_token_args<T, Q> &a) {
    constexpr int LOADS = 8; // in flight per thread
    __shared__ group_buffer<float> buffers[2];
    const int64_t row = blockIdx.x;
    const T *x = a.x + row * a.n;
    uint8_t *q = reinterpret_cast<uint8_t *>(a.q) + row * a.n;
    float largest = 0;
    row_factors factors = {};
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
                    q[i] = static_cast<uint8_t>(quantized<Q>::byte(factors * values[k]));
                }
            }
        }
        if (read == 0) {
            largest = cluster_max(largest, whole_block(), buffers, 0, 0);
            factors = factors_of_row<Q>(largest);
        }
    }
    if (threadIdx.x == 0) {
        a.scale[row] = row_scale<Q>(largest);
    }
}

template <int VECTORS, typename T, typename Q>
__device__ __forceinline__ void quantize_runs(const quantize_per_token_args<T, Q> &a) {
    row_run<T, VECTORS> run(a.rows, a.n, a.slab, is_aligned(a.x) && is_aligned(a.q));
    run.for_each([&] {
        uint4 x[VECTORS];
        run.load(a.x, x);
        float values[VECTORS][vector_size<T>];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            unpack<T>(x[k], values[k]);
        }
        quantize_run(run, values, a.q, a.scale);
    });
}

template <typename T, typename Q, bool ALIGNED, int HELD, int ROWS>
__device__ void quantize_per_token(const quantize_per_token_args<T, Q> &a) {
    using row = quantized_row<T, Q, ALIGNED, HELD == 0 ? 1 : HELD>;
    if constexpr (!ALIGNED && ROWS == 2) {
        quantize_runs<HELD>(a);
    } else if constexpr (HELD == 0) {
        quantize_in_two_reads(a);
    } else if constexpr (ROWS == 0) {
        rows_by_blocks<row, HELD, HELD == 1>(a, a.x); // rows of one vector for each thread need no cluster
    } else {
        rows_by_lanes<row, ROWS>(a, ALIGNED ? static_cast<int>(a.lanes) : 32);
    }
}
