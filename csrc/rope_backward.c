/* rope_backward: gradients of the results of rope, turned back; csrc/cpu/rotation.h says how. Units are tokens. */

#include "rotation.h"

static void rope_backward(const rope_backward_args *a, int64_t begin, int64_t end) {
    angles turn;
    for (int64_t token = begin; token < end; token++) {
        const int64_t batch = token / a->s, at = token % a->s, row = a->cb > 1 ? token : at, d = a->d;
        const scalar_t *q = a->grad_q_out + batch * a->grad_q_out_stride[0] + at * a->grad_q_out_stride[1];
        const scalar_t *k = a->grad_k_out + batch * a->grad_k_out_stride[0] + at * a->grad_k_out_stride[1];
        int64_t first = 0;
        do {
            angles_of(&turn, a->cos + row * a->cos_stride[0], a->sin + row * a->sin_stride[0], -1, first, a->r,
                      a->interleaved);
            if (a->grad_q)
                turn_heads(a->grad_q + token * a->h * d, d, 1, q, a->grad_q_out_stride[2], a->h, &turn, a->r, d,
                           a->interleaved);
            if (a->grad_k)
                turn_heads(a->grad_k + token * a->hk * d, d, 1, k, a->grad_k_out_stride[2], a->hk, &turn, a->r, d,
                           a->interleaved);
            first += ANGLES;
        } while (first < a->r);
    }
}
