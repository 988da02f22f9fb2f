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
    // t0 is the same for every element: what only one of its values needs is computed for that one.
    template <bool CONDITION>
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const double t7 = 0.5 * in.gate;
        const double t11 = in.gate * 0.7071067811865476;
        const double t20 = in.gate * in.gate;
        const double t21 = in.gate * t20;
        const double t22 = 0.044715 * t21;
        const double t23 = in.gate + t22;
        const double t24 = 0.7978845608028654 * t23;
        const double t25 = elementwise::tanh(t24);
        const double t36 = elementwise::erf(t11);
        const double t37 = CONDITION ? t36 : t25;
        const double t38 = 1.0 + t37;
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const double t4 = in.grad_y * in.up;
            const double t8 = t4 * t7;
            const double t9 = 1.1283791670955126 * t8;
            const double t12 = t11 * t11;
            const double t13 = -t12;
            const double t14 = elementwise::exp(t13);
            const double t15 = t9 * t14;
            const double t16 = t15 * 0.7071067811865476;
            const double t26 = t25 * t25;
            const double t27 = 1.0 - t26;
            const double t28 = t8 * t27;
            const double t29 = t28 * 0.7978845608028654;
            const double t30 = t29 * 0.044715;
            const double t32 = 3.0 * t20;
            const double t33 = t30 * t32;
            const double t34 = t29 + t33;
            const double t35 = CONDITION ? t16 : t34;
            const double t39 = t4 * t38;
            const double t40 = t39 * 0.5;
            const double t41 = t35 + t40;
            out.grad_gate = t41;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const double t42 = t7 * t38;
            const double t43 = in.grad_y * t42;
            out.grad_up = t43;
        }
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> grad_y;
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> grad_gate;
        elementwise::elements<T, N> grad_up;
    };
    template <int N, bool CONDITION> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_y = static_cast<double>(elementwise::widen<T>(d.grad_y.value[k]));
            in.up = static_cast<double>(elementwise::widen<T>(d.up.value[k]));
            in.gate = static_cast<double>(elementwise::widen<T>(d.gate.value[k]));
            lines<CONDITION>(a, in, out);
            d.grad_gate.value[k] = elementwise::narrow<T>(out.grad_gate);
            d.grad_up.value[k] = elementwise::narrow<T>(out.grad_up);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<1>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<2>(static_cast<const T *>(a.up), d.up.value);
        const bool t0 = a.approximate == gelu_mul_backward_approximate_none;
        if (t0) {
            compute<N, true>(a, d);
        } else {
            compute<N, false>(a, d);
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
    // t0 is the same for every element: what only one of its values needs is computed for that one.
    template <bool CONDITION>
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const float t7 = 0.5f * in.gate;
        const float t11 = in.gate * 0.7071067811865476f;
        const float t20 = in.gate * in.gate;
        const float t21 = in.gate * t20;
        const float t22 = 0.044715f * t21;
        const float t23 = in.gate + t22;
        const float t24 = 0.7978845608028654f * t23;
        const float t25 = elementwise::tanh(t24);
        const float t36 = elementwise::erf(t11);
        const float t37 = CONDITION ? t36 : t25;
        const float t38 = 1.0f + t37;
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const float t4 = in.grad_y * in.up;
            const float t8 = t4 * t7;
            const float t9 = 1.1283791670955126f * t8;
            const float t12 = t11 * t11;
            const float t13 = -t12;
            const float t14 = elementwise::exp(t13);
            const float t15 = t9 * t14;
            const float t16 = t15 * 0.7071067811865476f;
            const float t26 = t25 * t25;
            const float t27 = 1.0f - t26;
            const float t28 = t8 * t27;
            const float t29 = t28 * 0.7978845608028654f;
            const float t30 = t29 * 0.044715f;
            const float t32 = 3.0f * t20;
            const float t33 = t30 * t32;
            const float t34 = t29 + t33;
            const float t35 = CONDITION ? t16 : t34;
            const float t39 = t4 * t38;
            const float t40 = t39 * 0.5f;
            const float t41 = t35 + t40;
            out.grad_gate = t41;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const float t42 = t7 * t38;
            const float t43 = in.grad_y * t42;
            out.grad_up = t43;
        }
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> grad_y;
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> grad_gate;
        elementwise::elements<T, N> grad_up;
    };
    template <int N, bool CONDITION> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_y = static_cast<float>(elementwise::widen<T>(d.grad_y.value[k]));
            in.up = static_cast<float>(elementwise::widen<T>(d.up.value[k]));
            in.gate = static_cast<float>(elementwise::widen<T>(d.gate.value[k]));
            lines<CONDITION>(a, in, out);
            d.grad_gate.value[k] = elementwise::narrow<T>(out.grad_gate);
            d.grad_up.value[k] = elementwise::narrow<T>(out.grad_up);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.grad_y), d.grad_y.value);
        access.template load<1>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<2>(static_cast<const T *>(a.up), d.up.value);
        const bool t0 = a.approximate == gelu_mul_backward_approximate_none;
        if (t0) {
            compute<N, true>(a, d);
        } else {
            compute<N, false>(a, d);
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
gelu_mul_backward__float64__crossed(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward__loops1<double>>(call);
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
gelu_mul_backward__float32__crossed(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward__loops2<float>>(call);
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
gelu_mul_backward__float16__crossed(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward__loops2<__half>>(call);
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
gelu_mul_backward__bfloat16__crossed(const __grid_constant__ gelu_mul_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward__loops2<__nv_bfloat16>>(call);
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
