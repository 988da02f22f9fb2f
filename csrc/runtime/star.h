/* Functions of stars: sizes of a shape that are computed from those that stars cover in inputs. */
#ifndef RUNTIME_STAR_H
#define RUNTIME_STAR_H

#include "tensor.h"

/* NumPy broadcasting of `count` stars; false where sizes disagree and neither is 1. */
bool star_broadcast(shape *to, int count, const star *of);

/* A star without one of its dims, or with another size there. A dim counts from the back when it is negative; false
 * where the star has no such dim. */
bool star_drop(shape *to, star of, int64_t dim);
bool star_replace(shape *to, star of, int64_t dim, int64_t size);

#endif
