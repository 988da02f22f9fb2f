/* Outputs that are tensors of the caller: an input that is written in place, or a keyword. */
#ifndef RUNTIME_OUTPUT_H
#define RUNTIME_OUTPUT_H

#include "list.h"

/* `input` is the argument in whose place the output is written, null for a keyword; it has a handle of its own. */
typedef struct given_output {
    tensor tensor;
    const tensor *input;
    const char *name;
} given_output;

void output_take(given_output *o, StableIValue value, const char *name);
void output_take_input(error *e, given_output *o, const tensor *input, const char *name);

/* Reads the tensor, and checks that it is what the operator would have made. */
bool output_check(error *e, given_output *o, const shape *s, dtype d, device where);

/* Checks that no element of the output lies on another one, or on one of the `count` others but its input. */
bool outputs_keep_apart(error *e, const given_output *o, const tensor *const *others, const char *const *names,
                        int count);

/* Puts the given tensor where the body writes, if it is contiguous; otherwise something stands in for it, whose
 * elements output_return() copies. */
/* The same for the tensors of a list. */
bool output_keeps_apart_from(error *e, const given_output *o, const tensor_list *l, const char *name);

bool output_is_contiguous(const given_output *o);
bool output_place(tensor *t, given_output *o);
bool output_return(error *e, const tensor *t, const given_output *o);

#endif
