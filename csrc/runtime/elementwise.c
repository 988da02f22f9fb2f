#include "elementwise.h"

#include <string.h>

#include "arith.h"
#include "layout.h"

bool elementwise_empty(error *e, tensor *t, const char *name, const shape *s, dtype d, const tensor *const *like,
                       int count) {
    for (int i = 0; i < count; i++) {
        if (same_sizes(like[i]->sizes, like[i]->dim, s->sizes, s->dim)) {
            return tensor_empty_like(e, t, like[i], d, like[i]->device);
        }
    }
    return tensor_empty(e, t, name, s, d, like[0]->device);
}

/* ---------------------------------------------------------------- the iteration space */

static bool present(const elementwise_operand *operand) { return given(operand->t); }

/* The stride of an operand along dim `i` of the space, where the operand ends with the last dim. */
static int64_t broadcast_stride(const tensor *t, const shape *s, int64_t i) {
    const int64_t own = i - (s->dim - t->dim);
    return own < 0 || (t->sizes[own] == 1 && s->sizes[i] != 1) ? 0 : t->strides[own];
}

/* The dims larger than 1, from the last to the first, with the strides of each operand. */
static void read_dims(elementwise_space *space, const shape *s) {
    space->dims = 0;
    for (int64_t i = s->dim - 1; i >= 0; i--) {
        if (s->sizes[i] == 1) {
            continue;
        }
        space->size[space->dims] = s->sizes[i];
        for (int k = 0; k < space->count; k++) {
            const elementwise_operand *const operand = &space->operands[k];
            space->stride[k][space->dims] = present(operand) ? broadcast_stride(operand->t, s, i) : 0;
        }
        space->dims++;
    }
}

static void swap_dims(elementwise_space *space, int a, int b) {
    const int64_t size = space->size[a];
    space->size[a] = space->size[b];
    space->size[b] = size;
    for (int k = 0; k < space->count; k++) {
        const int64_t stride = space->stride[k][a];
        space->stride[k][a] = space->stride[k][b];
        space->stride[k][b] = stride;
    }
}

/* Whether dim `a` lies inside dim `b`, by the first operand of `first` to `last` that has a place for both. */
static int compare_dims(const elementwise_space *space, int first, int last, int a, int b) {
    for (int k = first; k < last; k++) {
        const int64_t x = space->stride[k][a], y = space->stride[k][b];
        if (x != y && x != 0 && y != 0) {
            return x < y ? -1 : 1;
        }
    }
    return 0;
}

/* Insertion sort: there are few dims, and they mostly are in order. What is written decides, then what is read. */
static void sort_dims(elementwise_space *space, int outputs) {
    for (int i = 1; i < space->dims; i++) {
        for (int k = i; k > 0; k--) {
            int order = compare_dims(space, outputs, space->count, k - 1, k);
            order = order != 0 ? order : compare_dims(space, 0, outputs, k - 1, k);
            if (order <= 0) {
                break;
            }
            swap_dims(space, k - 1, k);
        }
    }
}

static bool follows(const elementwise_space *space, int inner, int outer) {
    for (int k = 0; k < space->count; k++) {
        if (space->stride[k][outer] != space->stride[k][inner] * space->size[inner]) {
            return false;
        }
    }
    return true;
}

static void merge_dims(elementwise_space *space) {
    int kept = 0;
    for (int i = 1; i < space->dims; i++) {
        if (follows(space, kept, i)) {
            space->size[kept] *= space->size[i];
        } else if (++kept < i) {
            swap_dims(space, kept, i);
        }
    }
    space->dims = space->dims == 0 ? 0 : kept + 1;
}

/* A few elements are no row: the longest dim is a better inner one, strided or not. */
static void lengthen_rows(elementwise_space *space) {
    enum { SHORT = 8 };
    int longest = 0;
    for (int i = 1; i < space->dims; i++) {
        longest = space->size[i] > space->size[longest] ? i : longest;
    }
    if (space->size[0] < SHORT && space->size[longest] >= 4 * SHORT) {
        swap_dims(space, 0, longest);
    }
}

/* The dim in which an operand that is strided along the innermost one is contiguous; 0 where there is none. */
static int crossing_dim(const elementwise_space *space) {
    for (int k = 0; k < space->count; k++) {
        for (int i = 1; space->stride[k][0] > 1 && i < space->dims; i++) {
            if (space->stride[k][i] == 1) {
                return i;
            }
        }
    }
    return 0;
}

/* Whether the written operands, those from `outputs` on, are contiguous over the two innermost dims. */
static bool writes_contiguous(const elementwise_space *space, int outputs) {
    for (int k = outputs; k < space->count; k++) {
        const int64_t *const stride = space->stride[k];
        if (present(&space->operands[k]) && (stride[0] != 1 || stride[1] != space->size[0])) {
            return false;
        }
    }
    return true;
}

