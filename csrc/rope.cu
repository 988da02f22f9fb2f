// q and k turned by the angles of cos and sin; csrc/device/rotation.cuh says how, and what the params are.
#include "rope.cuh"

#include "rotation.cuh"

template <typename T, typename C, int WIDTH, bool INTERLEAVED> __device__ void rope(const rope_args<T, C> &a) {
    rotation<T, C> turn = {};
    turn.q = {a.q, a.q_out, a.h};
    turn.k = {a.k, a.k_out, a.hk};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        turn.q.from_stride[i] = a.q_stride[i];
        turn.q.to_stride[i] = a.q_out_stride[i];
        turn.k.from_stride[i] = a.k_stride[i];
        turn.k.to_stride[i] = a.k_out_stride[i];
    }
    turn.q.step = a.q_out_stride[3];
    turn.k.step = a.k_out_stride[3];
    turn.cos = a.cos;
    turn.sin = a.sin;
    turn.cos_stride = a.cos_stride[0];
    turn.sin_stride = a.sin_stride[0];
    turn.each_batch = a.cb > 1;
    turn.sign = 1;
    turn.b = a.b;
    turn.s = a.s;
    turn.r = a.r;
    turn.d = a.d;
    rotate<T, C, WIDTH, INTERLEAVED>(turn);
}
