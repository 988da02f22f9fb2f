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

void dtype_load(void);
dtype dtype_from_torch(int32_t number);
int32_t dtype_to_torch(dtype d);

/* "float32"; the name of DTYPE_OTHER is "another dtype". */
const char *dtype_name(dtype d);

/* Bytes of one element, 0 for DTYPE_OTHER. */
int64_t dtype_size(dtype d);

/* Integers and bool. */
bool dtype_is_integer(dtype d);

/* What sums of this dtype are held in: float32 for the narrow floating dtypes and float32 itself, float64 for float64,
 * int64 for integers and bool, complex dtypes themselves. */
dtype dtype_acc(dtype d);

#endif
