// my_ops::gelu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// The loops of gelu_mul_backward, for each choice of dtypes and each way in which operands may lie in memory.
#include "element_math.cuh"
#include "elementwise.cuh"
#include "gelu_mul_backward_call.h"

// grad_gate: derived
// grad_up: derived
template <typename T>
struct gelu_mul_backward__loops1 {
    using call = gelu_mul_backward_call;
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
        const bool t0 = a.approximate == gelu_mul_backward_approximate_none;
        const double t7 = 0.5 * in.gate;
        const double t13 = in.gate * in.gate;
        const double t14 = in.gate * t13;
        const double t15 = 0.044715 * t14;
        const double t16 = in.gate + t15;
        const double t17 = 0.7978845608028654 * t16;
        const double t18 = elementwise::tanh(t17);
        const double t32 = in.gate * 0.7071067811865476;
        const double t39 = elementwise::erf(t32);
        const double t40 = t0 ? t39 : t18;
        const double t41 = 1.0 + t40;
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const double t4 = in.grad_y * in.up;
            const double t8 = t4 * t7;
            const double t9 = t0 ? 0.0 : t8;
            const double t19 = t18 * t18;
            const double t20 = 1.0 - t19;
            const double t21 = t9 * t20;
            const double t22 = t21 * 0.7978845608028654;
            const double t23 = t22 * 0.044715;
            const double t25 = 3.0 * t13;
            const double t26 = t23 * t25;
            const double t27 = t22 + t26;
            const double t29 = t0 ? t8 : 0.0;
            const double t30 = 1.1283791670955126 * t29;
            const double t33 = t32 * t32;
            const double t34 = -t33;
            const double t35 = elementwise::exp(t34);
            const double t36 = t30 * t35;
            const double t37 = t36 * 0.7071067811865476;
            const double t38 = t27 + t37;
            const double t42 = t4 * t41;
            const double t43 = t42 * 0.5;
            const double t44 = t38 + t43;
            out.grad_gate = t44;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const double t45 = t7 * t41;
            const double t46 = in.grad_y * t45;
            out.grad_up = t46;
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        struct {
            elementwise::elements<T, N> grad_y;
            elementwise::elements<T, N> gate;
            elementwise::elements<T, N> up;
            elementwise::elements<T, N> grad_gate;
            elementwise::elements<T, N> grad_up;
        } d;
        access.template load<0>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<1>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<2>(static_cast<const T *>(a.up), d.up.value);
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
        if (a.grad_gate != nullptr) { access.template store<3>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<4>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

// grad_gate: derived
// grad_up: derived
template <typename T>
struct gelu_mul_backward__loops2 {
    using call = gelu_mul_backward_call;
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
        const bool t0 = a.approximate == gelu_mul_backward_approximate_none;
        const float t7 = 0.5f * in.gate;
        const float t13 = in.gate * in.gate;
        const float t14 = in.gate * t13;
        const float t15 = 0.044715f * t14;
        const float t16 = in.gate + t15;
        const float t17 = 0.7978845608028654f * t16;
        const float t18 = elementwise::tanh(t17);
        const float t32 = in.gate * 0.7071067811865476f;
        const float t39 = elementwise::erf(t32);
        const float t40 = t0 ? t39 : t18;
        const float t41 = 1.0f + t40;
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const float t4 = in.grad_y * in.up;
            const float t8 = t4 * t7;
            const float t9 = t0 ? 0.0f : t8;
            const float t19 = t18 * t18;
            const float t20 = 1.0f - t19;
            const float t21 = t9 * t20;
            const float t22 = t21 * 0.7978845608028654f;
            const float t23 = t22 * 0.044715f;
            const float t25 = 3.0f * t13;
            const float t26 = t23 * t25;
            const float t27 = t22 + t26;
            const float t29 = t0 ? t8 : 0.0f;
            const float t30 = 1.1283791670955126f * t29;
            const float t33 = t32 * t32;
            const float t34 = -t33;
            const float t35 = elementwise::exp(t34);
            const float t36 = t30 * t35;
            const float t37 = t36 * 0.7071067811865476f;
            const float t38 = t27 + t37;
            const float t42 = t4 * t41;
            const float t43 = t42 * 0.5f;
            const float t44 = t38 + t43;
            out.grad_gate = t44;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const float t45 = t7 * t41;
            const float t46 = in.grad_y * t45;
            out.grad_up = t46;
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        struct {
            elementwise::elements<T, N> grad_y;
            elementwise::elements<T, N> gate;
            elementwise::elements<T, N> up;
            elementwise::elements<T, N> grad_gate;
            elementwise::elements<T, N> grad_up;
        } d;
        access.template load<0>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<1>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<2>(static_cast<const T *>(a.up), d.up.value);
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
        if (a.grad_gate != nullptr) { access.template store<3>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<4>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float64__flat(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_flat<gelu_mul_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float64__vectors(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float64__narrow(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops1<double>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float64__wide(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops1<double>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float32__flat(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_flat<gelu_mul_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float32__vectors(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float32__narrow(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops2<float>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float32__wide(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops2<float>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float16__flat(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_flat<gelu_mul_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float16__vectors(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float16__narrow(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops2<__half>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__float16__wide(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops2<__half>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__bfloat16__flat(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_flat<gelu_mul_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__bfloat16__vectors(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__bfloat16__narrow(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops2<__nv_bfloat16>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward__bfloat16__wide(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_singles<gelu_mul_backward__loops2<__nv_bfloat16>, uint64_t>(call);
}

#endif
