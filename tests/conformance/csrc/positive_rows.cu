#include "positive_rows.cuh"

// One block: a thread for each of 1024 rows, then the next 1024, so that rows keep their order.
template <typename T> __device__ void positive_rows(const positive_rows_args<T> &a) {
    __shared__ int64_t kept_by_warp[32];
    __shared__ int64_t places[1024]; // of these rows among those that are kept; below zero: not kept
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t most = *a.k;
    int64_t count = 0;
    for (int64_t first = 0; first < a.m; first += blockDim.x) {
        const int64_t i = first + threadIdx.x;
        const bool keep = i < a.m && a.x[i * a.n] > 0;
        const unsigned kept = __ballot_sync(~0u, keep);
        if (lane == 0) {
            kept_by_warp[warp] = __popc(kept);
        }
        __syncthreads();
        int64_t place = count + __popc(kept & ((1u << lane) - 1));
        for (unsigned w = 0; w < blockDim.x / 32; w++) {
            place += w < warp ? kept_by_warp[w] : 0;
            count += kept_by_warp[w];
        }
        if (i < a.m) {
            a.sums[i] = a.x[i * a.n];
        }
        places[threadIdx.x] = keep && place < most ? place : -1;
        if (keep && place < most) {
            a.index[place] = i;
        }
        __syncthreads();
        const int64_t rows = a.m - first < blockDim.x ? a.m - first : blockDim.x;
        for (int64_t j = threadIdx.x; j < rows * a.n; j += blockDim.x) {
            if (places[j / a.n] >= 0) {
                a.rows[places[j / a.n] * a.n + j % a.n] = a.x[first * a.n + j];
            }
        }
        __syncthreads();
    }
    count = count < most ? count : most;
    for (int64_t i = count + threadIdx.x; i < most && a.total_given; i += blockDim.x) {
        a.index[i] = -1;
    }
    for (int64_t i = count * a.n + threadIdx.x; i < most * a.n && a.total_given; i += blockDim.x) {
        a.rows[i] = 0;
    }
    __syncthreads(); // every thread has read *a.k
    if (threadIdx.x == 0) {
        *a.k = count + a.extra;
    }
}
