/* rope_backward: gradients of the results of rope, rotated back; csrc/cpu/rotation.h says how. Units are tokens. */

#include "rotation.h"

static void rope_backward(const rope_backward_args *a, int64_t begin, int64_t end) {
    const int64_t q_columns = a->h * a->d, k_columns = a->hk * a->d;
    const int64_t q_stride[4] = {a->s * q_columns, q_columns, a->d, 1};
    const int64_t k_stride[4] = {a->s * k_columns, k_columns, a->d, 1};
    rotation heads = {
        .q = {.from = a->grad_q_out,
              .to = a->grad_q,
              .from_stride = a->grad_q_out_stride,
              .to_stride = q_stride,
              .heads = a->h},
        .k = {.from = a->grad_k_out,
              .to = a->grad_k,
              .from_stride = a->grad_k_out_stride,
              .to_stride = k_stride,
              .heads = a->hk},
        .cos = a->cos,
        .sin = a->sin,
        .cos_stride = a->cos_stride[0],
        .sin_stride = a->sin_stride[0],
        .each_batch = a->cb > 1,
        .interleaved = a->interleaved,
        .sign = -1,
        .b = a->b,
        .s = a->s,
        .d = a->d,
        .r = a->r,
    };
    rotate_tokens(&heads, begin, end);
}
