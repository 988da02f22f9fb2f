// Memory as the words that one instruction moves. What has been loaded stays in them until it is needed: taken apart at
// once, it would be waited for before the next load is issued.
#pragma once

#include <stdint.h>

// The unsigned type of BYTES bytes.
template <int BYTES> struct word_of {
    using type = uint4;
};
template <> struct word_of<8> {
    using type = uint2;
};
template <> struct word_of<4> {
    using type = uint32_t;
};
template <> struct word_of<2> {
    using type = uint16_t;
};
template <> struct word_of<1> {
    using type = uint8_t;
};

// COUNT elements at an address that is a multiple of ALIGNMENT bytes, of which 16 at most count.
template <typename T, int COUNT, int ALIGNMENT> struct words_of {
    static constexpr int BYTES = COUNT * int(sizeof(T));
    static constexpr int EACH = BYTES < ALIGNMENT ? BYTES : ALIGNMENT;
    typename word_of<EACH>::type word[BYTES / EACH];

    __device__ __forceinline__ void load(const T *from) {
#pragma unroll
        for (int i = 0; i < BYTES / EACH; i++) {
            word[i] = reinterpret_cast<const typename word_of<EACH>::type *>(from)[i];
        }
    }
    __device__ __forceinline__ void store(T *to) const {
#pragma unroll
        for (int i = 0; i < BYTES / EACH; i++) {
            reinterpret_cast<typename word_of<EACH>::type *>(to)[i] = word[i];
        }
    }
    __device__ __forceinline__ void unpack(T (&elements)[COUNT]) const { memcpy(elements, word, BYTES); }
    __device__ __forceinline__ void pack(const T (&elements)[COUNT]) { memcpy(word, elements, BYTES); }
};
