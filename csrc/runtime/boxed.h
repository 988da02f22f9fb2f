/* Arguments of a boxed kernel that are no tensors.
 *
 * Numbers are copied into the stack slot; a bool is its low byte. An optional is null or an owned box that holds the
 * slot of its value. A list is an owned handle: taking it deletes it. */
#ifndef RUNTIME_BOXED_H
#define RUNTIME_BOXED_H

#include <string.h>

#include "error.h"
#include "torch_abi.h"

static inline double take_float(StableIValue value) {
    double number;
    memcpy(&number, &value, sizeof number);
    return number;
}

static inline int64_t take_int(StableIValue value) {
    int64_t number;
    memcpy(&number, &value, sizeof number);
    return number;
}

static inline bool take_bool(StableIValue value) { return (value & 0xff) != 0; }

/* Handles and boxes are addresses of whole words: this bit tells what the direct module only lends (lent.h). */
enum { LENT_MARK = 1 };

/* Whether an optional argument was given; its slot then holds what was in the box, which is deleted unless it was lent.
 */
static inline bool take_optional(StableIValue *slot) {
    const bool lent = (*slot & LENT_MARK) != 0;
    StableIValue *const box = (StableIValue *)(uintptr_t)(*slot - lent);
    if (box == NULL) {
        return false;
    }
    *slot = *box;
    if (!lent) {
        _ZdlPv(box);
    }
    return true;
}

/* Takes a bool[count] argument. PyTorch does not hold callers to the length that a schema states, so it is checked. */
bool take_mask(error *e, StableIValue value, const char *name, bool *bools, size_t count);

#endif
