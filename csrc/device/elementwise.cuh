// Loops of element-wise operators. The generated `Loops` of an operator says what happens to N elements:
//
//     Loops::call                     its call record, with layout__ and stride__
//     Loops::OPERANDS                 how many tensors, in the order of the rows of stride__
//     Loops::VECTOR                   elements of which the largest dtype fills 16 bytes
//     Loops::run<N>(call, access)     loads every operand, computes, stores: N elements that `access` finds
//
// An access is one of the four structs below. All loads of a thread come before its first store: the compiler could
// not move them there, since it cannot know that operands do not overlap.
#pragma once

#include "../elementwise_layout.h"
#include "dtype.cuh"
#include "memory_words.cuh"

namespace elementwise {

constexpr int THREADS = ELEMENTWISE_THREADS, UNROLL = ELEMENTWISE_UNROLL, SINGLES = ELEMENTWISE_SINGLES;

// What is loaded and stored for an element type; a bool may have been viewed from a byte that is neither 0 nor 1.
template <typename T> struct stored {
    using type = T;
};
template <> struct stored<bool> {
    using type = uint8_t;
};
template <typename T> using stored_t = typename stored<T>::type;

template <typename T, int N> struct elements {
    stored_t<T> value[N];
};

// An element as arithmetic sees it, and back.
template <typename T> __device__ __forceinline__ acc_t<T> widen(stored_t<T> value) { return to_acc<T>(value); }
template <> __device__ __forceinline__ int64_t widen<bool>(uint8_t value) { return value != 0; }
template <typename T, typename V> __device__ __forceinline__ stored_t<T> narrow(V value) {
    return from_acc<T>(static_cast<acc_t<T>>(value));
}

// How many elements of the largest of these types fill 16 bytes.
template <typename... Ts> constexpr int vector_of() {
    int largest = 1;
    ((largest = int(sizeof(Ts)) > largest ? int(sizeof(Ts)) : largest), ...);
    return 16 / largest;
}

// N elements at an address that is a multiple of their size, 16 bytes at most, as they are.
template <int N, typename T> __device__ __forceinline__ void load_vector(const T *p, T *value) {
    using word_t = typename word_of<N *int(sizeof(T))>::type;
    const word_t word = *reinterpret_cast<const word_t *>(p);
    memcpy(value, &word, N * sizeof(T));
}
template <int N, typename T> __device__ __forceinline__ void store_vector(T *p, const T *value) {
    typename word_of<N *int(sizeof(T))>::type word;
    memcpy(&word, value, N * sizeof(T));
    *reinterpret_cast<decltype(word) *>(p) = word;
}

// ---- accesses

// Vectors of one dim: UNROLL of them, THREADS vectors apart. Strides are not looked at where all are 1: a short kernel
// waits for each line of its arguments.
template <int VECTOR> struct flat {
    bool unit;
    const int64_t (*stride)[ELEMENTWISE_DIMS];
    int64_t first, elements_;

    __device__ __forceinline__ int64_t at(int u) const { return first + int64_t{u} * THREADS * VECTOR; }

    template <int OPERAND, typename T> __device__ __forceinline__ void load(const T *p, stored_t<T> *value) const {
        const auto *data = reinterpret_cast<const stored_t<T> *>(p);
        const bool same = !unit && stride[OPERAND][0] == 0;
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if (!same && at(u) + VECTOR <= elements_) {
                load_vector<VECTOR>(data + at(u), value + u * VECTOR);
            } else {
#pragma unroll
                for (int k = 0; k < VECTOR; k++) {
                    value[u * VECTOR + k] = data[!same && at(u) + k < elements_ ? at(u) + k : 0];
                }
            }
        }
    }
    template <int OPERAND, typename T> __device__ __forceinline__ void store(T *p, const stored_t<T> *value) const {
        auto *data = reinterpret_cast<stored_t<T> *>(p);
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if (at(u) + VECTOR <= elements_) {
                store_vector<VECTOR>(data + at(u), value + u * VECTOR);
            } else {
#pragma unroll
                for (int k = 0; k < VECTOR; k++) {
                    if (at(u) + k < elements_) {
                        data[at(u) + k] = value[u * VECTOR + k];
                    }
                }
            }
        }
    }
};

// The offset of an element in each operand. Divisions of 32-bit numbers are products; see elementwise_layout.h.
template <int OPERANDS, typename Index>
__device__ __forceinline__ void find_offsets(const elementwise_layout &layout,
                                             const int64_t (*stride)[ELEMENTWISE_DIMS], Index element,
                                             Index (&offset)[OPERANDS]) {
#pragma unroll
    for (int k = 0; k < OPERANDS; k++) {
        offset[k] = 0;
    }
#pragma unroll
    for (int i = 0; i < ELEMENTWISE_DIMS; i++) {
        if (i == layout.dims) {
            break;
        }
        Index quotient;
        if constexpr (sizeof(Index) == 4) {
            quotient = (__umulhi(element, layout.magic[i]) + element) >> layout.shift[i];
        } else {
            quotient = element / static_cast<Index>(layout.size[i]);
        }
        const Index index = element - quotient * static_cast<Index>(layout.size[i]);
#pragma unroll
        for (int k = 0; k < OPERANDS; k++) {
            offset[k] += index * static_cast<Index>(stride[k][i]);
        }
        element = quotient;
    }
}

