// y = (x - mean) * rstd * weight + bias with rstd = 1 / sqrt(mean((x - mean)^2) + eps), for each row:
// https://arxiv.org/abs/1607.06450, equation 4. csrc/device/row_norm.cuh says what the params are.
#include "layer_norm.cuh"

#include "norm_runs.cuh"

template <typename T, bool ALIGNED, int VECTORS, int ROWS> __device__ void layer_norm(const layer_norm_args<T> &a) {
    norm_rows<T> rows = {};
    rows.x = a.x;
    rows.weight = a.weight;
    rows.bias = a.bias;
    rows.y = a.y;
    rows.mean = a.mean;
    rows.rstd = a.rstd;
    rows.eps = a.eps;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.lanes = a.lanes;
    rows.slab = a.slab;
    normalize_rows<true, false, ALIGNED, VECTORS, ROWS>(rows);
}
