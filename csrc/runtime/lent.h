/* Tensors that the direct module lends to a host function for the time of a call, as DLPack describes them.
 *
 * On the stack of arguments a tensor is a handle of PyTorch's or, marked by its lowest bit, the address of a DLTensor.
 * A host function does the same with both: it reads dtype, device, sizes and strides, checks them, and asks for the
 * data. Nothing of a lent tensor is owned, so that releasing one does nothing; the lender sees to it that what is
 * written may be. What is copied has a handle for that time. */
#ifndef RUNTIME_LENT_H
#define RUNTIME_LENT_H

#include "dlpack.h"
#include "tensor.h"

/* The slot of a lent tensor; *described must outlive the call, and its strides must be there. */
static inline StableIValue lent_slot(const DLTensor *described) {
    return (StableIValue)(uintptr_t)described | LENT_MARK;
}

/* Reads dtype, device, sizes and strides of a lent tensor; false where its memory is that of another kind of device. */
bool lent_read(tensor *t);

/* A handle for a tensor: its own or, for a lent one, one that *made then holds and which is to be released. */
bool lent_handle(error *e, const tensor *t, tensor *made, AtenTensorHandle *handle);

#endif
