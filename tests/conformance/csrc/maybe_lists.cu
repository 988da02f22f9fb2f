#include "maybe_lists.cuh"

#include "block_sum.cuh"

template <typename T, typename I, typename W> __device__ void maybe_lists(const maybe_lists_args<T, I, W> &a) {
    for (int64_t i = 0; i < a.xs_count; i++) {
        acc_t<T> sum = block_sum<acc_t<T>>(a.s[i] * a.n[i], [&](int64_t j) { return to_acc(a.xs[i][j]); });
        if (a.ys[i] != nullptr) {
            sum += block_sum<acc_t<T>>(a.s[i], [&](int64_t j) { return a.ys[i][j]; });
        }
        if (threadIdx.x == 0) {
            a.y[i] = sum;
        }
    }
    for (int64_t i = 0; i < (a.zs != nullptr ? a.zs_count : 1); i++) {
        acc_t<W> sum = acc_t<W>(a.ws_count);
        if (a.zs != nullptr) {
            sum += block_sum<acc_t<W>>(a.m[i], [&](int64_t j) { return to_acc(a.zs[i][j]); });
        }
        if (a.ws != nullptr && a.ws[i] != nullptr) {
            sum += block_sum<acc_t<W>>(2 * a.m[i], [&](int64_t j) { return to_acc(a.ws[i][j]); });
        }
        if (i < a.counts_count && a.counts[i] != nullptr) {
            sum += block_sum<acc_t<W>>(a.m[i], [&](int64_t j) { return acc_t<W>(a.counts[i][j]); });
        }
        if (a.scale != nullptr) {
            sum += block_sum<acc_t<W>>(a.k, [&](int64_t j) { return a.scale[j]; });
        }
        if (threadIdx.x == 0) {
            a.z[i] = from_acc<W>(sum);
        }
    }
}
