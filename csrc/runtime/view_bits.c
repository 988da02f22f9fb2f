#include "view_bits.h"

#include <stdatomic.h>
#include <string.h>

/* Bytes of a TensorImpl that are looked at: behind the function table and the counts of references, up to what every
 * version from 2.10 on has. */
enum { SIZES = 3, FIRST_BYTE = 24, LAST_BYTE = 184, UNKNOWN = 0, NOWHERE = 1 };

typedef struct pair {
    AtenTensorHandle plain, view;
} pair;

/* Where the word is, in bytes, or one of the constants; the bits are written before it. */
static _Atomic size_t place_of_bits;
static _Atomic uint64_t bits;

static uint64_t word_at(const void *start, size_t place) {
    uint64_t word;
    memcpy(&word, (const char *)start + place, sizeof word);
    return word;
}

/* A handle is the address of an at::Tensor, which is the address of a TensorImpl. */
static const void *impl_of(AtenTensorHandle tensor) { return (const void *)(uintptr_t)word_at(tensor, 0); }

/* The bit that alone differs in a word of both tensors of each pair, in the same way; 0 where there is none. */
static uint64_t differing_bit(const pair *pairs, size_t place) {
    uint64_t bit = 0;
    for (int i = 0; i < SIZES; i++) {
        const uint64_t plain = word_at(impl_of(pairs[i].plain), place);
        const uint64_t differs = plain ^ word_at(impl_of(pairs[i].view), place);
        if (differs == 0 || (differs & (differs - 1)) != 0 || (plain & differs) != 0 || (bit != 0 && bit != differs)) {
            return 0;
        }
        bit = differs;
    }
    return bit;
}

/* The place of the bit that tells views made by an operator of PyTorch; NOWHERE where that is not one place. */
static size_t find(int32_t dtype, const char *op, uint64_t *bit) {
    pair pairs[SIZES] = {{NULL, NULL}};
    bool ok = true;
    for (int64_t i = 0; i < SIZES; i++) {
        const int64_t size = i + 1, stride = 1;
        StableIValue stack[1];
        AtenTensorHandle given;
        ok = ok &&
             aoti_torch_empty_strided(1, &size, &stride, dtype, aoti_torch_device_type_cpu(), -1, &pairs[i].plain) == 0;
        ok = ok && aoti_torch_new_tensor_handle(pairs[i].plain, &given) == 0;
        if (ok) {
            stack[0] = (StableIValue)(uintptr_t)given;
            ok = torch_call_dispatcher(op, "", stack, TORCH_ABI_VERSION) == 0;
            pairs[i].view = ok ? (AtenTensorHandle)(uintptr_t)stack[0] : NULL;
        }
    }
    size_t found = NOWHERE;
    for (size_t place = FIRST_BYTE; ok && place < LAST_BYTE; place += sizeof(uint64_t)) {
        const uint64_t differs = differing_bit(pairs, place);
        if (differs != 0 && found != NOWHERE) {
            found = NOWHERE;
            break;
        }
        if (differs != 0) {
            found = place;
            *bit = differs;
        }
    }
    for (int i = 0; i < SIZES; i++) {
        if (pairs[i].view != NULL) {
            aoti_torch_delete_tensor_object(pairs[i].view);
        }
        if (pairs[i].plain != NULL) {
            aoti_torch_delete_tensor_object(pairs[i].plain);
        }
    }
    return found;
}

/* Two threads may both look: they find the same. */
static size_t look(void) {
    uint64_t negates = 0, conjugates = 0;
    const bool grad_mode = aoti_torch_grad_mode_is_enabled(); /* nothing here is to be recorded */
    aoti_torch_grad_mode_set_enabled(false);
    const size_t place = find(aoti_torch_dtype_float32(), "aten::_neg_view", &negates);
    const bool both = find(aoti_torch_dtype_complex64(), "aten::_conj", &conjugates) == place && place != NOWHERE;
    aoti_torch_grad_mode_set_enabled(grad_mode);
    atomic_store_explicit(&bits, negates | conjugates, memory_order_relaxed);
    atomic_store_explicit(&place_of_bits, both ? place : NOWHERE, memory_order_release);
    return both ? place : NOWHERE;
}

bool view_bits(AtenTensorHandle tensor) {
    size_t place = atomic_load_explicit(&place_of_bits, memory_order_acquire);
    if (place == UNKNOWN) {
        place = look();
    }
    return place == NOWHERE ||
           (word_at(impl_of(tensor), place) & atomic_load_explicit(&bits, memory_order_relaxed)) != 0;
}
