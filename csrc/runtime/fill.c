#include "fill.h"

#include <string.h>

#include "cuda.h"
#include "scalar.h" /* conversion to half formats, as bodies have it */

/* One element of any dtype. What is not written is zero: the imaginary part of a complex number. */
typedef union element {
    unsigned char bytes[16];
    double float64;
    float float32;
    cpu_float16_t float16;
    cpu_bfloat16_t bfloat16;
    cpu_float8_e4m3fn_t float8_e4m3fn;
    cpu_float8_e5m2_t float8_e5m2;
    cpu_float8_e4m3fnuz_t float8_e4m3fnuz;
    cpu_float8_e5m2fnuz_t float8_e5m2fnuz;
    cpu_float8_e8m0fnu_t float8_e8m0fnu;
    int64_t int64;
    int32_t int32;
    int16_t int16;
    int8_t int8;
    uint8_t uint8;
} element;

/* Integer dtypes take `integer`, the others `real`. */
static bool element_of(error *e, dtype d, double real, int64_t integer, element *one) {
    memset(one, 0, sizeof *one);
    switch (d) {
    case DTYPE_FLOAT64:
    case DTYPE_COMPLEX128:
        one->float64 = real;
        return true;
    case DTYPE_FLOAT32:
    case DTYPE_COMPLEX64:
        one->float32 = (float)real;
        return true;
    case DTYPE_FLOAT16:
        CPU_STORE(float16)(&one->float16, (float)real);
        return true;
    case DTYPE_BFLOAT16:
        CPU_STORE(bfloat16)(&one->bfloat16, (float)real);
        return true;
    case DTYPE_FLOAT8_E4M3FN:
        CPU_STORE(float8_e4m3fn)(&one->float8_e4m3fn, (float)real);
        return true;
    case DTYPE_FLOAT8_E5M2:
        CPU_STORE(float8_e5m2)(&one->float8_e5m2, (float)real);
        return true;
    case DTYPE_FLOAT8_E4M3FNUZ:
        CPU_STORE(float8_e4m3fnuz)(&one->float8_e4m3fnuz, (float)real);
        return true;
    case DTYPE_FLOAT8_E5M2FNUZ:
        CPU_STORE(float8_e5m2fnuz)(&one->float8_e5m2fnuz, (float)real);
        return true;
    case DTYPE_FLOAT8_E8M0FNU:
        CPU_STORE(float8_e8m0fnu)(&one->float8_e8m0fnu, (float)real);
        return true;
    case DTYPE_INT64:
        one->int64 = integer;
        return true;
    case DTYPE_INT32:
        one->int32 = (int32_t)integer;
        return true;
    case DTYPE_INT16:
        one->int16 = (int16_t)integer;
        return true;
    case DTYPE_INT8:
        one->int8 = (int8_t)integer;
        return true;
    case DTYPE_UINT8:
    case DTYPE_BOOL:
        one->uint8 = (uint8_t)integer;
        return true;
    default:
        return fail(e, "a tensor of dtype %s cannot be filled", dtype_name(d));
    }
}

/* In ever longer pieces, up to what stays in the first-level cache. */
static void fill_on_host(unsigned char *data, const element *one, size_t size, size_t bytes) {
    const size_t longest = 16384;
    memcpy(data, one->bytes, size);
    for (size_t done = size; done < bytes;) {
        size_t piece = done < longest ? done : longest;
        piece = piece < bytes - done ? piece : bytes - done;
        memcpy(data + done, data, piece);
        done += piece;
    }
}

static bool fill(error *e, const tensor *t, double real, int64_t integer) {
    void *data;
    element one;
    const int64_t bytes = tensor_bytes(t);
    if (bytes == 0) {
        return true;
    }
    if (!element_of(e, t->dtype, real, integer, &one) || !tensor_mutable_data(e, t, &data)) {
        return false;
    }
    if (on_cuda(t)) {
        return cuda_fill(e, t->device.index, data, one.bytes, dtype_size(t->dtype), bytes);
    }
    fill_on_host(data, &one, (size_t)dtype_size(t->dtype), (size_t)bytes);
    return true;
}

bool tensor_fill_integer(error *e, const tensor *t, int64_t value) { return fill(e, t, (double)value, value); }

bool tensor_fill_real(error *e, const tensor *t, double value) { return fill(e, t, value, 0); }
