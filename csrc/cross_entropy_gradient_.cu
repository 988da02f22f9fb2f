// The loss of each row, and its gradient in place of the logits: csrc/device/cross_entropy_rows.cuh has the formulas,
// and says what the params are.
#include "cross_entropy_gradient_.cuh"

#include "cross_entropy_rows.cuh"

template <typename T, bool ALIGNED, int VECTORS, int ROWS>
__device__ void cross_entropy_gradient_(const cross_entropy_gradient__args<T> &a) {
    cross_entropy_rows<T> rows = {a.logits, a.target, a.loss, nullptr, a.logits};
    rows.factor = a.grad_loss;
    rows.factor_dim = a.grad_loss_dim;
    rows.factor_size = a.grad_loss_size;
    rows.factor_stride = a.grad_loss_stride;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.lanes = a.lanes;
    rows.stage_lanes = a.stage_lanes;
    rows.slab = a.slab;
    rows.ignore_index = a.ignore_index;
    rows.smoothing = a.label_smoothing;
    rows.z_loss = a.z_loss;
    cross_entropy_of_rows<true, ALIGNED, VECTORS, ROWS>(rows);
}
