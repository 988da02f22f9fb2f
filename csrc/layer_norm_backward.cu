// Gradients of layer_norm: csrc/device/norm_gradients.cuh has the formula, row_norm_backward.cuh says what the params
// are.
#include "layer_norm_backward.cuh"

#include "row_norm_backward.cuh"

template <typename T, bool ALIGNED, bool RUNS, int VECTORS>
__device__ void layer_norm_backward_rows(const layer_norm_backward_args<T> &a) {
    norm_gradients<T> rows = {};
    rows.grad_y = a.grad_y;
    rows.x = a.x;
    rows.weight = a.weight;
    rows.mean = a.mean;
    rows.rstd = a.rstd;
    rows.grad_x = a.grad_x;
    rows.grad_weight = a.grad_weight;
    rows.grad_bias = a.grad_bias;
    rows.partial = a.partial;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.threads = a.threads;
    rows.step = a.step;
    rows.rounds = a.rounds;
    rows.columns = a.columns;
    rows.slab = a.slab;
    rows.few = a.few == 1;
    row_gradients<true, false, ALIGNED, RUNS, VECTORS>(rows);
}

// Blocks of the second row of the grid add up for the bias.
template <typename T> __device__ void layer_norm_backward_columns(const layer_norm_backward_args<T> &a) {
    T *target = blockIdx.y == 0 ? a.grad_weight : a.grad_bias;
    if (target != nullptr) {
        add_partial_rows(a.partial + blockIdx.y * a.columns, a.blocks, 2 * a.columns, a.n, target);
    }
}
