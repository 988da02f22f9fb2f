/* The value that outputs and scratch start at: `fill(v)` of the spec. */
#ifndef RUNTIME_FILL_H
#define RUNTIME_FILL_H

#include "tensor.h"

/* Sets every element of a tensor, whose elements lie in memory without gaps, in the order of the current stream. The
 * spec has made sure that the number fits the dtype. An absent tensor is left alone. */
bool tensor_fill_integer(error *e, const tensor *t, int64_t value);
bool tensor_fill_real(error *e, const tensor *t, double value);

#endif
