/* rope_backward: gradients of the results of rope, turned back; csrc/cpu/rotation.h says how. Units are tokens. */

#include "rotation.h"

static void rope_backward(const rope_backward_args *a, int64_t begin, int64_t end) {
    const int64_t d = a->d, q_out = a->h * d, k_out = a->hk * d;
    const int64_t q_stride[4] = {a->s * q_out, q_out, d, 1}, k_stride[4] = {a->s * k_out, k_out, d, 1};
    turned q = {.from = a->grad_q_out, .to = a->grad_q, .stride = a->grad_q_out_stride, .heads = a->h};
    turned k = {.from = a->grad_k_out, .to = a->grad_k, .stride = a->grad_k_out_stride, .heads = a->hk};
    q.to_stride = q_stride, k.to_stride = k_stride;
    q.b = k.b = a->b, q.s = k.s = a->s, q.d = k.d = d, q.r = k.r = a->r;
    q.interleaved = k.interleaved = a->interleaved;
    q.stream = q.to && turned_streams(&q);
    k.stream = k.to && turned_streams(&k);
    angles turn;
    for (int64_t token = begin; token < end; token++) {
        const int64_t batch = token / a->s, at = token % a->s, row = a->cb > 1 ? token : at;
        const C_t *cos = a->cos + row * a->cos_stride[0], *sin = a->sin + row * a->sin_stride[0];
        int64_t first = 0;
        do {
            angles_of(&turn, cos, sin, -1, first, a->r);
            if (q.to)
                turn_token(&q, &turn, batch, at);
            if (k.to)
                turn_token(&k, &turn, batch, at);
            first += ANGLES;
        } while (first < a->r);
    }
    if (q.stream || k.stream)
        vector_stream_end();
}
