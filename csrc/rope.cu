// q and k, rotated by the angles of cos and sin; csrc/device/rotation.cuh says how, and what the params are.
#include "rope.cuh"

#include "rotation.cuh"

template <typename T, typename C, int WIDTH, bool INTERLEAVED> __device__ void rope(const rope_args<T, C> &a) {
    rotation<T, C> heads = {};
    heads.q = {a.q, a.q_out, a.h};
    heads.k = {a.k, a.k_out, a.hk};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        heads.q.from_stride[i] = a.q_stride[i];
        heads.q.to_stride[i] = a.q_out_stride[i];
        heads.k.from_stride[i] = a.k_stride[i];
        heads.k.to_stride[i] = a.k_out_stride[i];
    }
    heads.q.step = a.q_out_stride[3];
    heads.k.step = a.k_out_stride[3];
    heads.cos = a.cos;
    heads.sin = a.sin;
    heads.cos_stride = a.cos_stride[0];
    heads.sin_stride = a.sin_stride[0];
    heads.each_batch = a.cb > 1;
    heads.sign = 1;
    heads.b = a.b;
    heads.s = a.s;
    heads.r = a.r;
    heads.d = a.d;
    rotate_heads<T, C, WIDTH, INTERLEAVED>(heads);
}
