// Gradients of rope: those of its results, rotated back; csrc/device/rotation.cuh says how, and what the params are.
#include "rope_backward.cuh"

#include "rotation.cuh"

template <typename T, typename C, int WIDTH, bool INTERLEAVED>
__device__ void rope_backward(const rope_backward_args<T, C> &a) {
    rotation<T, C> heads = {};
    heads.q = {a.grad_q_out, a.grad_q, a.h, {}, {a.s * a.h * a.d, a.h * a.d, a.d}, 1};
    heads.k = {a.grad_k_out, a.grad_k, a.hk, {}, {a.s * a.hk * a.d, a.hk * a.d, a.d}, 1};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        heads.q.from_stride[i] = a.grad_q_out_stride[i];
        heads.k.from_stride[i] = a.grad_k_out_stride[i];
    }
    heads.cos = a.cos;
    heads.sin = a.sin;
    heads.cos_stride = a.cos_stride[0];
    heads.sin_stride = a.sin_stride[0];
    heads.each_batch = a.cb > 1;
    heads.sign = -1;
    heads.b = a.b;
    heads.s = a.s;
    heads.r = a.r;
    heads.d = a.d;
    rotate_heads<T, C, WIDTH, INTERLEAVED>(heads);
}
