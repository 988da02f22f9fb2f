/* Whether a tensor of PyTorch only negates or conjugates the elements that it lies on.
 *
 * The dispatcher replaces such a view by a copy before it calls a kernel. PyTorch's C ABI does not say which tensors
 * are views of that kind, and asking through the dispatcher takes as long as a small operator. The answer is two bits
 * of the tensor: where they are is found out at the first call, on tensors that are known to be such views. Where that
 * finds anything but one place, every tensor is asked to resolve itself, which costs time and is right. */
#ifndef RUNTIME_VIEW_BITS_H
#define RUNTIME_VIEW_BITS_H

#include "torch_abi.h"

/* Whether the tensor may be such a view. */
bool view_bits(AtenTensorHandle tensor);

#endif
