#include "positive_rows.cuh"

template <typename T> __device__ void positive_rows(const positive_rows_args<T> &a) {
    int64_t count = 0;
    const int64_t most = *a.k;
    for (int64_t i = 0; i < a.m; i++) {
        a.sums[i] = a.x[i * a.n];
        if (a.x[i * a.n] > 0 && count < most) {
            a.index[count] = i;
            for (int64_t j = 0; j < a.n; j++) {
                a.rows[count * a.n + j] = a.x[i * a.n + j];
            }
            count++;
        }
    }
    for (int64_t i = count; i < most && a.total_given; i++) {
        a.index[i] = -1;
        for (int64_t j = 0; j < a.n; j++) {
            a.rows[i * a.n + j] = 0;
        }
    }
    *a.k = count + a.extra;
}