static int64_t largest_element(const elementwise_space *space) {
    int64_t size = 1;
    for (int k = 0; k < space->count; k++) {
        if (present(&space->operands[k])) {
            size = max_i64(size, dtype_size(space->operands[k].t->dtype));
        }
    }
    return size;
}

/* A tile has the elements that ATen gives a thread at least, so that what a tile costs besides does not show. Rows of a
 * few vectors are joined, where the dims allow it, as many as stay in the first cache. Where one operand runs across
 * the rows of another, tiles are blocks, so that the cache lines of either are used up while they are there. */
static void choose_tile(elementwise_space *space, int outputs, elementwise_layout *layout) {
    enum { SHORT_BYTES = 128, JOINED = 4096, LONG = 32768 };
    const int64_t element = largest_element(space), buffer = ELEMENTWISE_BUFFER(outputs) / element;
    layout->order = ELEMENTWISE_ROWS;
    layout->tile[0] = LONG;
    layout->tile[1] = 1;
    if (space->dims < 2 || space->size[0] == 0) {
        return;
    }
    if (space->size[0] * element < SHORT_BYTES && writes_contiguous(space, outputs)) {
        layout->order = ELEMENTWISE_PACKED;
        layout->tile[0] = space->size[0];
        layout->tile[1] = min_i64(buffer, JOINED) / space->size[0];
        return;
    }
    const int crossing = crossing_dim(space);
    if (crossing > 0) {
        layout->order = ELEMENTWISE_TURNED_ROWS;
        swap_dims(space, 1, crossing);
        layout->tile[0] = ELEMENTWISE_TURNED;
        layout->tile[1] = buffer / ELEMENTWISE_TURNED;
        return;
    }
    lengthen_rows(space);
    layout->tile[1] = space->size[0] < LONG ? LONG / space->size[0] : 1;
}

/* magic and shift such that for 0 <= n < 2^31, n / size == (((uint64_t)n * magic >> 32) + n) >> shift. */
static void prepare_division(int64_t size, uint32_t *magic, uint32_t *shift) {
    uint32_t bits = 0;
    while (bits < 31 && INT64_C(1) << bits < size) {
        bits++;
    }
    const uint64_t power = UINT64_C(1) << bits, divisor = size > 0 && size <= INT32_MAX ? (uint64_t)size : 1;
    *magic = divisor > power ? 0 : (uint32_t)((power - divisor) * (UINT64_C(1) << 32) / divisor + 1);
    *shift = bits;
}

static void fill_layout(const elementwise_space *space, elementwise_layout *layout,
                        int64_t (*stride)[ELEMENTWISE_DIMS]) {
    layout->elements = 1;
    layout->folded = 0;
    layout->dims = space->dims < ELEMENTWISE_DIMS ? space->dims : ELEMENTWISE_DIMS;
    for (int i = 0; i < ELEMENTWISE_DIMS; i++) {
        layout->size[i] = i < layout->dims ? space->size[i] : 1;
        layout->elements *= layout->size[i];
        prepare_division(layout->size[i], &layout->magic[i], &layout->shift[i]);
    }
    layout->unit = 1;
    for (int k = 0; k < space->count; k++) {
        for (int i = 0; i < ELEMENTWISE_DIMS; i++) {
            stride[k][i] = i < layout->dims ? space->stride[k][i] : 0;
        }
        /* A single element has no dim, and an absent operand is not looked at. */
        if (layout->dims == 0 || !present(&space->operands[k])) {
            stride[k][0] = 1;
        }
        layout->unit = layout->unit && stride[k][0] == 1;
    }
    layout->dims = layout->dims > 0 ? layout->dims : 1;
}

void elementwise_begin(elementwise_space *space, const shape *s, const elementwise_operand *operands, int count,
                       int outputs, elementwise_layout *layout, int64_t (*stride)[ELEMENTWISE_DIMS]) {
    space->count = count;
    memcpy(space->operands, operands, (size_t)count * sizeof *operands);
    read_dims(space, s);
    sort_dims(space, outputs);
    merge_dims(space);
    choose_tile(space, outputs, layout);
    for (int i = ELEMENTWISE_DIMS; i < space->dims; i++) {
        space->index[i] = 0;
    }
    fill_layout(space, layout, stride);
}

static void move(const elementwise_space *space, int dim, int64_t steps) {
    for (int k = 0; k < space->count; k++) {
        const elementwise_operand *const operand = &space->operands[k];
        if (present(operand)) {
            char *data;
            memcpy(&data, operand->data, sizeof data);
            data += steps * space->stride[k][dim] * dtype_size(operand->t->dtype);
            memcpy(operand->data, &data, sizeof data);
        }
    }
}

