// 16-byte vectors: the widest access of one thread, held as uint4 and unpacked to acc_t for arithmetic.
//
// A row whose address is no multiple of 16 is cut where memory is aligned, `shift` elements before its start: vector i
// holds elements [i * size - shift, (i + 1) * size - shift). Only the vectors at its ends are incomplete and go element
// by element. Elements outside the row read as zero; load_vector and store_vector do not touch their memory.
#pragma once

#include "dtype.cuh"

template <typename T> constexpr int vector_size = 16 / int(sizeof(T));

__device__ __forceinline__ bool is_aligned(const void *pointer) {
    return reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
}

// Elements between the last 16-byte boundary and pointer.
template <typename T> __device__ __forceinline__ int alignment_shift(const T *pointer) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(pointer) % 16 / sizeof(T));
}

// Where to cut a row. Rows of whole vectors are not shifted, so that they need no vector more than they hold.
template <typename T, bool ALIGNED> __device__ __forceinline__ int row_shift(const T *row, int64_t n) {
    return ALIGNED || n % vector_size<T> == 0 ? 0 : alignment_shift(row);
}

__device__ __forceinline__ void unpack(uint4 bits, const double *, double (&values)[2]) {
    values[0] = __hiloint2double(bits.y, bits.x);
    values[1] = __hiloint2double(bits.w, bits.z);
}
__device__ __forceinline__ void unpack(uint4 bits, const float *, float (&values)[4]) {
    values[0] = __uint_as_float(bits.x);
    values[1] = __uint_as_float(bits.y);
    values[2] = __uint_as_float(bits.z);
    values[3] = __uint_as_float(bits.w);
}
__device__ __forceinline__ void unpack(uint4 bits, const __half *, float (&values)[8]) {
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        values[2 * i] = __half2float(__ushort_as_half(static_cast<unsigned short>(words[i])));
        values[2 * i + 1] = __half2float(__ushort_as_half(static_cast<unsigned short>(words[i] >> 16)));
    }
}
__device__ __forceinline__ void unpack(uint4 bits, const __nv_bfloat16 *, float (&values)[8]) {
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        values[2 * i] = __uint_as_float(words[i] << 16);
        values[2 * i + 1] = __uint_as_float(words[i] & 0xffff0000u);
    }
}

__device__ __forceinline__ uint4 pack(const double *, const double (&values)[2]) {
    return make_uint4(__double2loint(values[0]), __double2hiint(values[0]), __double2loint(values[1]),
                      __double2hiint(values[1]));
}
__device__ __forceinline__ uint4 pack(const float *, const float (&values)[4]) {
    return make_uint4(__float_as_uint(values[0]), __float_as_uint(values[1]), __float_as_uint(values[2]),
                      __float_as_uint(values[3]));
}
__device__ __forceinline__ uint4 pack(const __half *, const float (&values)[8]) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const __half2 pair = __floats2half2_rn(values[2 * i], values[2 * i + 1]);
        words[i] = *reinterpret_cast<const uint32_t *>(&pair);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}
__device__ __forceinline__ uint4 pack(const __nv_bfloat16 *, const float (&values)[8]) {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(values[2 * i], values[2 * i + 1]);
        words[i] = *reinterpret_cast<const uint32_t *>(&pair);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

template <typename T> __device__ __forceinline__ void unpack(uint4 bits, acc_t<T> (&values)[vector_size<T>]) {
    unpack(bits, static_cast<const T *>(nullptr), values);
}
template <typename T> __device__ __forceinline__ uint4 pack(const acc_t<T> (&values)[vector_size<T>]) {
    return pack(static_cast<const T *>(nullptr), values);
}

// An unsigned integer of T's size moves an element without a conversion.
template <int SIZE> struct element_bits;
template <> struct element_bits<1> {
    using type = uint8_t;
};
template <> struct element_bits<2> {
    using type = uint16_t;
};
template <> struct element_bits<4> {
    using type = uint32_t;
};
template <> struct element_bits<8> {
    using type = unsigned long long;
};
template <> struct element_bits<16> {
    using type = uint4;
};
template <typename T> using bits_t = typename element_bits<sizeof(T)>::type;

// A load of what the kernel never writes, where READ_ONLY says so.
template <bool READ_ONLY, typename V> __device__ __forceinline__ V load_from(const V *pointer) {
    return READ_ONLY ? __ldg(pointer) : *pointer;
}

// Elements [first, first + size) of a row of n. ALIGNED promises a row of whole, aligned vectors.
template <typename T, bool ALIGNED, bool READ_ONLY = true, typename Index>
__device__ __forceinline__ uint4 load_vector(const T *row, Index n, Index first) {
    constexpr int SIZE = vector_size<T>;
    if (ALIGNED ? first < n : first >= 0 && first + SIZE <= n && is_aligned(row + first)) {
        return load_from<READ_ONLY>(reinterpret_cast<const uint4 *>(row + first));
    }
    uint4 vector = make_uint4(0, 0, 0, 0);
    if constexpr (!ALIGNED) {
        bits_t<T> elements[SIZE];
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            const bool inside = first + i >= 0 && first + i < n;
            elements[i] =
                inside ? load_from<READ_ONLY>(reinterpret_cast<const bits_t<T> *>(row + first) + i) : bits_t<T>(0);
        }
        memcpy(&vector, elements, sizeof vector);
    }
    return vector;
}

// Stored past L1, and for L2 as any other line: marked as the first to leave it (__stcs), outputs at some places in
// memory took 5 % longer; through L1, one output beside two inputs took 20 % longer (H200).
template <typename T, bool ALIGNED, typename Index>
__device__ __forceinline__ void store_vector(T *row, Index n, Index first, uint4 vector) {
    constexpr int SIZE = vector_size<T>;
    if (ALIGNED ? first < n : first >= 0 && first + SIZE <= n && is_aligned(row + first)) {
        __stcg(reinterpret_cast<uint4 *>(row + first), vector);
    } else if constexpr (!ALIGNED) {
        bits_t<T> elements[SIZE];
        memcpy(elements, &vector, sizeof vector);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            if (first + i >= 0 && first + i < n) {
                reinterpret_cast<bits_t<T> *>(row + first)[i] = elements[i];
            }
        }
    }
}

// Asynchronous copy of 16 aligned bytes from global to shared memory, past L1; where it is not `wanted`, zeros come
// instead and global memory is not touched. The thread that issued it sees the bytes after await_copies. Copies up to
// each commit_copies form a group; await_copies<N> leaves the N newest groups in flight.
__device__ __forceinline__ void copy_async(uint4 *shared, const void *global, bool wanted) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<uint32_t>(__cvta_generic_to_shared(shared))),
        "l"(global), "r"(wanted ? 16 : 0)
        : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
