// Rows in one byte per element and a scale of their own: with m = max(|x|) and L the largest number of Q,
//     scale = m / L    q = x * (L / m), rounded
// both in float.
#pragma once

#include "float8.cuh"
#include "row_max.cuh"
#include "run_shares.cuh"

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

// What elements are multiplied by. L / m may be no float where m is small: such a row is raised by a power of 2 first.
// Finite, so that a zero stays one. A NaN stays a NaN.
struct row_factors {
    float raise;
    float factor;

    __device__ __forceinline__ float operator*(float value) const { return value * raise * factor; }
};

template <typename Q> __device__ __forceinline__ row_factors factors_of_row(float largest) {
    const float raise = largest < 0x1p-64f ? 0x1p64f : 1.0f;
    const float factor = quantized<Q>::LARGEST / (largest * raise);
    return {raise, factor > 3.4028234e38f ? 3.4028234e38f : factor};
}

template <typename Q> __device__ __forceinline__ float row_scale(float largest) {
    return largest / quantized<Q>::LARGEST;
}

// The largest of the values that a thread holds of a row, zeros outside.
template <int PIECES, int WIDTH> __device__ __forceinline__ float largest_of(const float (&values)[PIECES][WIDTH]) {
    float found = 0;
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
            found = max_or_nan(found, fabsf(values[k][i]));
        }
    }
    return found;
}

// A vector of q.
template <typename Q, int WIDTH>
__device__ __forceinline__ void quantize_vector(const float (&values)[WIDTH], uint32_t (&words)[WIDTH / 4]) {
#pragma unroll
    for (int i = 0; i < WIDTH; i += 4) {
        words[i / 4] = quantized<Q>::pair(values[i], values[i + 1]) | quantized<Q>::pair(values[i + 2], values[i + 3])
                                                                          << 16;
    }
}

// The largest of each row's part of the vectors of a run.
template <typename T, int VECTORS>
__device__ __forceinline__ void find_largest(const row_run<T, VECTORS> &run,
                                             const float (&values)[VECTORS][vector_size<T>], float (&firsts)[VECTORS],
                                             float (&nexts)[VECTORS]) {
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        firsts[k] = 0;
        nexts[k] = 0;
#pragma unroll
        for (int i = 0; i < vector_size<T>; i++) {
            if (run.first(i)) {
                firsts[k] = max_or_nan(firsts[k], fabsf(values[k][i]));
            } else {
                nexts[k] = max_or_nan(nexts[k], fabsf(values[k][i]));
            }
        }
    }
}

// Quantises the values of a run.
template <typename Q, typename T, int VECTORS>
__device__ __forceinline__ void quantize_run(row_run<T, VECTORS> &run, const float (&values)[VECTORS][vector_size<T>],
                                             Q *q, float *scale) {
    constexpr int SIZE = vector_size<T>;
    float firsts[VECTORS], nexts[VECTORS];
    find_largest(run, values, firsts, nexts);
    run.put_together(firsts, nexts, [&](const row_shares<float> &row) {
        const float largest = largest_of_shares()(row);
        if (row.leads() && row.row < run.rows) {
            scale[row.row] = row_scale<Q>(largest);
        }
        return largest;
    });
    run.store_bytes(reinterpret_cast<uint8_t *>(q), [&](int k, uint32_t (&words)[SIZE / 4]) {
        const row_factors first = factors_of_row<Q>(firsts[k]);
        const row_factors next = factors_of_row<Q>(nexts[k]);
        float scaled[SIZE];
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            scaled[i] = (run.first(i) ? first : next) * values[k][i];
        }
        quantize_vector<Q>(scaled, words);
    });
}

// Stores all of them, of a part whose pieces are in the row or outside. Where a piece is a vector, those of q are
// aligned too.
template <typename Part, typename Q, int PIECES>
__device__ __forceinline__ void store_quantized(Q *row, const Part &p, row_factors factors,
                                                const float (&values)[PIECES][Part::WIDTH]) {
    static_assert(Part::WHOLE);
    constexpr int WIDTH = Part::WIDTH;
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        const int column = p.column(k);
        if (column < p.n) {
            if constexpr (WIDTH == 1) {
                reinterpret_cast<uint8_t *>(row)[column] =
                    static_cast<uint8_t>(quantized<Q>::byte(factors * values[k][0]));
            } else {
                uint32_t words[WIDTH / 4];
                float scaled[WIDTH];
#pragma unroll
                for (int i = 0; i < WIDTH; i++) {
                    scaled[i] = factors * values[k][i];
                }
                quantize_vector<Q>(scaled, words);
                if constexpr (WIDTH == 8) {
                    __stcg(reinterpret_cast<uint2 *>(row + column), make_uint2(words[0], words[1]));
                } else {
                    __stcg(reinterpret_cast<uint32_t *>(row + column), words[0]);
                }
            }
        }
    }
}
