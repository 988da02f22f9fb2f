/* Lists of tensors, as arguments of a boxed kernel.
 *
 * A list owns its tensors and one block of memory until list_release_tensors, which may be called on every path. */
#ifndef RUNTIME_LIST_H
#define RUNTIME_LIST_H

#include "cuda.h"
#include "layout.h"
#include "tensor.h"

typedef struct tensor_list {
    int64_t count;
    int64_t first;    /* the place of the first tensor that is given; `count` where none is */
    tensor *at;       /* null where the list is absent */
    tensor *aside;    /* written lists: tensors of the caller of which the body sees a copy */
    view *views;      /* lists that are broadcast: sizes and strides of each tensor */
    void **data;      /* what bodies see: a pointer for each tensor, right before `numbers` */
    int64_t *numbers; /* `rows` times `count` numbers: dims that bind per tensor, right before `strides` */
    int64_t rows;
    const int64_t **strides, **sizes; /* of each tensor, where bodies see them: `tables` of these two */
    int64_t tables;
    bool by_rows;            /* strides are the last row of numbers, and not those of the tensors */
    StableListHandle packed; /* outputs: the list that PyTorch gets */
    tensor table;            /* all of what bodies see, on the GPU */
    void **device_data;
    int64_t *device_numbers;
    const int64_t **device_strides, **device_sizes;
} tensor_list;

/* Makes room for `count` tensors, which are absent, and what bodies see of them; false when there is no memory. `rows`
 * is how many numbers bodies see of each tensor, `tables` whether they see its strides (1), and its sizes too (2). */
bool list_hold(tensor_list *l, int64_t count, int64_t rows, int64_t tables);

/* Takes a list off the stack and deletes the handle that PyTorch passed, whether it succeeds or not. */
bool list_take(error *e, StableIValue value, tensor_list *l, int64_t rows, int64_t tables);

/* The same for a list in which some may be absent. */
bool list_take_optionals(error *e, StableIValue value, tensor_list *l, int64_t rows, int64_t tables);

/* Makes room for the sizes and strides of tensors that are broadcast, once. */
bool list_hold_views(error *e, tensor_list *l, const char *name);

/* Whether an optional list is there, and whether it has a tensor at this place. */
static inline bool list_given(const tensor_list *l) { return l->at != NULL; }
static inline bool list_has(const tensor_list *l, int64_t place) { return place < l->count && given(&l->at[place]); }

void list_release_tensors(error *e, tensor_list *l);

/* Reads each tensor of the list argument `name`. */
bool list_read(error *e, tensor_list *l, const char *name);

/* The data of each tensor, to be read or to be written. */
bool list_const_data(error *e, const tensor_list *l);
bool list_mutable_data(error *e, const tensor_list *l);

/* Replaces tensors that only negate or conjugate the elements of others by copies of what they stand for. PyTorch does
 * so for tensors and for lists of them, but not where the list or what is in it is optional. */
bool list_resolve(error *e, tensor_list *l);

/* How tensors of a list may lie: see layout.h. */
typedef enum list_policy { LIST_CONTIGUOUS, LIST_ROWS, LIST_INNER, LIST_INNER_TWO } list_policy;

/* Replaces each tensor that does not lie like that by a contiguous copy. */
bool list_arrange(error *e, tensor_list *l, list_policy policy);

/* What bodies see of strides: those of each tensor, with two tables also its sizes, and its number of dims in the last
 * row of numbers; or, from one row to the next, a single one. */
void list_see_strides(tensor_list *l);
void list_see_row_strides(tensor_list *l);

/* The same as list_arrange for tensors that are written: see written.h. */
bool list_set_aside(error *e, tensor_list *l, list_policy policy, bool copied);
bool list_return(error *e, const tensor_list *l);

/* Sets every element of each tensor to zero. */
bool list_clear(error *e, const tensor_list *l);

/* Puts the pointers and numbers that bodies see into memory of the GPU `where`: `device_data` and `device_numbers`. A
 * list may be longer than the arguments of a launch, and a copy from memory of this host would have to keep that memory
 * for as long as a captured graph lives; so they travel as arguments of `store`, a kernel that stores a list_piece, in
 * as many launches as it takes. Nothing waits, and replays of a graph find the same. */
bool list_to_device(error *e, const cuda_scope *scope, cuda_kernel *store, device where, tensor_list *l);

/* The same as cuda_require_pinned for each tensor. */
bool list_require_pinned(error *e, const char *name, const tensor_list *l);

/* Elements and bytes of all tensors, and whether there are none. A number that does not fit sets *overflow. */
int64_t list_numel(bool *overflow, const tensor_list *l);
bool list_empty(const tensor_list *l);
int64_t list_bytes(const tensor_list *l);

/* Whether all data starts at multiples of `bytes`; whether all rows of contiguous tensors then do, and of others. */
bool list_aligned(const tensor_list *l, int64_t bytes);
bool list_widths_aligned(const tensor_list *l, int64_t bytes);
bool list_strides_aligned(const tensor_list *l, int64_t bytes);

/* Looks for two tensors, one of `a` and one of `b`, that overlap: their places go to *i and *j, or -1 when there are
 * none. Where both are the same list, a tensor is not compared with itself. */
bool find_list_overlap(error *e, const tensor *a, int64_t count_a, const tensor *b, int64_t count_b, int64_t *i,
                       int64_t *j);

#endif
