/* How tensors lie in memory: what the words after a type ask of inputs, and what bodies are told about strides.
 *
 * Strides are in elements. The stride of a dimension of size 1 is never used, so it says nothing; neither do the
 * strides of a tensor without elements. */
#ifndef RUNTIME_LAYOUT_H
#define RUNTIME_LAYOUT_H

#include "tensor.h"

/* Sizes and strides of an input that was broadcast: its own are too few, or not those of its contract. */
typedef struct view {
    int64_t sizes[MAX_DIMS];
    int64_t strides[MAX_DIMS];
} view;

/* Whether the last dimension is contiguous, and all others can be walked with one stride, which goes to *stride. */
bool tensor_has_rows(const tensor *t, int64_t *stride);

static inline bool tensor_has_any_rows(const tensor *t) {
    int64_t stride;
    return tensor_has_rows(t, &stride);
}

/* Whether the last `count` dimensions are contiguous, whatever the strides of the others are. */
bool tensor_is_inner_contiguous(const tensor *t, int64_t count);

/* Whether all of them are. */
static inline bool tensor_is_contiguous(const tensor *t) { return tensor_is_inner_contiguous(t, t->dim); }

/* Replaces a tensor that does not lie like that by a contiguous copy on the same device. */
bool tensor_make_contiguous(error *e, tensor *t);
bool tensor_make_rows(error *e, tensor *t);
bool tensor_make_inner_contiguous(error *e, tensor *t, int64_t count);

/* Gives a tensor the sizes `s`: dimensions that it lacks in front, and those of size 1, get the stride 0. Leaves it as
 * it is and returns false when it cannot be broadcast to them. `storage` must live as long as the tensor. */
bool tensor_expand(tensor *t, const shape *s, view *storage);

/* Makes an uninitialised tensor of the sizes of `like`, with its strides; where that has gaps or overlaps, with the
 * strides of a tensor that has none and whose dimensions come in the same order, as torch.empty_like does. */
bool tensor_empty_like(error *e, tensor *t, const tensor *like, dtype d, device where);

/* Makes an uninitialised tensor whose last two dimensions, which it has, are swapped in memory. */
bool tensor_empty_transposed(error *e, tensor *t, const char *name, const shape *s, dtype d, device where);

/* What a body sees: the stride from one row to the next, the width of a row when there is only one; sizes and strides
 * of every dimension. An absent tensor has none. */
int64_t tensor_row_stride(const tensor *t);
void tensor_copy_sizes(const tensor *t, int64_t *sizes);
void tensor_copy_strides(const tensor *t, int64_t *strides);

/* Whether all rows start at multiples of `bytes` when the first one does. Rows lie along the last dimension of stride
 * 1; where there is none, nothing is aligned. */
bool strides_aligned(const tensor *t, int64_t bytes);

/* The same for rows of a known distance, in elements. */
static inline bool stride_aligned(const tensor *t, int64_t stride, int64_t bytes) {
    return stride % bytes * dtype_size(t->dtype) % bytes == 0;
}

/* Spelled out for an error, as Python does: (1, 8), (2,). */
const char *strides_text(error *e, const tensor *t);

#endif
