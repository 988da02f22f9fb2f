/* rope: q and k turned by the angles of cos and sin; csrc/cpu/rotation.h says how. Units are tokens. */

#include "rotation.h"

static void rope(const rope_args *a, int64_t begin, int64_t end) {
    angles turn;
    for (int64_t token = begin; token < end; token++) {
        const int64_t batch = token / a->s, at = token % a->s, row = a->cb > 1 ? token : at;
        const scalar_t *q = a->q + batch * a->q_stride[0] + at * a->q_stride[1];
        const scalar_t *k = a->k + batch * a->k_stride[0] + at * a->k_stride[1];
        scalar_t *q_out = a->q_out + batch * a->q_out_stride[0] + at * a->q_out_stride[1];
        scalar_t *k_out = a->k_out + batch * a->k_out_stride[0] + at * a->k_out_stride[1];
        int64_t first = 0;
        do {
            angles_of(&turn, a->cos + row * a->cos_stride[0], a->sin + row * a->sin_stride[0], 1, first, a->r,
                      a->interleaved);
            turn_heads(q_out, a->q_out_stride[2], a->q_out_stride[3], q, a->q_stride[2], a->h, &turn, a->r, a->d,
                       a->interleaved);
            turn_heads(k_out, a->k_out_stride[2], a->k_out_stride[3], k, a->k_stride[2], a->hk, &turn, a->r, a->d,
                       a->interleaved);
            first += ANGLES;
        } while (first < a->r);
    }
}
