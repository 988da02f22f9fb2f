#include "overlap.h"

#include "layout.h"

/* The bytes of a tensor's elements: runs of `run` bytes, one for each choice of an index per dimension. Strides are in
 * bytes, fall from first to last, and are all greater than `run`. */
typedef struct bytes {
    int64_t run;
    int count;
    int64_t size[MAX_DIMS];
    int64_t stride[MAX_DIMS];
} bytes;

enum { MOST_STEPS = 1 << 20 };

/* Dimensions of more than one index, greatest stride first. */
static bytes described(const tensor *t) {
    bytes b = {.run = dtype_size(t->dtype)};
    for (int64_t d = 0; d < t->dim; d++) {
        const int64_t stride = t->strides[d] * dtype_size(t->dtype);
        if (t->sizes[d] == 1) {
            continue;
        }
        int at = b.count++;
        for (; at > 0 && b.stride[at - 1] < stride; at--) {
            b.size[at] = b.size[at - 1];
            b.stride[at] = b.stride[at - 1];
        }
        b.size[at] = t->sizes[d];
        b.stride[at] = stride;
    }
    return b;
}

/* Joins runs that touch or lie on each other. */
static void join_runs(bytes *b) {
    while (b->count > 0 && b->stride[b->count - 1] <= b->run) {
        b->count--;
        b->run += (b->size[b->count] - 1) * b->stride[b->count];
    }
}

/* From the first byte to the last, without the first `skip` dimensions. */
static int64_t extent(const bytes *b, int skip) {
    int64_t length = b->run;
    for (int d = skip; d < b->count; d++) {
        length += (b->size[d] - 1) * b->stride[d];
    }
    return length;
}

static int64_t greatest_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether the runs of both keep apart modulo a number that divides every stride. */
static bool keep_apart(const bytes *a, int skip_a, const bytes *b, int skip_b, int64_t offset) {
    int64_t step = 0;
    for (int d = skip_a; d < a->count; d++) {
        step = greatest_divisor(a->stride[d], step);
    }
    for (int d = skip_b; d < b->count; d++) {
        step = greatest_divisor(b->stride[d], step);
    }
    if (step == 0) {
        return false;
    }
    const int64_t place = (offset % step + step) % step;
    return a->run <= place && place + b->run <= step;
}

static int64_t at_least_0(int64_t value) { return value > 0 ? value : 0; }

/* Whether a, from byte 0 on, and b, from byte `offset` on, share a byte, without their first dimensions. Takes the
 * outermost dimension apart, and only those of its indices that can matter. */
static bool meet(const bytes *a, int skip_a, const bytes *b, int skip_b, int64_t offset, int *steps) {
    const int64_t length_a = extent(a, skip_a), length_b = extent(b, skip_b);
    if (offset >= length_a || offset + length_b <= 0) {
        return false;
    }
    if (--*steps < 0 || (skip_a == a->count && skip_b == b->count)) {
        return true;
    }
    if (keep_apart(a, skip_a, b, skip_b, offset)) {
        return false;
    }
    if (skip_a == a->count || (skip_b < b->count && b->stride[skip_b] > a->stride[skip_a])) {
        return meet(b, skip_b, a, skip_a, -offset, steps);
    }
    const int64_t stride = a->stride[skip_a], inner = extent(a, skip_a + 1);
    const int64_t first = at_least_0(offset - inner + stride) / stride; /* the first one that ends behind b's start */
    for (int64_t i = first; i < a->size[skip_a] && i * stride < offset + length_b; i++) {
        if (meet(a, skip_a + 1, b, skip_b, offset - i * stride, steps)) {
            return true;
        }
    }
    return false;
}

/* From the first byte to the last. */
static int64_t reach(const tensor *t) {
    int64_t last = 0;
    for (int64_t d = 0; d < t->dim; d++) {
        last += (t->sizes[d] - 1) * t->strides[d];
    }
    return (last + 1) * dtype_size(t->dtype);
}

bool tensors_overlap(error *e, const tensor *a, const tensor *b, bool *found) {
    const void *data_a, *data_b;
    *found = false;
    if (a->numel == 0 || b->numel == 0) {
        return true;
    }
    if (!tensor_const_data(e, a, &data_a) || !tensor_const_data(e, b, &data_b)) {
        return false;
    }
    const int64_t offset = (int64_t)((uintptr_t)data_b - (uintptr_t)data_a);
    /* As nearly always, one ends before the other begins. */
    if (offset >= 0 ? offset >= reach(a) : -offset >= reach(b)) {
        return true;
    }
    bytes bytes_a = described(a), bytes_b = described(b);
    join_runs(&bytes_a);
    join_runs(&bytes_b);
    int steps = MOST_STEPS;
    *found = same_device(a, b) && meet(&bytes_a, 0, &bytes_b, 0, offset, &steps);
    return true;
}

bool tensor_overlaps_itself(const tensor *t) {
    if (t->numel == 0 || tensor_is_contiguous(t)) {
        return false;
    }
    const bytes whole = described(t);
    int steps = MOST_STEPS;
    int64_t inner = whole.run;
    for (int d = whole.count - 1; d >= 0; d--) {
        if (whole.stride[d] < inner) { /* parts that start within one another: do any two of them meet? */
            bytes part = {.run = whole.run, .count = 0};
            for (int k = d + 1; k < whole.count; k++) {
                part.size[part.count] = whole.size[k];
                part.stride[part.count++] = whole.stride[k];
            }
            join_runs(&part);
            for (int64_t i = 1; i < whole.size[d] && i * whole.stride[d] < inner; i++) {
                if (meet(&part, 0, &part, 0, i * whole.stride[d], &steps)) {
                    return true;
                }
            }
        }
        inner += (whole.size[d] - 1) * whole.stride[d];
    }
    return false;
}
