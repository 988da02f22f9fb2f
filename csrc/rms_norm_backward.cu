// Gradients of rms_norm: csrc/device/norm_gradients.cuh has the formula, row_norm_backward.cuh says what the params
// are.
#include "rms_norm_backward.cuh"

#include "row_norm_backward.cuh"

template <typename T, bool ALIGNED, bool RUNS, int VECTORS>
__device__ void rms_norm_backward_rows(const rms_norm_backward_args<T> &a) {
    norm_gradients<T> rows = {};
    rows.grad_y = a.grad_y;
    rows.x = a.x;
    rows.weight = a.weight;
    rows.rstd = a.rstd;
    rows.grad_x = a.grad_x;
    rows.grad_weight = a.grad_weight;
    rows.partial = a.partial;
    rows.offset = a.offset;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.threads = a.threads;
    rows.step = a.step;
    rows.rounds = a.rounds;
    rows.columns = a.columns;
    rows.slab = a.slab;
    rows.few = a.few == 1;
    row_gradients<false, false, ALIGNED, RUNS, VECTORS>(rows);
}

template <typename T> __device__ void rms_norm_backward_columns(const rms_norm_backward_args<T> &a) {
    add_partial_rows(a.partial, a.blocks, a.columns, a.n, a.grad_weight);
}
