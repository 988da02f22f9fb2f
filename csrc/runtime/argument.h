/* Arguments of a boxed kernel that need more than a look: strings, lists of numbers, dtypes and devices.
 *
 * Taking one deletes the handle that PyTorch passed, whether it succeeds or not. A list keeps its values in memory of
 * its own until list_release, which may be called on every path; a string needs no releasing. */
#ifndef RUNTIME_ARGUMENT_H
#define RUNTIME_ARGUMENT_H

#include <string.h>

#include "boxed.h"
#include "tensor.h"

/* Bytes of a string that are kept, its final zero included. */
enum { TEXT_ROOM = 256 };

typedef struct string {
    size_t length; /* of the whole string; of a longer one than fits only the beginning is in `data` */
    char data[TEXT_ROOM];
} string;

bool take_text(error *e, StableIValue value, string *t);

/* Whether the whole string can be handed on as a C string: it is kept, and has no zero byte inside. */
bool text_fits(const string *t);

/* The place of the string among `count` words, -1 when it is none of them. */
int32_t text_choice(const string *t, const char *const *words, int32_t count);

/* For an error: "tan", with at most 60 characters, control characters as `?`. */
const char *text_quoted(error *e, const string *t);
const char *word_quoted(error *e, const char *word);

/* As many values of a list as kernels on the GPU see: they travel with the arguments of the launch. */
enum { LIST_ROOM = 64 };

typedef struct number_list {
    int64_t count;
    void *data; /* int64_t, double or bool; null when there is no list */
} number_list;

bool take_ints(error *e, StableIValue value, number_list *l);
bool take_floats(error *e, StableIValue value, number_list *l);
bool take_bools(error *e, StableIValue value, number_list *l);
void list_release(number_list *l);

/* Copies the values, of which there are no more than LIST_ROOM, to where a launch takes them from. */
void list_copy(const number_list *l, void *values, size_t size);

static inline bool all_at_least_zero(const int64_t *values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (values[i] < 0) {
            return false;
        }
    }
    return true;
}

static inline dtype take_dtype(StableIValue value) { return dtype_from_torch((int32_t)(uint32_t)value); }

/* The type is in the upper half; an index of -1 means none was named. */
static inline device take_device(StableIValue value) {
    return (device){.type = (int32_t)(uint32_t)(value >> 32), .index = (int32_t)(uint32_t)value};
}

/* Where outputs are made when no argument says so. */
device device_cpu(void);

/* Names the CUDA device that is current where the argument names none. */
bool device_complete(error *e, device *d);

bool device_is_cpu(const device *d);
bool device_is_cuda(const device *d);

/* Whether a device argument means the device of a tensor; one without an index means every device of its type. */
bool device_means(const device *d, const device *of);

/* For an error: cuda:0, cuda, cpu, meta. */
const char *device_quoted(error *e, const device *d);

#endif
