/* PyTorch's dtypes under names of our own.
 *
 * PyTorch numbers its dtypes as it likes and tells the numbers through getter functions, so they are no constants:
 * dtype_from_torch and dtype_to_torch translate, after dtype_load has asked once. */
#ifndef RUNTIME_DTYPE_H
#define RUNTIME_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum dtype {
    DTYPE_FLOAT64,
    DTYPE_FLOAT32,
    DTYPE_FLOAT16,
    DTYPE_BFLOAT16,
    DTYPE_FLOAT8_E4M3FN,
    DTYPE_FLOAT8_E5M2,
    DTYPE_FLOAT8_E4M3FNUZ,
    DTYPE_FLOAT8_E5M2FNUZ,
    DTYPE_FLOAT8_E8M0FNU, /* since 2.11: no tensor has it before */
    DTYPE_UINT8,
    DTYPE_UINT16,
    DTYPE_UINT32,
    DTYPE_UINT64,
    DTYPE_INT8,
    DTYPE_INT16,
    DTYPE_INT32,
    DTYPE_INT64,
    DTYPE_BOOL,
    DTYPE_COMPLEX32,
    DTYPE_COMPLEX64,
    DTYPE_COMPLEX128,
    DTYPE_OTHER /* one that this library has no name for */
} dtype;

/* One row for each dtype. */
typedef struct dtype_row {
    const char *name;
    int64_t size;
    dtype acc;
    int32_t (*number)(void); /* PyTorch's getter */
} dtype_row;

extern const dtype_row dtype_rows[];

/* PyTorch's number of each dtype, -1 where it has none, and ours of each of its numbers, which are all below
 * DTYPE_NUMBERS. Written by dtype_load alone, once, when the library is loaded; declared for the functions below. */
enum { DTYPE_NUMBERS = 128 };
extern int32_t dtype_numbers[DTYPE_OTHER];
extern uint8_t dtype_of_number[DTYPE_NUMBERS];
void dtype_load(void);

static inline dtype dtype_from_torch(int32_t number) {
    return number >= 0 && number < DTYPE_NUMBERS ? (dtype)dtype_of_number[number] : DTYPE_OTHER;
}

static inline int32_t dtype_to_torch(dtype d) { return dtype_numbers[d]; }

/* "float32"; the name of DTYPE_OTHER is "another dtype". */
static inline const char *dtype_name(dtype d) { return dtype_rows[d].name; }

/* Bytes of one element, 0 for DTYPE_OTHER. */
static inline int64_t dtype_size(dtype d) { return dtype_rows[d].size; }

/* Integers and bool. */
static inline bool dtype_is_integer(dtype d) { return dtype_rows[d].acc == DTYPE_INT64; }

static inline bool dtype_is_complex(dtype d) {
    return d == DTYPE_COMPLEX32 || d == DTYPE_COMPLEX64 || d == DTYPE_COMPLEX128;
}

/* What sums of this dtype are held in: float32 for the narrow floating dtypes and float32 itself, float64 for float64,
 * int64 for integers and bool, complex dtypes themselves. */
static inline dtype dtype_acc(dtype d) { return dtype_rows[d].acc; }

#endif
