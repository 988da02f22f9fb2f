// my_ops::gelu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)
//
// The loops of gelu_mul_backward_backward, for each choice of dtypes and each way in which operands may lie in memory.
#include "element_math.cuh"
#include "elementwise.cuh"
#include "gelu_mul_backward_backward_call.h"

// grad_grad_y: derived
// grad_gate: derived
// grad_up: derived
template <typename T>
struct gelu_mul_backward_backward__loops1 {
    using call = gelu_mul_backward_backward_call;
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
    // t5 is the same for every element: what only one of its values needs is computed for that one.
    template <bool CONDITION>
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const double t3 = 0.5 * in.gate;
        const double t7 = in.gate * 0.7071067811865476;
        const double t8 = elementwise::erf(t7);
        const double t11 = in.gate * in.gate;
        const double t12 = in.gate * t11;
        const double t13 = 0.044715 * t12;
        const double t14 = in.gate + t13;
        const double t15 = 0.7978845608028654 * t14;
        const double t16 = elementwise::tanh(t15);
        const double t17 = CONDITION ? t8 : t16;
        const double t18 = 1.0 + t17;
        const double t22 = in.grad_grad_gate * 0.5;
        const double t23 = t22 * t18;
        const double t24 = in.grad_grad_gate * 0.7071067811865476;
        const double t25 = t7 * t7;
        const double t26 = -t25;
        const double t27 = elementwise::exp(t26);
        const double t28 = t24 * t27;
        const double t30 = t28 * 1.1283791670955126;
        const double t32 = 3.0 * t11;
        const double t33 = in.grad_grad_gate * t32;
        const double t34 = t33 * 0.044715;
        const double t35 = in.grad_grad_gate + t34;
        const double t36 = t35 * 0.7978845608028654;
        const double t37 = t16 * t16;
        const double t38 = 1.0 - t37;
        const double t39 = t36 * t38;
        const double t40 = CONDITION ? t30 : t39;
        const double t41 = t40 * t3;
        const double t42 = t23 + t41;
        out.grad_grad_y = 0;
        if (a.grad_grad_y != nullptr) {
            const double t19 = t3 * t18;
            const double t20 = in.grad_grad_up * t19;
            const double t44 = t42 * in.up;
            const double t45 = t20 + t44;
            out.grad_grad_y = t45;
        }
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const double t47 = in.grad_grad_up * in.grad_y;
            const double t48 = t47 * t3;
            const double t49 = in.grad_y * in.up;
            const double t50 = t22 * t49;
            const double t51 = t48 + t50;
            const double t52 = 1.1283791670955126 * t51;
            const double t53 = t52 * t27;
            const double t54 = t49 * t3;
            const double t55 = 1.1283791670955126 * t54;
            const double t56 = t24 * t55;
            const double t57 = t56 * t27;
            const double t58 = -t57;
            const double t59 = t58 * t7;
            const double t60 = t53 + t59;
            const double t61 = t60 + t59;
            const double t62 = t61 * 0.7071067811865476;
            const double t63 = t54 * t38;
            const double t64 = t63 * 0.7978845608028654;
            const double t65 = t64 * 0.044715;
            const double t66 = in.grad_grad_gate * t65;
            const double t67 = t66 * 3.0;
            const double t69 = 2.0 * in.gate;
            const double t70 = t67 * t69;
            const double t71 = t36 * t54;
            const double t72 = -t71;
            const double t73 = t72 * t16;
            const double t74 = t51 + t73;
            const double t75 = t74 + t73;
            const double t76 = t75 * t38;
            const double t77 = t76 * 0.7978845608028654;
            const double t78 = t70 + t77;
            const double t79 = t77 * 0.044715;
            const double t80 = t79 * t32;
            const double t81 = t78 + t80;
            const double t82 = CONDITION ? t62 : t81;
            const double t83 = t47 * t18;
            const double t84 = t40 * t49;
            const double t85 = t83 + t84;
            const double t86 = t85 * 0.5;
            const double t87 = t82 + t86;
            out.grad_gate = t87;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const double t88 = t42 * in.grad_y;
            out.grad_up = t88;
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
    template <int N, bool CONDITION> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_grad_up = static_cast<double>(elementwise::widen<T>(d.grad_grad_up.value[k]));
            in.gate = static_cast<double>(elementwise::widen<T>(d.gate.value[k]));
            in.grad_grad_gate = static_cast<double>(elementwise::widen<T>(d.grad_grad_gate.value[k]));
            in.up = static_cast<double>(elementwise::widen<T>(d.up.value[k]));
            in.grad_y = static_cast<double>(elementwise::widen<T>(d.grad_y.value[k]));
            lines<CONDITION>(a, in, out);
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
        const bool t5 = a.approximate == gelu_mul_backward_backward_approximate_none;
        if (t5) {
            compute<N, true>(a, d);
        } else {
            compute<N, false>(a, d);
        }
        if (a.grad_grad_y != nullptr) { access.template store<5>(static_cast<T *>(a.grad_grad_y), d.grad_grad_y.value); }
        if (a.grad_gate != nullptr) { access.template store<6>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<7>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

// grad_grad_y: derived
// grad_gate: derived
// grad_up: derived
template <typename T>
struct gelu_mul_backward_backward__loops2 {
    using call = gelu_mul_backward_backward_call;
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
    // t5 is the same for every element: what only one of its values needs is computed for that one.
    template <bool CONDITION>
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const float t3 = 0.5f * in.gate;
        const float t7 = in.gate * 0.7071067811865476f;
        const float t8 = elementwise::erf(t7);
        const float t11 = in.gate * in.gate;
        const float t12 = in.gate * t11;
        const float t13 = 0.044715f * t12;
        const float t14 = in.gate + t13;
        const float t15 = 0.7978845608028654f * t14;
        const float t16 = elementwise::tanh(t15);
        const float t17 = CONDITION ? t8 : t16;
        const float t18 = 1.0f + t17;
        const float t22 = in.grad_grad_gate * 0.5f;
        const float t23 = t22 * t18;
        const float t24 = in.grad_grad_gate * 0.7071067811865476f;
        const float t25 = t7 * t7;
        const float t26 = -t25;
        const float t27 = elementwise::exp(t26);
        const float t28 = t24 * t27;
        const float t30 = t28 * 1.1283791670955126f;
        const float t32 = 3.0f * t11;
        const float t33 = in.grad_grad_gate * t32;
        const float t34 = t33 * 0.044715f;
        const float t35 = in.grad_grad_gate + t34;
        const float t36 = t35 * 0.7978845608028654f;
        const float t37 = t16 * t16;
        const float t38 = 1.0f - t37;
        const float t39 = t36 * t38;
        const float t40 = CONDITION ? t30 : t39;
        const float t41 = t40 * t3;
        const float t42 = t23 + t41;
        out.grad_grad_y = 0;
        if (a.grad_grad_y != nullptr) {
            const float t19 = t3 * t18;
            const float t20 = in.grad_grad_up * t19;
            const float t44 = t42 * in.up;
            const float t45 = t20 + t44;
            out.grad_grad_y = t45;
        }
        out.grad_gate = 0;
        if (a.grad_gate != nullptr) {
            const float t47 = in.grad_grad_up * in.grad_y;
            const float t48 = t47 * t3;
            const float t49 = in.grad_y * in.up;
            const float t50 = t22 * t49;
            const float t51 = t48 + t50;
            const float t52 = 1.1283791670955126f * t51;
            const float t53 = t52 * t27;
            const float t54 = t49 * t3;
            const float t55 = 1.1283791670955126f * t54;
            const float t56 = t24 * t55;
            const float t57 = t56 * t27;
            const float t58 = -t57;
            const float t59 = t58 * t7;
            const float t60 = t53 + t59;
            const float t61 = t60 + t59;
            const float t62 = t61 * 0.7071067811865476f;
            const float t63 = t54 * t38;
            const float t64 = t63 * 0.7978845608028654f;
            const float t65 = t64 * 0.044715f;
            const float t66 = in.grad_grad_gate * t65;
            const float t67 = t66 * 3.0f;
            const float t69 = 2.0f * in.gate;
            const float t70 = t67 * t69;
            const float t71 = t36 * t54;
            const float t72 = -t71;
            const float t73 = t72 * t16;
            const float t74 = t51 + t73;
            const float t75 = t74 + t73;
            const float t76 = t75 * t38;
            const float t77 = t76 * 0.7978845608028654f;
            const float t78 = t70 + t77;
            const float t79 = t77 * 0.044715f;
            const float t80 = t79 * t32;
            const float t81 = t78 + t80;
            const float t82 = CONDITION ? t62 : t81;
            const float t83 = t47 * t18;
            const float t84 = t40 * t49;
            const float t85 = t83 + t84;
            const float t86 = t85 * 0.5f;
            const float t87 = t82 + t86;
            out.grad_gate = t87;
        }
        out.grad_up = 0;
        if (a.grad_up != nullptr) {
            const float t88 = t42 * in.grad_y;
            out.grad_up = t88;
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
    template <int N, bool CONDITION> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.grad_grad_up = static_cast<float>(elementwise::widen<T>(d.grad_grad_up.value[k]));
            in.gate = static_cast<float>(elementwise::widen<T>(d.gate.value[k]));
            in.grad_grad_gate = static_cast<float>(elementwise::widen<T>(d.grad_grad_gate.value[k]));
            in.up = static_cast<float>(elementwise::widen<T>(d.up.value[k]));
            in.grad_y = static_cast<float>(elementwise::widen<T>(d.grad_y.value[k]));
            lines<CONDITION>(a, in, out);
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
        const bool t5 = a.approximate == gelu_mul_backward_backward_approximate_none;
        if (t5) {
            compute<N, true>(a, d);
        } else {
            compute<N, false>(a, d);
        }
        if (a.grad_grad_y != nullptr) { access.template store<5>(static_cast<T *>(a.grad_grad_y), d.grad_grad_y.value); }
        if (a.grad_gate != nullptr) { access.template store<6>(static_cast<T *>(a.grad_gate), d.grad_gate.value); }
        if (a.grad_up != nullptr) { access.template store<7>(static_cast<T *>(a.grad_up), d.grad_up.value); }
    }
};

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float64__flat(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_flat<gelu_mul_backward_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float64__vectors(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float64__crossed(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward_backward__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float64__narrow(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops1<double>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float64__wide(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops1<double>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float32__flat(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_flat<gelu_mul_backward_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float32__vectors(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float32__crossed(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward_backward__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float32__narrow(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops2<float>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float32__wide(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops2<float>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float16__flat(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_flat<gelu_mul_backward_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float16__vectors(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float16__crossed(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward_backward__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float16__narrow(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops2<__half>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__float16__wide(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops2<__half>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__bfloat16__flat(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_flat<gelu_mul_backward_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__bfloat16__vectors(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_vectors<gelu_mul_backward_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__bfloat16__crossed(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_crossed<gelu_mul_backward_backward__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__bfloat16__narrow(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops2<__nv_bfloat16>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
gelu_mul_backward_backward__bfloat16__wide(const __grid_constant__ gelu_mul_backward_backward_call call) {
    elementwise::run_singles<gelu_mul_backward_backward__loops2<__nv_bfloat16>, uint64_t>(call);
}

#endif
