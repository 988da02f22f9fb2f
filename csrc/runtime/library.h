/* Registration of the operators with PyTorch, when the library is loaded. */
#ifndef RUNTIME_LIBRARY_H
#define RUNTIME_LIBRARY_H

#include <stddef.h>

#include "torch_abi.h"

/* The number of a tag of PyTorch; null before 2.12. */
typedef int32_t torch_tag(void);

/* One row per operator in PyTorch's dispatcher. A null kernel is not registered. An operator without tensor arguments
 * has one kernel for every device, which makes its outputs where an argument says; so has one whose tensors are all in
 * lists, beside those for the CPU and CUDA, because empty lists have no device. Before PyTorch 2.12 a library cannot
 * give tags, and its Python package does. */
typedef struct operator_entry {
    const char *schema; /* without the namespace */
    const char *name;
    BoxedKernel *cpu;
    BoxedKernel *cuda;
    BoxedKernel *composite;
    torch_tag *const *tags;
    int32_t tag_count;
} operator_entry;

/* Registers all operators or none, and returns null or what is wrong, for import to raise. To be called while they are
 * not registered: from the library's constructor, once, or for a library that can be replaced whenever its turn comes.
 * Also chooses the instruction set and asks for PyTorch's numbers of dtypes and devices. */
const char *library_register(const char *ns, const operator_entry *entries, size_t count);

/* Takes back what was registered, if anything was. No call may be under way. */
void library_unregister(void);

#endif
