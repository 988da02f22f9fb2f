// my_ops::silu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)
//
// The loops of silu_mul_backward_backward, for each choice of dtypes and each way in which operands may lie in memory.
#include "element_math.cuh"
#include "elementwise.cuh"
#include "silu_mul_backward_backward_call.h"

// grad_grad_y: derived
// grad_gate: derived
// grad_up: derived
template <typename T>
struct silu_mul_backward_backward__loops1 {
    using call = silu_mul_backward_backward_call;
    static constexpr int OPERANDS = 8;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        double grad_grad_up;
        double gate;
        double grad_grad_gate;
        double up;
        double grad_y;
    };
    struct results {
        double grad_grad_y;
        double grad_gate;
        double grad_up;
    };
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const double t2 = elementwise::sigmoid(in.gate);
        const double t7 = 1.0 - t2;
        const double t8 = t2 * t7;
        const double t9 = in.grad_grad_gate * t8;
        const double t10 = t9 * in.gate;
        const double t11 = in.grad_grad_gate * t2;
        const double t12 = t10 + t11;
        out.grad_grad_y = 0;
        if (a.grad_grad_y != nullptr) {
            const double t3 = in.gate * t2;
            const double t4 = in.grad_grad_up * t3;
            const double t14 = t12 * in.up;
            const double t15 = t4 + t14;
            out.grad_grad_y = t15;
        }
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const double t17 = in.grad_grad_up * in.grad_y;
            const double t18 = t17 * t2;
            const double t19 = in.grad_y * in.up;
            const double t20 = t9 * t19;
            const double t21 = t18 + t20;
            const double t22 = t17 * in.gate;
            const double t23 = t19 * in.gate;
            const double t24 = in.grad_grad_gate * t23;
            const double t25 = t24 * t7;
            const double t26 = t22 + t25;
            const double t27 = t24 * t2;
            const double t28 = t26 - t27;
            const double t29 = in.grad_grad_gate * t19;
            const double t30 = t28 + t29;
            const double t31 = t30 * t8;
            const double t32 = t21 + t31;
            out.grad_gate = t32;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const double t33 = t12 * in.grad_y;
            out.grad_up = t33;
        }
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> grad_grad_gate;
        elementwise::elements<T, N> grad_grad_up;
        elementwise::elements<T, N> grad_y;
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> grad_grad_y;
        elementwise::elements<T, N> grad_gate;
        elementwise::elements<T, N> grad_up;
    };
    template <int N> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_grad_up = static_cast<double>(elementwise::widen<T>(d.grad_grad_up.value[k]));
            in.gate = static_cast<double>(elementwise::widen<T>(d.gate.value[k]));
            in.grad_grad_gate = static_cast<double>(elementwise::widen<T>(d.grad_grad_gate.value[k]));
            in.up = static_cast<double>(elementwise::widen<T>(d.up.value[k]));
            in.grad_y = static_cast<double>(elementwise::widen<T>(d.grad_y.value[k]));
            lines(a, in, out);
            d.grad_grad_y.value[k] = elementwise::narrow<T>(out.grad_grad_y);
            d.grad_gate.value[k] = elementwise::narrow<T>(out.grad_gate);
            d.grad_up.value[k] = elementwise::narrow<T>(out.grad_up);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.grad_grad_gate), d.grad_grad_gate.value);
        access.template load<1>(static_cast<const T *>(a.grad_grad_up), d.grad_grad_up.value);
        access.template load<2>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<3>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<4>(static_cast<const T *>(a.up), d.up.value);
        compute<N>(a, d);
        if (a.grad_grad_y != nullptr) { access.template store<5>(static_cast<T *>(a.grad_grad_y), d.grad_grad_y.value); }
        if (a.grad_gate != nullptr) { access.template store<6>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<7>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

// grad_grad_y: derived
// grad_gate: derived
// grad_up: derived
template <typename T>
struct silu_mul_backward_backward__loops2 {
    using call = silu_mul_backward_backward_call;
    static constexpr int OPERANDS = 8;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        float grad_grad_up;
        float gate;
        float grad_grad_gate;
        float up;
        float grad_y;
    };
    struct results {
        float grad_grad_y;
        float grad_gate;
        float grad_up;
    };
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const float t2 = elementwise::sigmoid(in.gate);
        const float t7 = 1.0f - t2;
        const float t8 = t2 * t7;
        const float t9 = in.grad_grad_gate * t8;
        const float t10 = t9 * in.gate;
        const float t11 = in.grad_grad_gate * t2;
        const float t12 = t10 + t11;
        out.grad_grad_y = 0;
        if (a.grad_grad_y != nullptr) {
            const float t3 = in.gate * t2;
            const float t4 = in.grad_grad_up * t3;
            const float t14 = t12 * in.up;
            const float t15 = t4 + t14;
            out.grad_grad_y = t15;
        }
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const float t17 = in.grad_grad_up * in.grad_y;
            const float t18 = t17 * t2;
            const float t19 = in.grad_y * in.up;
            const float t20 = t9 * t19;
            const float t21 = t18 + t20;
            const float t22 = t17 * in.gate;
            const float t23 = t19 * in.gate;
            const float t24 = in.grad_grad_gate * t23;
            const float t25 = t24 * t7;
            const float t26 = t22 + t25;
            const float t27 = t24 * t2;
            const float t28 = t26 - t27;
            const float t29 = in.grad_grad_gate * t19;
            const float t30 = t28 + t29;
            const float t31 = t30 * t8;
            const float t32 = t21 + t31;
            out.grad_gate = t32;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const float t33 = t12 * in.grad_y;
            out.grad_up = t33;
        }
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> grad_grad_gate;
        elementwise::elements<T, N> grad_grad_up;
        elementwise::elements<T, N> grad_y;
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> grad_grad_y;
        elementwise::elements<T, N> grad_gate;
        elementwise::elements<T, N> grad_up;
    };
    template <int N> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_grad_up = static_cast<float>(elementwise::widen<T>(d.grad_grad_up.value[k]));
            in.gate = static_cast<float>(elementwise::widen<T>(d.gate.value[k]));
            in.grad_grad_gate = static_cast<float>(elementwise::widen<T>(d.grad_grad_gate.value[k]));
            in.up = static_cast<float>(elementwise::widen<T>(d.up.value[k]));
            in.grad_y = static_cast<float>(elementwise::widen<T>(d.grad_y.value[k]));
            lines(a, in, out);
            d.grad_grad_y.value[k] = elementwise::narrow<T>(out.grad_grad_y);
            d.grad_gate.value[k] = elementwise::narrow<T>(out.grad_gate);
            d.grad_up.value[k] = elementwise::narrow<T>(out.grad_up);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.grad_grad_gate), d.grad_grad_gate.value);
        access.template load<1>(static_cast<const T *>(a.grad_grad_up), d.grad_grad_up.value);
        access.template load<2>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<3>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<4>(static_cast<const T *>(a.up), d.up.value);
        compute<N>(a, d);
        if (a.grad_grad_y != nullptr) { access.template store<5>(static_cast<T *>(a.grad_grad_y), d.grad_grad_y.value); }
        if (a.grad_gate != nullptr) { access.template store<6>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<7>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float64__flat(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_flat<silu_mul_backward_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float64__vectors(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_vectors<silu_mul_backward_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float64__crossed(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_crossed<silu_mul_backward_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float64__narrow(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops1<double>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float64__wide(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops1<double>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float32__flat(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_flat<silu_mul_backward_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float32__vectors(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_vectors<silu_mul_backward_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float32__crossed(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_crossed<silu_mul_backward_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float32__narrow(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops2<float>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float32__wide(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops2<float>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float16__flat(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_flat<silu_mul_backward_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float16__vectors(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_vectors<silu_mul_backward_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float16__crossed(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_crossed<silu_mul_backward_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float16__narrow(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops2<__half>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__float16__wide(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops2<__half>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__bfloat16__flat(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_flat<silu_mul_backward_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__bfloat16__vectors(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_vectors<silu_mul_backward_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__bfloat16__crossed(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_crossed<silu_mul_backward_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__bfloat16__narrow(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops2<__nv_bfloat16>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward_backward__bfloat16__wide(const __grid_constant__ silu_mul_backward_backward_call call) {
    elementwise::run_singles<silu_mul_backward_backward__loops2<__nv_bfloat16>, uint64_t>(call);
}

#endif
