/* Outputs that are tensors of the caller: inputs that are written in place, or keywords. */
#ifndef RUNTIME_OUTPUT_H
#define RUNTIME_OUTPUT_H

#include "list.h"

/* `input` is the argument in whose place the output is written, null for a keyword; it has a handle of its own. */
typedef struct given_output {
    tensor tensor;
    const tensor *input;
    const char *name;
} given_output;

/* The same for an output that is a list; `input` are the tensors of a list. */
typedef struct given_list {
    tensor_list list;
    const tensor *input;
    const char *name;
} given_list;

void output_take(given_output *o, StableIValue value, const char *name);
void output_take_input(error *e, given_output *o, const tensor *input, const char *name);
void output_take_list(error *e, given_list *o, StableIValue value, const char *name);
void output_take_list_input(error *e, given_list *o, const tensor_list *input, const char *name);

/* Reads the tensor, or number i of a list, and checks that it is what the operator would have made. */
bool output_check(error *e, given_output *o, const shape *s, dtype d, device where);
bool output_check_at(error *e, given_list *o, int64_t i, const shape *s, dtype d, device where);

/* Checks that a list, if the caller gave it, is as long as `source`, which has `count` tensors. */
bool output_check_count(error *e, const given_list *o, const char *source, int64_t count);

/* What has one name in a call: a tensor, or with `listed` the tensors of a list. Outputs have `input`, too. */
typedef struct named_tensors {
    const char *name;
    const tensor *at, *input;
    int64_t count;
    bool listed;
} named_tensors;

static inline named_tensors named_tensor(const char *name, const tensor *t) {
    return (named_tensors){name, t, NULL, 1, false};
}
static inline named_tensors named_list(const char *name, const tensor_list *l) {
    return (named_tensors){name, l->at, NULL, l->count, true};
}
static inline named_tensors named_output(const given_output *o) {
    return (named_tensors){o->name, &o->tensor, o->input, 1, false};
}
static inline named_tensors named_outputs(const given_list *o) {
    return (named_tensors){o->name, o->list.at, o->input, o->list.count, true};
}

/* Checks of each output that no element of it lies on another one, on one of the inputs, but for that in whose place it
 * is written, or on one of the outputs before it. `all` are so many inputs, and the outputs up to `count`. */
bool outputs_keep_apart(error *e, const named_tensors *all, int inputs, int count);

/* Puts the given tensor where the body writes, if it is contiguous; otherwise something stands in for it, whose
 * elements output_return() copies. */
bool output_place(tensor *t, given_output *o);
bool output_return(error *e, const tensor *t, const given_output *o);

/* The same for number i of a list; instead it can be set aside, and list_return() copies to it. */
bool output_place_at(tensor_list *l, given_list *o, int64_t i);
void output_set_aside_at(tensor_list *l, given_list *o, int64_t i);

#endif
