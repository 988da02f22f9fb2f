/* Whether elements of written tensors lie on others.
 *
 * Two tensors overlap when some byte belongs to an element of both: interleaved views of one storage do not. Exact up
 * to a bounded number of steps, which views of a plain shape never need; what takes longer counts as overlapping. */
#ifndef RUNTIME_OVERLAP_H
#define RUNTIME_OVERLAP_H

#include "tensor.h"

/* Sets *found. False only when PyTorch does not tell where the data is. An absent tensor overlaps with nothing. */
bool tensors_overlap(error *e, const tensor *a, const tensor *b, bool *found);

/* Whether two elements of one tensor lie on each other. */
bool tensor_overlaps_itself(const tensor *t);

#endif
