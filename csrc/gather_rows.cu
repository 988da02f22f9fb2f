// y[i] = table[index[i]], as bytes. The values of index are data on the device, so a launch cannot check them: an index
// outside [0, m) gives a row of zeros and reads nothing.
//
// y is written as one run of 16-byte vectors, whatever its rows are. A vector lies in one row or in two, and is cut out
// of those of the table that it lies in; at the ends of the table, and where y is not aligned or rows are shorter than
// a vector, it is put together out of elements.
//
// WHOLE: rows are made of whole, aligned vectors.
// A thread has EACH vectors in flight, 256 apart.
#include "gather_rows.cuh"

#include "row_vectors.cuh"

template <typename T, typename I> struct gathered {
    const gather_rows_args<T, I> &a;
    const uint8_t *table;
    int64_t row_bytes;
    int64_t table_bytes;
    int64_t bytes; // of y

    __device__ __forceinline__ explicit gathered(const gather_rows_args<T, I> &args)
        : a(args), table(reinterpret_cast<const uint8_t *>(args.table)), row_bytes(args.n * int64_t{sizeof(T)}),
          table_bytes(args.m * row_bytes), bytes(args.k * row_bytes) {}

    // Of vector k of the thread, in bytes of y.
    __device__ __forceinline__ int64_t at(int k, int each) const {
        return ((int64_t{blockIdx.x} * each + k) * 256 + threadIdx.x) * 16;
    }

    // The row of the table for row i of y, or -1.
    __device__ __forceinline__ int64_t row(int64_t i) const {
        const int64_t index = i < a.k ? static_cast<int64_t>(a.index[i]) : -1;
        return index >= 0 && index < a.m ? index : -1;
    }
};

template <int EACH, typename T, typename I> __device__ __forceinline__ void gather_whole_rows(const gathered<T, I> &g) {
    const uint8_t *from[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const divmod_result place = divmod(g.at(k, EACH), g.row_bytes);
        const int64_t row = g.row(place.quotient);
        from[k] = row < 0 ? nullptr : g.table + row * g.row_bytes + place.remainder;
    }
    uint4 vectors[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        vectors[k] = make_uint4(0, 0, 0, 0);
        if (from[k] != nullptr) {
            vectors[k] = __ldg(reinterpret_cast<const uint4 *>(from[k]));
        }
    }
    uint8_t *y = reinterpret_cast<uint8_t *>(g.a.y);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (g.at(k, EACH) < g.bytes) {
            __stcg(reinterpret_cast<uint4 *>(y + g.at(k, EACH)), vectors[k]);
        }
    }
}

// 16 bytes from anywhere in the table: two aligned vectors that hold them. `begin` may lie before the table where only
// the last ones are wanted.
struct loaded_bytes {
    uint4 low, high;
    int shift;

    // Whether both vectors lie in the table.
    static __device__ __forceinline__ bool fit(const uint8_t *table, int64_t table_bytes, int64_t begin) {
        const int misaligned = static_cast<int>(reinterpret_cast<uintptr_t>(table + begin) % 16);
        return begin >= misaligned && begin - misaligned + (misaligned == 0 ? 16 : 32) <= table_bytes;
    }
    __device__ __forceinline__ void load(const uint8_t *from) {
        shift = static_cast<int>(reinterpret_cast<uintptr_t>(from) % 16);
        const uint4 *aligned = reinterpret_cast<const uint4 *>(from - shift);
        low = __ldg(aligned);
        high = shift == 0 ? low : __ldg(aligned + 1);
    }
    __device__ __forceinline__ uint4 vector() const { return cut_vector<1>(low, high, shift); }
};

// A vector of y, element by element.
template <typename T, typename I> __device__ __forceinline__ void gather_elements(const gathered<T, I> &g, int64_t at) {
    using bits = bits_t<T>;
    constexpr int SIZE = vector_size<T>;
    const int64_t first = at / int64_t{sizeof(T)};
    const int64_t numel = g.a.k * g.a.n;
    divmod_result place = divmod(first, g.a.n);
    bits elements[SIZE];
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        const int64_t row = g.row(place.quotient);
        elements[i] =
            row < 0 ? bits{} : __ldg(reinterpret_cast<const bits *>(g.a.table) + row * g.a.n + place.remainder);
        place.remainder++;
        if (place.remainder == g.a.n) {
            place = {place.quotient + 1, 0};
        }
    }
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        if (first + i < numel) {
            reinterpret_cast<bits *>(g.a.y)[first + i] = elements[i];
        }
    }
}

template <int EACH, typename T, typename I> __device__ __forceinline__ void gather_any_rows(const gathered<T, I> &g) {
    loaded_bytes first[EACH], next[EACH];
    int64_t begin[EACH], next_begin[EACH]; // in the table, or -1 and -16 where there is nothing to load
    int cut[EACH];                         // bytes of the first row
    bool whole[EACH];
    const bool vectors = g.row_bytes >= 16 && is_aligned(g.a.y);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const divmod_result place = divmod(g.at(k, EACH), g.row_bytes);
        const int64_t left = g.row_bytes - place.remainder;
        cut[k] = static_cast<int>(min(left, int64_t{16}));
        const int64_t row = g.row(place.quotient);
        const int64_t next_row = cut[k] < 16 ? g.row(place.quotient + 1) : -1;
        begin[k] = row < 0 ? -1 : row * g.row_bytes + place.remainder;
        next_begin[k] = next_row < 0 ? -16 : next_row * g.row_bytes - cut[k];
        whole[k] = vectors && g.at(k, EACH) + 16 <= g.bytes &&
                   (row < 0 || loaded_bytes::fit(g.table, g.table_bytes, begin[k])) &&
                   (next_row < 0 || loaded_bytes::fit(g.table, g.table_bytes, next_begin[k]));
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        first[k] = {};
        next[k] = {};
        if (whole[k] && begin[k] >= 0) {
            first[k].load(g.table + begin[k]);
        }
        if (whole[k] && next_begin[k] > -16) {
            next[k].load(g.table + next_begin[k]);
        }
    }
    uint8_t *y = reinterpret_cast<uint8_t *>(g.a.y);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int64_t at = g.at(k, EACH);
        if (whole[k]) {
            __stcg(reinterpret_cast<uint4 *>(y + at), joined_vector(first[k].vector(), next[k].vector(), cut[k]));
        } else if (at < g.bytes) {
            gather_elements(g, at);
        }
    }
}

template <typename T, typename I, bool WHOLE> __device__ void gather_rows(const gather_rows_args<T, I> &a) {
    constexpr int EACH = 2;
    const gathered<T, I> g(a);
    if constexpr (WHOLE) {
        gather_whole_rows<EACH>(g);
    } else {
        gather_any_rows<EACH>(g);
    }
}
