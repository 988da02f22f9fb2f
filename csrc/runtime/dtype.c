#include "dtype.h"

#include <stddef.h>

#include "torch_abi.h"

const dtype_row dtype_rows[] = {
    [DTYPE_FLOAT64] = {"float64", 8, DTYPE_FLOAT64, aoti_torch_dtype_float64},
    [DTYPE_FLOAT32] = {"float32", 4, DTYPE_FLOAT32, aoti_torch_dtype_float32},
    [DTYPE_FLOAT16] = {"float16", 2, DTYPE_FLOAT32, aoti_torch_dtype_float16},
    [DTYPE_BFLOAT16] = {"bfloat16", 2, DTYPE_FLOAT32, aoti_torch_dtype_bfloat16},
    [DTYPE_FLOAT8_E4M3FN] = {"float8_e4m3fn", 1, DTYPE_FLOAT32, aoti_torch_dtype_float8_e4m3fn},
    [DTYPE_FLOAT8_E5M2] = {"float8_e5m2", 1, DTYPE_FLOAT32, aoti_torch_dtype_float8_e5m2},
    [DTYPE_FLOAT8_E4M3FNUZ] = {"float8_e4m3fnuz", 1, DTYPE_FLOAT32, aoti_torch_dtype_float8_e4m3fnuz},
    [DTYPE_FLOAT8_E5M2FNUZ] = {"float8_e5m2fnuz", 1, DTYPE_FLOAT32, aoti_torch_dtype_float8_e5m2fnuz},
    [DTYPE_FLOAT8_E8M0FNU] = {"float8_e8m0fnu", 1, DTYPE_FLOAT32, aoti_torch_dtype_float8_e8m0fnu},
    [DTYPE_UINT8] = {"uint8", 1, DTYPE_INT64, aoti_torch_dtype_uint8},
    [DTYPE_UINT16] = {"uint16", 2, DTYPE_INT64, aoti_torch_dtype_uint16},
    [DTYPE_UINT32] = {"uint32", 4, DTYPE_INT64, aoti_torch_dtype_uint32},
    [DTYPE_UINT64] = {"uint64", 8, DTYPE_INT64, aoti_torch_dtype_uint64},
    [DTYPE_INT8] = {"int8", 1, DTYPE_INT64, aoti_torch_dtype_int8},
    [DTYPE_INT16] = {"int16", 2, DTYPE_INT64, aoti_torch_dtype_int16},
    [DTYPE_INT32] = {"int32", 4, DTYPE_INT64, aoti_torch_dtype_int32},
    [DTYPE_INT64] = {"int64", 8, DTYPE_INT64, aoti_torch_dtype_int64},
    [DTYPE_BOOL] = {"bool", 1, DTYPE_INT64, aoti_torch_dtype_bool},
    [DTYPE_COMPLEX32] = {"complex32", 4, DTYPE_COMPLEX64, aoti_torch_dtype_complex32},
    [DTYPE_COMPLEX64] = {"complex64", 8, DTYPE_COMPLEX64, aoti_torch_dtype_complex64},
    [DTYPE_COMPLEX128] = {"complex128", 16, DTYPE_COMPLEX128, aoti_torch_dtype_complex128},
    [DTYPE_OTHER] = {"another dtype", 0, DTYPE_OTHER, NULL},
};

int32_t dtype_numbers[DTYPE_OTHER];
uint8_t dtype_of_number[DTYPE_NUMBERS];

void dtype_load(void) {
    for (int i = 0; i < DTYPE_NUMBERS; i++) {
        dtype_of_number[i] = DTYPE_OTHER;
    }
    for (int d = 0; d < DTYPE_OTHER; d++) {
        const int32_t number = dtype_rows[d].number != NULL ? dtype_rows[d].number() : -1;
        dtype_numbers[d] = number;
        if (number >= 0 && number < DTYPE_NUMBERS) {
            dtype_of_number[number] = (uint8_t)d;
        }
    }
}
