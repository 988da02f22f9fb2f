/* Written arguments of which a body sees a copy, because they lie otherwise than it can use. */
#ifndef RUNTIME_WRITTEN_H
#define RUNTIME_WRITTEN_H

#include "tensor.h"

/* Unless `lies_right`, moves the caller's tensor from t to aside and puts a contiguous tensor of the same sizes in its
 * place; with `copied` it holds the same elements. Both are to be released, whatever the result is. */
bool written_set_aside(error *e, tensor *t, tensor *aside, bool lies_right, bool copied);

/* Copies what a body wrote back into the caller's tensor, if that was set aside. */
bool written_return(error *e, const tensor *t, const tensor *aside);

/* Sets every element of a written tensor to zero, and nothing that lies between them. */
bool tensor_clear(error *e, const tensor *t);

#endif
