// my_ops::gelu_mul(Tensor gate, Tensor up, str approximate="none") -> Tensor
//
// The loops of gelu_mul, for each choice of dtypes and each way in which operands may lie in memory.
#include "element_math.cuh"
#include "elementwise.cuh"
#include "gelu_mul_call.h"

// y: 0.5 * gate * (1 + (erf(gate * 0.7071067811865476) if approximate == "none" else tanh(0.7978845608028654 * (gate + 0.044715 * gate ** 3)))) * up
template <typename T>
struct gelu_mul__loops1 {
    using call = gelu_mul_call;
    static constexpr int OPERANDS = 3;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        double gate;
        double up;
    };
    struct results {
        double y;
    };
    // t4 is the same for every element: what only one of its values needs is computed for that one.
    template <bool CONDITION>
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const double t2 = 0.5 * in.gate;
        const double t6 = in.gate * 0.7071067811865476;
        const double t7 = elementwise::erf(t6);
        const double t10 = in.gate * in.gate;
        const double t11 = in.gate * t10;
        const double t12 = 0.044715 * t11;
        const double t13 = in.gate + t12;
        const double t14 = 0.7978845608028654 * t13;
        const double t15 = elementwise::tanh(t14);
        const double t16 = CONDITION ? t7 : t15;
        const double t17 = 1.0 + t16;
        const double t18 = t2 * t17;
        const double t20 = t18 * in.up;
        out.y = t20;
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> y;
    };
    template <int N, bool CONDITION> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.gate = static_cast<double>(elementwise::widen<T>(d.gate.value[k]));
            in.up = static_cast<double>(elementwise::widen<T>(d.up.value[k]));
            lines<CONDITION>(a, in, out);
            d.y.value[k] = elementwise::narrow<T>(out.y);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<1>(static_cast<const T *>(a.up), d.up.value);
        const bool t4 = a.approximate == gelu_mul_approximate_none;
        if (t4) {
            compute<N, true>(a, d);
        } else {
            compute<N, false>(a, d);
        }
        access.template store<2>(static_cast<T *>(a.y), d.y.value);
    }
};

// y: 0.5 * gate * (1 + (erf(gate * 0.7071067811865476) if approximate == "none" else tanh(0.7978845608028654 * (gate + 0.044715 * gate ** 3)))) * up
template <typename T>
struct gelu_mul__loops2 {
    using call = gelu_mul_call;
    static constexpr int OPERANDS = 3;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        float gate;
        float up;
    };
    struct results {
        float y;
    };
    // t4 is the same for every element: what only one of its values needs is computed for that one.
    template <bool CONDITION>
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const float t2 = 0.5f * in.gate;
        const float t6 = in.gate * 0.7071067811865476f;
        const float t7 = elementwise::erf(t6);
        const float t10 = in.gate * in.gate;
        const float t11 = in.gate * t10;
        const float t12 = 0.044715f * t11;
        const float t13 = in.gate + t12;
        const float t14 = 0.7978845608028654f * t13;
        const float t15 = elementwise::tanh(t14);
        const float t16 = CONDITION ? t7 : t15;
        const float t17 = 1.0f + t16;
        const float t18 = t2 * t17;
        const float t20 = t18 * in.up;
        out.y = t20;
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> y;
    };
    template <int N, bool CONDITION> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.gate = static_cast<float>(elementwise::widen<T>(d.gate.value[k]));
            in.up = static_cast<float>(elementwise::widen<T>(d.up.value[k]));
            lines<CONDITION>(a, in, out);
            d.y.value[k] = elementwise::narrow<T>(out.y);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<1>(static_cast<const T *>(a.up), d.up.value);
        const bool t4 = a.approximate == gelu_mul_approximate_none;
        if (t4) {
            compute<N, true>(a, d);
        } else {
            compute<N, false>(a, d);
        }
        access.template store<2>(static_cast<T *>(a.y), d.y.value);
    }
};

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float64__flat(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_flat<gelu_mul__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float64__vectors(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_vectors<gelu_mul__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float64__crossed(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_crossed<gelu_mul__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float64__narrow(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops1<double>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float64__wide(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops1<double>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float32__flat(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_flat<gelu_mul__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float32__vectors(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_vectors<gelu_mul__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float32__crossed(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_crossed<gelu_mul__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float32__narrow(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops2<float>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float32__wide(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops2<float>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float16__flat(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_flat<gelu_mul__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float16__vectors(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_vectors<gelu_mul__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float16__crossed(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_crossed<gelu_mul__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float16__narrow(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops2<__half>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__float16__wide(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops2<__half>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__bfloat16__flat(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_flat<gelu_mul__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__bfloat16__vectors(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_vectors<gelu_mul__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__bfloat16__crossed(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_crossed<gelu_mul__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__bfloat16__narrow(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops2<__nv_bfloat16>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul__bfloat16__wide(const __grid_constant__ gelu_mul_call call) {
    elementwise::run_singles<gelu_mul__loops2<__nv_bfloat16>, uint64_t>(call);
}

#endif
