#include "maybe_lists.cuh"

template <typename T, typename I, typename W> __device__ void maybe_lists(const maybe_lists_args<T, I, W> &a) {
    if (threadIdx.x > 0) {
        return;
    }
    for (int64_t i = 0; i < a.xs_count; i++) {
        acc_t<T> sum = 0;
        for (int64_t j = 0; j < a.s[i] * a.n[i]; j++) {
            sum += to_acc(a.xs[i][j]);
        }
        for (int64_t j = 0; a.ys[i] != nullptr && j < a.s[i]; j++) {
            sum += a.ys[i][j];
        }
        a.y[i] = sum;
    }
    for (int64_t i = 0; i < (a.zs != nullptr ? a.zs_count : 1); i++) {
        acc_t<W> sum = acc_t<W>(a.ws_count);
        for (int64_t j = 0; a.zs != nullptr && j < a.m[i]; j++) {
            sum += to_acc(a.zs[i][j]);
        }
        for (int64_t j = 0; a.ws != nullptr && a.ws[i] != nullptr && j < 2 * a.m[i]; j++) {
            sum += to_acc(a.ws[i][j]);
        }
        for (int64_t j = 0; i < a.counts_count && a.counts[i] != nullptr && j < a.m[i]; j++) {
            sum += acc_t<W>(a.counts[i][j]);
        }
        for (int64_t j = 0; a.scale != nullptr && j < a.k; j++) {
            sum += a.scale[j];
        }
        a.z[i] = from_acc<W>(sum);
    }
}
