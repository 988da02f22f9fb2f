// Gradients of rope: those of its results, turned back; csrc/device/rotation.cuh says how, and what the params are.
#include "rope_backward.cuh"

#include "rotation.cuh"

template <typename T, typename C, int WIDTH, bool INTERLEAVED>
__device__ void rope_backward(const rope_backward_args<T, C> &a) {
    rotation<T, C> turn = {};
    turn.q = {a.grad_q_out, a.grad_q, a.h, {}, {a.s * a.h * a.d, a.h * a.d, a.d}, 1};
    turn.k = {a.grad_k_out, a.grad_k, a.hk, {}, {a.s * a.hk * a.d, a.hk * a.d, a.d}, 1};
#pragma unroll
    for (int i = 0; i < 3; i++) {
        turn.q.from_stride[i] = a.grad_q_out_stride[i];
        turn.k.from_stride[i] = a.grad_k_out_stride[i];
    }
    turn.cos = a.cos;
    turn.sin = a.sin;
    turn.cos_stride = a.cos_stride[0];
    turn.sin_stride = a.sin_stride[0];
    turn.each_batch = a.cb > 1;
    turn.sign = -1;
    turn.b = a.b;
    turn.s = a.s;
    turn.r = a.r;
    turn.d = a.d;
    rotate<T, C, WIDTH, INTERLEAVED>(turn);
}
