// my_ops::silu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// The loops of silu_mul_backward, for each choice of dtypes and each way in which operands may lie in memory.
#include "element_math.cuh"
#include "elementwise.cuh"
#include "silu_mul_backward_call.h"

// grad_gate: derived
// grad_up: derived
template <typename T>
struct silu_mul_backward__loops1 {
    using call = silu_mul_backward_call;
    static constexpr int OPERANDS = 5;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        double grad_y;
        double up;
        double gate;
    };
    struct results {
        double grad_gate;
        double grad_up;
    };
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const double t4 = elementwise::sigmoid(in.gate);
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const double t2 = in.grad_y * in.up;
            const double t5 = t2 * t4;
            const double t6 = t2 * in.gate;
            const double t8 = 1.0 - t4;
            const double t9 = t4 * t8;
            const double t10 = t6 * t9;
            const double t11 = t5 + t10;
            out.grad_gate = t11;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const double t12 = in.gate * t4;
            const double t13 = in.grad_y * t12;
            out.grad_up = t13;
        }
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> grad_y;
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> grad_gate;
        elementwise::elements<T, N> grad_up;
    };
    template <int N> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_y = static_cast<double>(elementwise::widen<T>(d.grad_y.value[k]));
            in.up = static_cast<double>(elementwise::widen<T>(d.up.value[k]));
            in.gate = static_cast<double>(elementwise::widen<T>(d.gate.value[k]));
            lines(a, in, out);
            d.grad_gate.value[k] = elementwise::narrow<T>(out.grad_gate);
            d.grad_up.value[k] = elementwise::narrow<T>(out.grad_up);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<1>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<2>(static_cast<const T *>(a.up), d.up.value);
        compute<N>(a, d);
        if (a.grad_gate != nullptr) { access.template store<3>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<4>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

// grad_gate: derived
// grad_up: derived
template <typename T>
struct silu_mul_backward__loops2 {
    using call = silu_mul_backward_call;
    static constexpr int OPERANDS = 5;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        float grad_y;
        float up;
        float gate;
    };
    struct results {
        float grad_gate;
        float grad_up;
    };
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const float t4 = elementwise::sigmoid(in.gate);
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const float t2 = in.grad_y * in.up;
            const float t5 = t2 * t4;
            const float t6 = t2 * in.gate;
            const float t8 = 1.0f - t4;
            const float t9 = t4 * t8;
            const float t10 = t6 * t9;
            const float t11 = t5 + t10;
            out.grad_gate = t11;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const float t12 = in.gate * t4;
            const float t13 = in.grad_y * t12;
            out.grad_up = t13;
        }
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> grad_y;
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> grad_gate;
        elementwise::elements<T, N> grad_up;
    };
    template <int N> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_y = static_cast<float>(elementwise::widen<T>(d.grad_y.value[k]));
            in.up = static_cast<float>(elementwise::widen<T>(d.up.value[k]));
            in.gate = static_cast<float>(elementwise::widen<T>(d.gate.value[k]));
            lines(a, in, out);
            d.grad_gate.value[k] = elementwise::narrow<T>(out.grad_gate);
            d.grad_up.value[k] = elementwise::narrow<T>(out.grad_up);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<1>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<2>(static_cast<const T *>(a.up), d.up.value);
        compute<N>(a, d);
        if (a.grad_gate != nullptr) { access.template store<3>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<4>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float64__flat(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_flat<silu_mul_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float64__vectors(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_vectors<silu_mul_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float64__crossed(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_crossed<silu_mul_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float64__narrow(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops1<double>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float64__wide(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops1<double>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float32__flat(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_flat<silu_mul_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float32__vectors(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_vectors<silu_mul_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float32__crossed(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_crossed<silu_mul_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float32__narrow(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops2<float>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float32__wide(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops2<float>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float16__flat(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_flat<silu_mul_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float16__vectors(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_vectors<silu_mul_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float16__crossed(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_crossed<silu_mul_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float16__narrow(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops2<__half>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__float16__wide(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops2<__half>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__bfloat16__flat(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_flat<silu_mul_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__bfloat16__vectors(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_vectors<silu_mul_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__bfloat16__crossed(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_crossed<silu_mul_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__bfloat16__narrow(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops2<__nv_bfloat16>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul_backward__bfloat16__wide(const __grid_constant__ silu_mul_backward_call call) {
    elementwise::run_singles<silu_mul_backward__loops2<__nv_bfloat16>, uint64_t>(call);
}

#endif
