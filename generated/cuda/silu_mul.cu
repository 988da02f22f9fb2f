// my_ops::silu_mul(Tensor gate, Tensor up) -> Tensor
//
// The loops of silu_mul, for each choice of dtypes and each way in which operands may lie in memory.
#include "element_math.cuh"
#include "elementwise.cuh"
#include "silu_mul_call.h"

// y: gate * sigmoid(gate) * up
template <typename T>
struct silu_mul__loops1 {
    using call = silu_mul_call;
    static constexpr int OPERANDS = 3;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        double gate;
        double up;
    };
    struct results {
        double y;
    };
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const double t1 = elementwise::sigmoid(in.gate);
        const double t2 = in.gate * t1;
        const double t4 = t2 * in.up;
        out.y = t4;
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> y;
    };
    template <int N> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.gate = static_cast<double>(elementwise::widen<T>(d.gate.value[k]));
            in.up = static_cast<double>(elementwise::widen<T>(d.up.value[k]));
            lines(a, in, out);
            d.y.value[k] = elementwise::narrow<T>(out.y);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<1>(static_cast<const T *>(a.up), d.up.value);
        compute<N>(a, d);
        access.template store<2>(static_cast<T *>(a.y), d.y.value);
    }
};

// y: gate * sigmoid(gate) * up
template <typename T>
struct silu_mul__loops2 {
    using call = silu_mul_call;
    static constexpr int OPERANDS = 3;
    static constexpr int VECTOR = elementwise::vector_of<T>();

    struct loaded {
        float gate;
        float up;
    };
    struct results {
        float y;
    };
    static __device__ __forceinline__ void lines(const call &a, const loaded &in, results &out) {
        const float t1 = elementwise::sigmoid(in.gate);
        const float t2 = in.gate * t1;
        const float t4 = t2 * in.up;
        out.y = t4;
    }

    template <int N> struct elements_of {
        elementwise::elements<T, N> gate;
        elementwise::elements<T, N> up;
        elementwise::elements<T, N> y;
    };
    template <int N> static __device__ __forceinline__ void compute(const call &a, elements_of<N> &d) {
#pragma unroll
        for (int k = 0; k < N; k++) {
            loaded in;
            results out;
            in.gate = static_cast<float>(elementwise::widen<T>(d.gate.value[k]));
            in.up = static_cast<float>(elementwise::widen<T>(d.up.value[k]));
            lines(a, in, out);
            d.y.value[k] = elementwise::narrow<T>(out.y);
        }
    }

    template <int N, typename Access> static __device__ __forceinline__ void run(const call &a, const Access &access) {
        elements_of<N> d;
        access.template load<0>(static_cast<const T *>(a.gate), d.gate.value);
        access.template load<1>(static_cast<const T *>(a.up), d.up.value);
        compute<N>(a, d);
        access.template store<2>(static_cast<T *>(a.y), d.y.value);
    }
};

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float64__flat(const __grid_constant__ silu_mul_call call) {
    elementwise::run_flat<silu_mul__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float64__vectors(const __grid_constant__ silu_mul_call call) {
    elementwise::run_vectors<silu_mul__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float64__crossed(const __grid_constant__ silu_mul_call call) {
    elementwise::run_crossed<silu_mul__loops1<double>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float64__narrow(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops1<double>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float64__wide(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops1<double>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float32__flat(const __grid_constant__ silu_mul_call call) {
    elementwise::run_flat<silu_mul__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float32__vectors(const __grid_constant__ silu_mul_call call) {
    elementwise::run_vectors<silu_mul__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float32__crossed(const __grid_constant__ silu_mul_call call) {
    elementwise::run_crossed<silu_mul__loops2<float>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float32__narrow(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops2<float>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float32__wide(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops2<float>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float16__flat(const __grid_constant__ silu_mul_call call) {
    elementwise::run_flat<silu_mul__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float16__vectors(const __grid_constant__ silu_mul_call call) {
    elementwise::run_vectors<silu_mul__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float16__crossed(const __grid_constant__ silu_mul_call call) {
    elementwise::run_crossed<silu_mul__loops2<__half>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float16__narrow(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops2<__half>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__float16__wide(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops2<__half>, uint64_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__bfloat16__flat(const __grid_constant__ silu_mul_call call) {
    elementwise::run_flat<silu_mul__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__bfloat16__vectors(const __grid_constant__ silu_mul_call call) {
    elementwise::run_vectors<silu_mul__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__bfloat16__crossed(const __grid_constant__ silu_mul_call call) {
    elementwise::run_crossed<silu_mul__loops2<__nv_bfloat16>>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__bfloat16__narrow(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops2<__nv_bfloat16>, uint32_t>(call);
}

extern "C" __global__ void __launch_bounds__(ELEMENTWISE_THREADS)
silu_mul__bfloat16__wide(const __grid_constant__ silu_mul_call call) {
    elementwise::run_singles<silu_mul__loops2<__nv_bfloat16>, uint64_t>(call);
}

#endif
