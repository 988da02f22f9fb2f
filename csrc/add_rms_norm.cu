// residual_out = x + residual, and y = residual_out * rstd * (offset + weight) with
// rstd = 1 / sqrt(mean(residual_out^2) + eps), for each row: csrc/device/row_norm.cuh says what the params are.
#include "add_rms_norm.cuh"

#include "norm_runs.cuh"

template <typename T, bool ALIGNED, int VECTORS, int ROWS> __device__ void add_rms_norm(const add_rms_norm_args<T> &a) {
    norm_rows<T> rows = {};
    rows.x = a.x;
    rows.residual = a.residual;
    rows.weight = a.weight;
    rows.y = a.y;
    rows.total = a.residual_out;
    rows.rstd = a.rstd;
    rows.offset = a.offset;
    rows.eps = a.eps;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.lanes = a.lanes;
    rows.slab = a.slab;
    normalize_rows<false, true, ALIGNED, VECTORS, ROWS>(rows);
}
