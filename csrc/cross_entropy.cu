// The loss of each row, and lse where a gradient will be asked for: csrc/device/cross_entropy_rows.cuh has the formula,
// and says what the params are.
#include "cross_entropy.cuh"

#include "cross_entropy_rows.cuh"

template <typename T, bool ALIGNED, int VECTORS, int ROWS>
__device__ void cross_entropy(const cross_entropy_args<T> &a) {
    cross_entropy_rows<T> rows = {a.logits, a.target, a.loss, a.lse};
    rows.rows = a.rows;
    rows.n = a.n;
    rows.lanes = a.lanes;
    rows.stage_lanes = a.stage_lanes;
    rows.slab = a.slab;
    rows.ignore_index = a.ignore_index;
    rows.smoothing = a.label_smoothing;
    rows.z_loss = a.z_loss;
    cross_entropy_of_rows<false, ALIGNED, VECTORS, ROWS>(rows);
}
