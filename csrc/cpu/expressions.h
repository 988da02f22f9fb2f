/* Element-wise operators on the CPU: what the generated loops and expressions of one choice of dtypes are made of.
 *
 * ELEMENTWISE_BITS says how an expression is computed. 32 or 64: in lanes, vectors of VECTOR_BYTES of float or double,
 * with comparisons as masks; every operand is converted as it is loaded or stored. 0: one element at a time, because
 * integers or several types meet; the compiler may still vectorise.
 *
 * Loads and stores take a distance between elements, `step`: 1 and 0 are the fast ones. Those of a part touch `count`
 * elements only; the other lanes are computed from zeros and dropped. */
#ifndef CSRC_CPU_EXPRESSIONS_H
#define CSRC_CPU_EXPRESSIONS_H

#include "../elementwise_layout.h"
#include "vector.h"

/* Lines may be long, and each copy of a loop shows in the library: one is enough. */
#if defined(__clang__)
#define CPU_OUTLINE static __attribute__((unused, noinline))
#else
#define CPU_OUTLINE static __attribute__((unused, noinline, noclone))
#endif

#include "elements.h"

#if ELEMENTWISE_BITS == 0
#include "complex_elements.h"
#define CPU_LANES INT64_C(1)
#else
#include "lanes.h"
#endif

/* Whether vectors at p are aligned where those at q are. */
static inline bool cpu_aligned_alike(const void *p, const void *q) {
    return ((uintptr_t)p - (uintptr_t)q) % VECTOR_BYTES == 0;
}

/* ---- tiles: the part of the iteration space that one unit of work covers ---- */

typedef struct cpu_tile {
    int64_t row;  /* elements of a row */
    int64_t rows; /* how many, along the second dim */
    int64_t index[ELEMENTWISE_DIMS];
} cpu_tile;

static inline void cpu_tile_measure(const elementwise_layout *layout, cpu_tile *tile) {
    const int64_t row = layout->size[0] - tile->index[0], rows = layout->size[1] - tile->index[1];
    tile->row = row < layout->tile[0] ? row : layout->tile[0];
    tile->rows = rows < layout->tile[1] ? rows : layout->tile[1];
}

static inline cpu_tile cpu_tile_at(const elementwise_layout *layout, int64_t unit) {
    cpu_tile tile = {0, 0, {0}};
    for (int i = 0; i < layout->dims; i++) {
        const int64_t step = i < 2 ? layout->tile[i] : 1;
        const int64_t pieces = (layout->size[i] + step - 1) / step;
        tile.index[i] = unit % pieces * step;
        unit /= pieces;
    }
    cpu_tile_measure(layout, &tile);
    return tile;
}

/* The tile of the next unit, without the divisions, which can take as long as a tile of a few rows. */
static inline void cpu_tile_advance(const elementwise_layout *layout, cpu_tile *tile) {
    for (int i = 0; i < layout->dims; i++) {
        tile->index[i] += i < 2 ? layout->tile[i] : 1;
        if (tile->index[i] < layout->size[i])
            break;
        tile->index[i] = 0;
    }
    cpu_tile_measure(layout, tile);
}

/* Whether a buffer that holds one tile of an operand holds another, which begins at the same element. */
static inline bool cpu_tile_covers(const cpu_tile *held, const cpu_tile *tile) {
    return tile->row <= held->row && tile->rows <= held->rows;
}

/* Whether an operand that is only read is copied to a buffer, tile by tile. */
static inline bool cpu_is_packed(const elementwise_layout *layout, const int64_t *stride) {
    if (layout->order == ELEMENTWISE_TURNED_ROWS)
        return stride[0] > 1 && stride[1] == 1;
    return layout->order == ELEMENTWISE_PACKED && (stride[0] != 1 || stride[1] != layout->size[0]);
}

/* How far apart rows are in the buffer. */
static inline int64_t cpu_packed_row(const elementwise_layout *layout) {
    return layout->order == ELEMENTWISE_TURNED_ROWS ? ELEMENTWISE_TURNED : layout->size[0];
}

/* Blocks of 16-byte vectors, turned: vector i of `from` becomes element i of every vector of `to`. */
typedef uint16_t cpu_block16_t __attribute__((vector_size(16)));
typedef uint32_t cpu_block32_t __attribute__((vector_size(16)));
#if defined(__clang__)
#define CPU_MIX(a, b, type, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CPU_MIX(a, b, type, ...) __builtin_shuffle(a, b, (type){__VA_ARGS__})
#endif
#define CPU_MIX32(a, b, ...) CPU_MIX(a, b, cpu_block32_t, __VA_ARGS__)
#define CPU_MIX16(a, b, ...) CPU_MIX(a, b, cpu_block16_t, __VA_ARGS__)