// Vectors along the innermost dim, which is whole vectors long; operands have stride 1 or 0 there.
template <int VECTOR, int OPERANDS> struct vectors {
    const int64_t (*stride)[ELEMENTWISE_DIMS];
    uint32_t offset[UNROLL][OPERANDS];
    bool inside[UNROLL];

    template <int OPERAND, typename T> __device__ __forceinline__ void load(const T *p, stored_t<T> *value) const {
        const auto *data = reinterpret_cast<const stored_t<T> *>(p);
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if (!inside[u]) {
                continue;
            }
            if (stride[OPERAND][0] == 1) {
                load_vector<VECTOR>(data + offset[u][OPERAND], value + u * VECTOR);
            } else {
                const stored_t<T> same = data[offset[u][OPERAND]];
#pragma unroll
                for (int k = 0; k < VECTOR; k++) {
                    value[u * VECTOR + k] = same;
                }
            }
        }
    }
    template <int OPERAND, typename T> __device__ __forceinline__ void store(T *p, const stored_t<T> *value) const {
#pragma unroll
        for (int u = 0; u < UNROLL; u++) {
            if (inside[u]) {
                store_vector<VECTOR>(reinterpret_cast<stored_t<T> *>(p) + offset[u][OPERAND], value + u * VECTOR);
            }
        }
    }
};

// VECTOR elements along dim 1, at one place of dim 0, along which threads follow one another. An operand that is
// contiguous in dim 1 has them as a vector; another one has VECTOR rows, of which neighbouring threads take neighbours.
// The host has folded them: sizes and strides of dim 1 count vectors.
template <int VECTOR, int OPERANDS> struct crossed {
    const int64_t (*stride)[ELEMENTWISE_DIMS];
    uint32_t offset[OPERANDS];

    template <int OPERAND> __device__ __forceinline__ bool is_vector() const { return stride[OPERAND][1] == VECTOR; }
    template <int OPERAND> __device__ __forceinline__ uint32_t at(int k) const {
        return offset[OPERAND] + k * static_cast<uint32_t>(stride[OPERAND][1] / VECTOR);
    }
    template <int OPERAND, typename T> __device__ __forceinline__ void load(const T *p, stored_t<T> *value) const {
        const auto *data = reinterpret_cast<const stored_t<T> *>(p);
        if (is_vector<OPERAND>()) {
            load_vector<VECTOR>(data + offset[OPERAND], value);
            return;
        }
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            value[k] = data[at<OPERAND>(k)];
        }
    }
    template <int OPERAND, typename T> __device__ __forceinline__ void store(T *p, const stored_t<T> *value) const {
        auto *data = reinterpret_cast<stored_t<T> *>(p);
        if (is_vector<OPERAND>()) {
            store_vector<VECTOR>(data + offset[OPERAND], value);
            return;
        }
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            data[at<OPERAND>(k)] = value[k];
        }
    }
};

// Single elements, THREADS apart, at any strides.
template <int OPERANDS, typename Index> struct singles {
    Index offset[SINGLES][OPERANDS];
    bool inside[SINGLES];

    template <int OPERAND, typename T> __device__ __forceinline__ void load(const T *p, stored_t<T> *value) const {
#pragma unroll
        for (int u = 0; u < SINGLES; u++) {
            if (inside[u]) {
                value[u] = reinterpret_cast<const stored_t<T> *>(p)[offset[u][OPERAND]];
            }
        }
    }
    template <int OPERAND, typename T> __device__ __forceinline__ void store(T *p, const stored_t<T> *value) const {
#pragma unroll
        for (int u = 0; u < SINGLES; u++) {
            if (inside[u]) {
                reinterpret_cast<stored_t<T> *>(p)[offset[u][OPERAND]] = value[u];
            }
        }
    }
};

// ---- kernels

template <typename Loops> __device__ __forceinline__ void run_flat(const typename Loops::call &call) {
    constexpr int VECTOR = Loops::VECTOR;
    const int64_t first = (int64_t{blockIdx.x} * THREADS * UNROLL + threadIdx.x) * VECTOR;
    if (first < call.layout__.elements) {
        Loops::template run<UNROLL * VECTOR>(
            call, flat<VECTOR>{call.layout__.unit != 0, call.stride__, first, call.layout__.elements});
    }
}

template <typename Loops> __device__ __forceinline__ void run_vectors(const typename Loops::call &call) {
    constexpr int VECTOR = Loops::VECTOR;
    vectors<VECTOR, Loops::OPERANDS> access;
    access.stride = call.stride__;
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
        const uint32_t element = ((blockIdx.x * UNROLL + u) * THREADS + threadIdx.x) * VECTOR;
        access.inside[u] = element < call.layout__.elements;
        find_offsets<Loops::OPERANDS>(call.layout__, call.stride__, access.inside[u] ? element : 0u, access.offset[u]);
    }
    Loops::template run<UNROLL * VECTOR>(call, access);
}

template <typename Loops> __device__ __forceinline__ void run_crossed(const typename Loops::call &call) {
    const uint32_t vector = blockIdx.x * THREADS + threadIdx.x;
    if (vector < call.layout__.elements) {
        crossed<Loops::VECTOR, Loops::OPERANDS> access;
        access.stride = call.stride__;
        find_offsets<Loops::OPERANDS>(call.layout__, call.stride__, vector, access.offset);
        Loops::template run<Loops::VECTOR>(call, access);
    }
}

template <typename Loops, typename Index>
__device__ __forceinline__ void run_singles(const typename Loops::call &call) {
    singles<Loops::OPERANDS, Index> access;
#pragma unroll
    for (int u = 0; u < SINGLES; u++) {
        const Index element = (Index{blockIdx.x} * SINGLES + u) * THREADS + threadIdx.x;
        access.inside[u] = element < static_cast<Index>(call.layout__.elements);
        find_offsets<Loops::OPERANDS>(call.layout__, call.stride__, access.inside[u] ? element : Index{0},
                                      access.offset[u]);
    }
    Loops::template run<SINGLES>(call, access);
}

} // namespace elementwise
