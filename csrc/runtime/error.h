/* The one error record of a call.
 *
 * Inside the library nothing throws: functions return false after writing here, and the outermost frame raises when
 * every handle has been released. The record lives on the stack of that frame. */
#ifndef RUNTIME_ERROR_H
#define RUNTIME_ERROR_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

enum { ERROR_TEXT = 4096, ERROR_VALUE = 512, ERROR_VALUES = 4 };

typedef struct error {
    const char *op; /* "namespace::operator", starts every text */
    bool set;
    unsigned values; /* how many of `value` are in use */
    char text[ERROR_TEXT];
    char value[ERROR_VALUES][ERROR_VALUE]; /* shapes and the like, spelled out for the text */
} error;

/* An empty record. Only what is read before it is written is set: the text buffers are 6 KB. */
void error_begin(error *e, const char *op);

/* Writes "op: " and the text, and returns false. The first error of a call is kept, later ones are dropped. */
__attribute__((format(printf, 2, 3))) bool fail(error *e, const char *format, ...);

/* For a failed C ABI function: names it, and gives PyTorch's own text where this version of it can be asked. */
bool fail_abi(error *e, const char *function);

/* Raises RuntimeError with the text if one was written. Nothing may be owned by the caller any more. */
void error_raise(const error *e);

/* Room for one spelled-out value, ERROR_VALUE bytes; a fifth one in the same text reuses the first. */
char *error_value(error *e);

/* The shortest of %.6g to %.17g that reads back as this number: 1e-06, -1, 0.1, inf; nan without a sign. */
const char *float_text(error *e, double value);
const char *int_text(error *e, int64_t value);

/* True or False, as Python spells them. */
const char *bool_text(bool value);

/* What a test may define otherwise, to leave a check out. */
#ifndef CHECK_HOLDS
#define CHECK_HOLDS(condition) (condition)
#endif

/* Returns false from the calling function, with this text, unless the condition holds. */
#define CHECK(e, condition, ...)                                                                                       \
    do {                                                                                                               \
        if (!CHECK_HOLDS(condition)) {                                                                                 \
            return fail((e), __VA_ARGS__);                                                                             \
        }                                                                                                              \
    } while (0)

/* The same for a function of the C ABI, called with the rest of the arguments: 0 is success. */
#define CHECK_ABI(e, function, ...)                                                                                    \
    do {                                                                                                               \
        if (function(__VA_ARGS__) != 0) {                                                                              \
            return fail_abi((e), #function);                                                                           \
        }                                                                                                              \
    } while (0)

#endif
