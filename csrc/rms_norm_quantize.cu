// y = x * rstd * (offset + weight) with rstd = 1 / sqrt(mean(x^2) + eps), for each row, in one byte per element and a
// scale of its own: csrc/device/row_norm.cuh and csrc/device/quantize.cuh have the formulas. y is never rounded to T.
//
// A row is read once and stays in registers until its squares are summed, and as y until its largest element is known.
//
// ALIGNED: every row is made of whole, aligned vectors; others are loaded element by element, neighbouring lanes
//          neighbouring ones. With 2 ROWS they go in runs of HELD slabs: row_runs.cuh.
// HELD:    vectors or elements of a row that a thread holds; 0 reads the row three times.
// ROWS:    rows that a thread works on at once, a.lanes lanes each; 0 gives a row to a block or cluster.
#include "rms_norm_quantize.cuh"

#include "norm_runs.cuh"
#include "quantize.cuh"

template <typename T, typename Q> struct quantized_rows : norm_rows<T> {
    Q *q;
    float *scale;
};

// What a thread holds of a row: see row_part.cuh.
template <typename T_, typename Q, bool ALIGNED, int HELD>
struct quantized_norm_row : norm_row<T_, false, false, row_part<T_, ALIGNED, !ALIGNED>, HELD> {
    using T = T_;
    using norm = norm_row<T, false, false, row_part<T, ALIGNED, !ALIGNED>, HELD>;

    template <typename Group>
    __device__ __forceinline__ void finish(const quantized_rows<T, Q> &a, int64_t row, const typename norm::part &p,
                                           const typename norm::columns &c, Group &group) const {
        const float rstd = a.rstd_of(group.sum(this->squares(p, 0)));
        const float offset = a.weight_offset();
        float y[HELD][norm::WIDTH];
#pragma unroll
        for (int k = 0; k < HELD; k++) {
            this->normalize(k, 0, rstd, offset, c, y[k]);
#pragma unroll
            for (int i = 0; i < norm::WIDTH; i++) {
                y[k][i] = p.has(k, i) ? y[k][i] : 0.0f; // an infinite rstd makes a NaN of zero
            }
        }
        const float largest = group_max(largest_of(y), group);
        store_quantized(a.q + row * a.width(), p, factors_of_row<Q>(largest), y);
        if (row < a.rows && group.leads()) {
            a.scale[row] = row_scale<Q>(largest);
        }
    }
};

// A block for each row, which it reads for the sum, for the largest element of y, and for q.
template <typename T, typename Q>
__device__ __forceinline__ void quantize_norm_in_reads(const quantized_rows<T, Q> &a) {
    constexpr int LOADS = 8; // in flight per thread and tensor
    __shared__ group_buffer<float> buffers[2];
    const T *x = a.x + blockIdx.x * a.n;
    uint8_t *q = reinterpret_cast<uint8_t *>(a.q) + blockIdx.x * a.n;
    const float offset = a.weight_offset();
    float sum = 0;
    float largest = 0;
    float rstd = 0;
    row_factors factors = {};
#pragma unroll 1
    for (int read = 0; read < 3; read++) {
#pragma unroll 1
        for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
            float v[LOADS], weight[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = min(first + k * blockDim.x, a.n - 1); // no branches between loads
                v[k] = to_acc(x[i]);
                weight[k] = read > 0 && a.weight != nullptr ? to_acc(a.weight[i]) : 0.0f;
            }
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = first + k * blockDim.x;
                const float y = v[k] * rstd * (offset + weight[k]);
                if (read == 0) {
                    sum += i < a.n ? v[k] * v[k] : 0.0f;
                } else if (read == 1) {
                    largest = max_or_nan(largest, fabsf(y)); // the last one may come again
                } else if (i < a.n) {
                    q[i] = static_cast<uint8_t>(quantized<Q>::byte(factors * y));
                }
            }
        }
        if (read == 0) {
            rstd = a.rstd_of(group_sum(sum, whole_block(), buffers, 0, 0));
        } else if (read == 1) {
            largest = cluster_max(largest, whole_block(), buffers, 0, 1);
            factors = factors_of_row<Q>(largest);
        }
    }
    if (threadIdx.x == 0) {
        a.scale[blockIdx.x] = row_scale<Q>(largest);
    }
}

template <int VECTORS, typename T, typename Q>
__device__ __forceinline__ void quantize_norm_runs(const quantized_rows<T, Q> &a) {
    constexpr int SIZE = vector_size<T>;
    row_run<T, VECTORS> run(a.rows, a.n, a.slab, is_aligned(a.x) && is_aligned(a.q));
    float weights[SIZE];
    run.load_columns(a.weight, weights);
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        weights[i] += a.weight_offset();
    }
    run.for_each([&] {
        uint4 x[VECTORS];
        run.load(a.x, x);
        float firsts[VECTORS], nexts[VECTORS];
        find_squares(run, x, firsts, nexts);
        run.put_together(firsts, nexts,
                         [&](const row_shares<float> &row) { return a.rstd_of(sum_of_shares<float>()(row)); });
        float y[VECTORS][SIZE];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            unpack<T>(x[k], y[k]);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                y[k][i] = y[k][i] * (run.first(i) ? firsts[k] : nexts[k]) * weights[i];
            }
        }
        quantize_run(run, y, a.q, a.scale);
    });
}

template <typename T, typename Q, bool ALIGNED, int HELD, int ROWS>
__device__ void rms_norm_quantize(const rms_norm_quantize_args<T, Q> &a) {
    quantized_rows<T, Q> rows = {};
    rows.x = a.x;
    rows.weight = a.weight;
    rows.offset = a.offset;
    rows.eps = a.eps;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.lanes = a.lanes;
    rows.slab = a.slab;
    rows.q = a.q;
    rows.scale = a.scale;
    using row = quantized_norm_row<T, Q, ALIGNED, HELD == 0 ? 1 : HELD>;
    if constexpr (!ALIGNED && ROWS == 2) {
        quantize_norm_runs<HELD>(rows);
    } else if constexpr (HELD == 0) {
        quantize_norm_in_reads(rows);
    } else if constexpr (ROWS == 0) {
        rows_by_blocks<row, HELD, HELD == 1>(rows, rows.x); // rows of one vector for each thread need no cluster
    } else {
        rows_by_lanes<row, ROWS>(rows, ALIGNED ? static_cast<int>(rows.lanes) : 32);
    }
}
