/* rope: q and k, rotated by the angles of cos and sin; csrc/cpu/rotation.h says how. Units are tokens. */

#include "rotation.h"

static void rope(const rope_args *a, int64_t begin, int64_t end) {
    rotation heads = {
        .q = {.from = a->q, .to = a->q_out, .from_stride = a->q_stride, .to_stride = a->q_out_stride, .heads = a->h},
        .k = {.from = a->k, .to = a->k_out, .from_stride = a->k_stride, .to_stride = a->k_out_stride, .heads = a->hk},
        .cos = a->cos,
        .sin = a->sin,
        .cos_stride = a->cos_stride[0],
        .sin_stride = a->sin_stride[0],
        .each_batch = a->cb > 1,
        .interleaved = a->interleaved,
        .sign = 1,
        .b = a->b,
        .s = a->s,
        .d = a->d,
        .r = a->r,
    };
    rotate_tokens(&heads, begin, end);
}
