// y = x * rstd * (offset + weight) with rstd = 1 / sqrt(mean(x^2) + eps), for each row:
// https://arxiv.org/abs/1910.07467, equation 4. csrc/device/row_norm.cuh says what the params are.
#include "rms_norm.cuh"

#include "norm_runs.cuh"

template <typename T, bool ALIGNED, int VECTORS, int ROWS> __device__ void rms_norm(const rms_norm_args<T> &a) {
    norm_rows<T> rows = {};
    rows.x = a.x;
    rows.weight = a.weight;
    rows.y = a.y;
    rows.rstd = a.rstd;
    rows.offset = a.offset;
    rows.eps = a.eps;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.lanes = a.lanes;
    rows.slab = a.slab;
    normalize_rows<false, false, ALIGNED, VECTORS, ROWS>(rows);
}
