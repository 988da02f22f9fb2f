/* Lists that are written: does a tensor of one lie on another? The time is linear but for sorting. */
#include <stdlib.h>

#include "list.h"
#include "overlap.h"

/* Where the elements of a tensor lie, from the first byte to behind the last. */
typedef struct extent {
    uintptr_t start, end;
    const tensor *t;
} extent;

static bool read_extents(error *e, const tensor *tensors, int64_t count, extent *found) {
    for (int64_t i = 0; i < count; i++) {
        const tensor *const t = &tensors[i];
        const void *data;
        if (!tensor_const_data(e, t, &data)) {
            return false;
        }
        uintptr_t end = (uintptr_t)data;
        for (int64_t d = 0; d < t->dim && t->numel > 0; d++) {
            end += (uintptr_t)((t->sizes[d] - 1) * t->strides[d] * dtype_size(t->dtype));
        }
        end += t->numel > 0 ? (uintptr_t)dtype_size(t->dtype) : 0;
        found[i] = (extent){(uintptr_t)data, end, t};
    }
    return true;
}

/* Behind the run of rising starts that begins at `i`. */
static int64_t run_end(const extent *extents, int64_t i, int64_t count) {
    while (++i < count && extents[i - 1].start <= extents[i].start) {
    }
    return i < count ? i : count;
}

/* Sorts by start: `extents` or `spare`, which has as much room, has the result. Runs are merged in pairs: tensors that
 * were made one after the other mostly lie in that order, and two lists are two runs. */
static extent *sorted(extent *extents, extent *spare, int64_t count) {
    while (run_end(extents, 0, count) < count) {
        for (int64_t at = 0; at < count;) {
            const int64_t middle = run_end(extents, at, count), end = run_end(extents, middle, count);
            for (int64_t one = at, other = middle; at < end; at++) {
                const bool first = one < middle && (other == end || extents[one].start <= extents[other].start);
                spare[at] = extents[first ? one++ : other++];
            }
        }
        extent *const merged = spare;
        spare = extents;
        extents = merged;
    }
    return extents;
}

static bool is_in(const tensor *t, const tensor *tensors, int64_t count) {
    const uintptr_t at = (uintptr_t)t, first = (uintptr_t)tensors;
    return at >= first && at < first + (uintptr_t)count * sizeof *t;
}

/* Only tensors whose extents meet can overlap: those that start before this one ends. The first of the two that are
 * found is one of `a`; where both are, which `same` says, the later one. */
static bool find_overlap(error *e, const extent *extents, int64_t count, const tensor *a, int64_t count_a, bool same,
                         const tensor **one, const tensor **other) {
    for (int64_t k = 0; k < count; k++) {
        for (int64_t m = k + 1; m < count && extents[m].start < extents[k].end; m++) {
            const tensor *const t = extents[k].t, *const u = extents[m].t;
            bool found = false;
            if ((same || is_in(t, a, count_a) != is_in(u, a, count_a)) && !tensors_overlap(e, t, u, &found)) {
                return false;
            }
            if (found) {
                const bool swapped = same ? t < u : !is_in(t, a, count_a);
                *one = swapped ? u : t;
                *other = swapped ? t : u;
                return true;
            }
        }
    }
    return true;
}

bool find_list_overlap(error *e, const tensor *a, int64_t count_a, const tensor *b, int64_t count_b, int64_t *i,
                       int64_t *j) {
    const bool same = a == b;
    const int64_t count = same ? count_a : count_a + count_b;
    extent *const extents = calloc(2 * (size_t)count + 1, sizeof *extents);
    *i = *j = -1;
    CHECK(e, extents != NULL, "out of memory for a list of %" PRId64 " tensors", count);
    bool ok = read_extents(e, a, count_a, extents) && (same || read_extents(e, b, count_b, extents + count_a));
    if (ok) {
        const tensor *one = NULL, *other = NULL;
        ok = find_overlap(e, sorted(extents, extents + count, count), count, a, count_a, same, &one, &other);
        if (one != NULL) {
            *i = one - a;
            *j = other - (same ? a : b);
        }
    }
    free(extents);
    return ok;
}
