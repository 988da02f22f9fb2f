// One step of AdamW, https://arxiv.org/abs/1711.05101, algorithm 2, with g the gradient times grad_scale:
//     m = beta1 m + (1 - beta1) g    v = beta2 v + (1 - beta2) g^2
//     p = p (1 - lr weight_decay) - lr / (1 - beta1^step) m / (sqrt(v / (1 - beta2^step)) + eps)
// Elements of all tensors are shared evenly among blocks; p, g, m and v are read once.
#include "adamw_step.cuh"

#include "list_runs.cuh"

// What is the same for all elements, found in double by one thread.
template <typename A> struct adamw_factors {
    A beta1, rest1;
    A beta2, rest2;
    A decay, rate;
    A unbias; // of sqrt(v)
    A eps;
    A scale; // of gradients

    // Each fused multiply-add is written out: left to the compiler, vectors and single elements would differ in bits.
    __device__ __forceinline__ void apply(A &p, A g, A &m, A &v) const {
        g *= scale;
        m = fma(beta1, m, rest1 * g);
        v = fma(beta2, v, rest2 * g * g);
        p = fma(p, decay, -rate * (m / fma(sqrt(v), unbias, eps)));
    }
};

__device__ __forceinline__ double whole_power(double base, int64_t exponent) {
    double power = 1;
    for (; exponent > 0; exponent /= 2) {
        power *= exponent % 2 == 1 ? base : 1;
        base *= base;
    }
    return power;
}

template <typename T, typename S>
__device__ __forceinline__ adamw_factors<acc_t<T>> factors_of_step(const adamw_step_args<T, S> &a) {
    using A = acc_t<T>;
    const double beta1 = a.betas[0];
    const double beta2 = a.betas[1];
    const double lr = a.lr;
    const A scale = a.grad_scale != nullptr ? *a.grad_scale : A(1);
    return {
        static_cast<A>(beta1),
        static_cast<A>(1 - beta1),
        static_cast<A>(beta2),
        static_cast<A>(1 - beta2),
        static_cast<A>(1 - lr * double{a.weight_decay}),
        static_cast<A>(lr / (1 - whole_power(beta1, a.step))),
        static_cast<A>(1 / sqrt(1 - whole_power(beta2, a.step))),
        a.eps,
        a.maximize ? -scale : scale,
    };
}

template <typename T, typename S> __device__ void adamw_step(const adamw_step_args<T, S> &a) {
    using A = acc_t<T>;
    constexpr int WIDTH = vector_size<T> > vector_size<S> ? vector_size<T> : vector_size<S>;
    __shared__ adamw_factors<A> shared;
    if (threadIdx.x == 0) {
        shared = factors_of_step(a);
    }
    __syncthreads();
    const adamw_factors<A> factors = shared;

    over_list_part(a.s, a.params_count, a.total, [&](int64_t tensor, int64_t first, int64_t last) {
        T *params = a.params[tensor] + first;
        const T *grads = a.grads[tensor] + first;
        S *exp_avgs = a.exp_avgs[tensor] + first;
        S *exp_avg_sqs = a.exp_avg_sqs[tensor] + first;
        const vector_run<WIDTH> run(last - first, [&](int i) {
            return is_aligned(params + i) && is_aligned(grads + i) && is_aligned(exp_avgs + i) &&
                   is_aligned(exp_avg_sqs + i);
        });
        const int stride = static_cast<int>(blockDim.x);
#pragma unroll 1
        for (int i = run.start + int(threadIdx.x) * WIDTH; i < run.end; i += stride * WIDTH) {
            A p[WIDTH], g[WIDTH], m[WIDTH], v[WIDTH];
            load_elements(params + i, p);
            load_elements(grads + i, g);
            load_elements(exp_avgs + i, m);
            load_elements(exp_avg_sqs + i, v);
#pragma unroll
            for (int k = 0; k < WIDTH; k++) {
                factors.apply(p[k], g[k], m[k], v[k]);
            }
            store_elements(params + i, p);
            store_elements(exp_avgs + i, m);
            store_elements(exp_avg_sqs + i, v);
        }
#pragma unroll 1
        for (int number = threadIdx.x; number < run.rest(); number += stride) {
            const int i = run.rest_element(number);
            A p = to_acc(params[i]);
            A m = static_cast<A>(to_acc(exp_avgs[i]));
            A v = static_cast<A>(to_acc(exp_avg_sqs[i]));
            factors.apply(p, to_acc(grads[i]), m, v);
            params[i] = from_acc<T>(p);
            exp_avgs[i] = from_acc<S>(static_cast<acc_t<S>>(m));
            exp_avg_sqs[i] = from_acc<S>(static_cast<acc_t<S>>(v));
        }
    });
}