bool elementwise_next(elementwise_space *space) {
    for (int i = ELEMENTWISE_DIMS; i < space->dims; i++) {
        if (++space->index[i] < space->size[i]) {
            move(space, i, 1);
            return true;
        }
        move(space, i, 1 - space->size[i]);
        space->index[i] = 0;
    }
    return false;
}

/* ---------------------------------------------------------------- how kernels run on it */

static int64_t pieces(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

int64_t elementwise_units(const elementwise_layout *layout) {
    if (layout->dims == 1) {
        return layout->elements;
    }
    int64_t units = pieces(layout->size[0], layout->tile[0]) * pieces(layout->size[1], layout->tile[1]);
    for (int i = 2; i < layout->dims; i++) {
        units *= layout->size[i];
    }
    return units;
}

/* Whether every vector along `dim` of an operand lies at a multiple of its size. */
static bool in_vectors(const elementwise_operand *operand, const elementwise_layout *layout, const int64_t *stride,
                       int dim, int64_t vector) {
    const void *data;
    memcpy(&data, operand->data, sizeof data);
    bool aligned = stride[dim] == 1 && aligned_to(data, (uintptr_t)(vector * dtype_size(operand->t->dtype)));
    for (int i = 0; i < layout->dims; i++) {
        aligned = aligned && (i == dim || stride[i] % vector == 0);
    }
    return aligned;
}

/* Whether the innermost dim is whole vectors in every operand, or the same element. */
static bool has_vectors(const elementwise_space *space, const elementwise_layout *layout,
                        int64_t (*stride)[ELEMENTWISE_DIMS], int64_t vector) {
    bool vectors = layout->dims == 1 || layout->size[0] % vector == 0;
    for (int k = 0; vectors && k < space->count; k++) {
        vectors = !present(&space->operands[k]) || stride[k][0] == 0 ||
                  in_vectors(&space->operands[k], layout, stride[k], 0, vector);
    }
    return vectors;
}

/* Whether operands run across the rows of others, and those have whole vectors along dim 1. */
static bool has_crossing(const elementwise_space *space, const elementwise_layout *layout,
                         int64_t (*stride)[ELEMENTWISE_DIMS], int64_t vector) {
    bool crossing = layout->order == ELEMENTWISE_TURNED_ROWS && layout->size[1] % vector == 0;
    for (int k = 0; crossing && k < space->count; k++) {
        crossing = !present(&space->operands[k]) || stride[k][1] != 1 ||
                   in_vectors(&space->operands[k], layout, stride[k], 1, vector);
    }
    return crossing;
}

static void fold(const elementwise_space *space, elementwise_layout *layout, int64_t (*stride)[ELEMENTWISE_DIMS],
                 int64_t vector) {
    layout->folded = (int32_t)vector;
    layout->elements /= vector;
    layout->size[1] /= vector;
    prepare_division(layout->size[1], &layout->magic[1], &layout->shift[1]);
    for (int k = 0; k < space->count; k++) {
        stride[k][1] *= vector;
    }
}

/* Whether 31 bits count the elements, and reach all of them in every operand. */
static bool is_narrow(const elementwise_space *space, const elementwise_layout *layout,
                      int64_t (*stride)[ELEMENTWISE_DIMS]) {
    bool narrow = layout->elements <= INT32_MAX;
    for (int k = 0; narrow && k < space->count; k++) {
        int64_t last = 0;
        for (int i = 0; i < layout->dims; i++) {
            last += (layout->size[i] - 1) * stride[k][i];
        }
        narrow = last <= INT32_MAX;
    }
    return narrow;
}

int elementwise_launch(const elementwise_space *space, elementwise_layout *layout, int64_t (*stride)[ELEMENTWISE_DIMS],
                       int64_t vector, cuda_launch *launch) {
    if (layout->folded != 0) {
        fill_layout(space, layout, stride); /* as it was before the last part */
    }
    const bool narrow = is_narrow(space, layout, stride);
    int kernel = narrow ? ELEMENTWISE_NARROW : ELEMENTWISE_WIDE;
    int64_t thread = ELEMENTWISE_SINGLES;
    if ((layout->dims == 1 || narrow) && has_vectors(space, layout, stride, vector)) {
        kernel = layout->dims == 1 ? ELEMENTWISE_FLAT : ELEMENTWISE_VECTORS;
        thread = ELEMENTWISE_UNROLL * vector;
    } else if (narrow && has_crossing(space, layout, stride, vector)) {
        kernel = ELEMENTWISE_CROSSED;
        thread = 1;
        fold(space, layout, stride, vector);
    }
    *launch = (cuda_launch){
        .grid = {pieces(layout->elements, ELEMENTWISE_THREADS * thread), 1, 1},
        .block = {ELEMENTWISE_THREADS, 1, 1},
    };
    return kernel;
}
