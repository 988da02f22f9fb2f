/* rope: q and k turned by the angles of cos and sin; csrc/cpu/rotation.h says how. Units are tokens. */

#include "rotation.h"

static void rope(const rope_args *a, int64_t begin, int64_t end) {
    turned q = {.from = a->q, .to = a->q_out, .stride = a->q_stride, .to_stride = a->q_out_stride, .heads = a->h};
    turned k = {.from = a->k, .to = a->k_out, .stride = a->k_stride, .to_stride = a->k_out_stride, .heads = a->hk};
    q.b = k.b = a->b, q.s = k.s = a->s, q.d = k.d = a->d, q.r = k.r = a->r;
    q.interleaved = k.interleaved = a->interleaved;
    q.stream = turned_streams(&q);
    k.stream = turned_streams(&k);
    angles turn;
    for (int64_t token = begin; token < end; token++) {
        const int64_t batch = token / a->s, at = token % a->s, row = a->cb > 1 ? token : at;
        const C_t *cos = a->cos + row * a->cos_stride[0], *sin = a->sin + row * a->sin_stride[0];
        int64_t first = 0;
        do {
            angles_of(&turn, cos, sin, 1, first, a->r);
            turn_token(&q, &turn, batch, at);
            turn_token(&k, &turn, batch, at);
            first += ANGLES;
        } while (first < a->r);
    }
    if (q.stream || k.stream)
        vector_stream_end();
}