CPU_INLINE void cpu_turn_32(uint32_t *to, int64_t width, const uint32_t *from, int64_t stride) {
    cpu_block32_t v[4], w[4];
    for (int i = 0; i < 4; i++)
        memcpy(&v[i], from + i * stride, 16);
    for (int i = 0; i < 2; i++) {
        w[2 * i] = CPU_MIX32(v[i], v[i + 2], 0, 4, 1, 5);
        w[2 * i + 1] = CPU_MIX32(v[i], v[i + 2], 2, 6, 3, 7);
    }
    for (int i = 0; i < 2; i++) {
        v[2 * i] = CPU_MIX32(w[i], w[i + 2], 0, 4, 1, 5);
        v[2 * i + 1] = CPU_MIX32(w[i], w[i + 2], 2, 6, 3, 7);
    }
    for (int i = 0; i < 4; i++)
        memcpy(to + i * width, &v[i], 16);
}
CPU_INLINE void cpu_turn_16(uint16_t *to, int64_t width, const uint16_t *from, int64_t stride) {
    cpu_block16_t v[8], w[8];
    for (int i = 0; i < 8; i++)
        memcpy(&v[i], from + i * stride, 16);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) {
            w[2 * i] = CPU_MIX16(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            w[2 * i + 1] = CPU_MIX16(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(v, w, sizeof v);
    }
    for (int i = 0; i < 8; i++)
        memcpy(to + i * width, &v[i], 16);
}
CPU_INLINE void cpu_turn_8(uint8_t *to, int64_t width, const uint8_t *from, int64_t stride) {
    (void)width, (void)stride;
    *to = *from;
}
CPU_INLINE void cpu_turn_128(cpu_pair_t *to, int64_t width, const cpu_pair_t *from, int64_t stride) {
    (void)width, (void)stride;
    *to = *from;
}
CPU_INLINE void cpu_turn_64(uint64_t *to, int64_t width, const uint64_t *from, int64_t stride) {
    (void)width, (void)stride;
    *to = *from;
}

/* Rows of `bytes`, `step` bytes apart, to where they are `width` apart. In chunks, which overrun a row and are put
 * right by the rows behind it; the last rows, which have none to overrun, are copied exactly. */
CPU_INLINE void cpu_pack_rows_by(int64_t chunk, char *to, int64_t width, const char *from, int64_t step, int64_t bytes,
                                 int64_t rows) {
    const int64_t whole = (bytes + chunk - 1) / chunk * chunk, behind = (whole - 1) / bytes;
    int64_t r = 0;
    for (; step >= bytes && width >= bytes && r + behind < rows; r++) {
        for (int64_t i = 0; i < whole; i += chunk)
            memcpy(to + r * width + i, from + r * step + i, (size_t)chunk);
    }
    for (; r < rows; r++)
        memcpy(to + r * width, from + r * step, (size_t)bytes);
}
static inline void cpu_pack_rows(char *to, int64_t width, const char *from, int64_t step, int64_t bytes, int64_t rows) {
    if (bytes <= 16)
        cpu_pack_rows_by(16, to, width, from, step, bytes, rows);
    else if (bytes <= 32)
        cpu_pack_rows_by(32, to, width, from, step, bytes, rows);
    else
        cpu_pack_rows_by(64, to, width, from, step, bytes, rows);
}

/* Copies a tile of an operand to its buffer, along whichever dim its elements are closer together. */
#define CPU_PACK(bits, type, block)                                                                                    \
    static inline void cpu_pack_turned_##bits(type *to, const type *from, const cpu_tile *tile, int64_t width,         \
                                              int64_t stride) {                                                        \
        const int64_t row = tile->row / (block) * (block), rows = tile->rows / (block) * (block);                      \
        for (int64_t i = 0; i < row; i += (block))                                                                     \
            for (int64_t r = 0; r < rows; r += (block))                                                                \
                cpu_turn_##bits(to + r * width + i, width, from + i * stride + r, stride);                             \
        for (int64_t i = 0; i < tile->row; i++)                                                                        \
            for (int64_t r = i < row ? rows : 0; r < tile->rows; r++)                                                  \
                to[r * width + i] = from[i * stride + r];                                                              \
    }                                                                                                                  \
    static inline void cpu_pack_##bits(type *to, const type *from, const cpu_tile *tile, int64_t width,                \
                                       const int64_t *stride) {                                                        \
        if (stride[1] == 1) {                                                                                          \
            cpu_pack_turned_##bits(to, from, tile, width, stride[0]);                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t r = 0; r < tile->rows; r++)                                                                       \
            for (int64_t i = 0; i < tile->row; i++)                                                                    \
                to[r * width + i] = from[i * stride[0] + r * stride[1]];                                               \
    }
CPU_PACK(8, uint8_t, 1)
CPU_PACK(16, uint16_t, 8)
CPU_PACK(32, uint32_t, 4)
CPU_PACK(64, uint64_t, 1)
CPU_PACK(128, cpu_pair_t, 1)
CPU_OUTLINE void cpu_pack(void *to, const void *from, size_t size, const elementwise_layout *layout,
                          const cpu_tile *tile, const int64_t *stride) {
    const int64_t width = cpu_packed_row(layout), bytes = (int64_t)size;
    if (stride[0] == 1)
        cpu_pack_rows(to, width * bytes, from, stride[1] * bytes, tile->row * bytes, tile->rows);
    else if (size == 1)
        cpu_pack_8(to, from, tile, width, stride);
    else if (size == 2)
        cpu_pack_16(to, from, tile, width, stride);
    else if (size == 4)
        cpu_pack_32(to, from, tile, width, stride);
    else if (size == 8)
        cpu_pack_64(to, from, tile, width, stride);
    else
        cpu_pack_128(to, from, tile, width, stride);
}

/* Where a tile begins in an operand. */
static inline int64_t cpu_tile_offset(const elementwise_layout *layout, const cpu_tile *tile, const int64_t *stride) {
    int64_t offset = 0;
    for (int i = 0; i < layout->dims; i++)
        offset += tile->index[i] * stride[i];
    return offset;
}

#endif
