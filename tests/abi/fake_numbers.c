/* Dtypes, devices and tags, with the numbers of PyTorch, though any would do. */
#include <stdio.h>
#include <string.h>

#include "fake_objects.h"

typedef struct named_number {
    const char *name;
    int32_t number, size;
} named_number;

#define DTYPES(X)                                                                                                      \
    X(uint8, 0, 1)                                                                                                     \
    X(int8, 1, 1)                                                                                                      \
    X(int16, 2, 2)                                                                                                     \
    X(int32, 3, 4)                                                                                                     \
    X(int64, 4, 8)                                                                                                     \
    X(float16, 5, 2)                                                                                                   \
    X(float32, 6, 4)                                                                                                   \
    X(float64, 7, 8)                                                                                                   \
    X(complex32, 8, 4)                                                                                                 \
    X(complex64, 9, 8)                                                                                                 \
    X(complex128, 10, 16)                                                                                              \
    X(bool, 11, 1)                                                                                                     \
    X(bfloat16, 15, 2)                                                                                                 \
    X(float8_e5m2, 23, 1)                                                                                              \
    X(float8_e4m3fn, 24, 1)                                                                                            \
    X(float8_e5m2fnuz, 25, 1)                                                                                          \
    X(float8_e4m3fnuz, 26, 1)                                                                                          \
    X(uint16, 27, 2)                                                                                                   \
    X(uint32, 28, 4)                                                                                                   \
    X(uint64, 29, 8)                                                                                                   \
    X(float8_e8m0fnu, 44, 1)

#define GETTER(name, number, size)                                                                                     \
    int32_t aoti_torch_dtype_##name(void) { return number; }
DTYPES(GETTER)

#define ROW(name, number, size) {#name, number, size},
static const named_number dtypes[] = {DTYPES(ROW)};

static const named_number *dtype_row(const char *name, int32_t number) {
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (name != NULL ? strcmp(dtypes[i].name, name) == 0 : dtypes[i].number == number) {
            return &dtypes[i];
        }
    }
    fprintf(stderr, "%s (%d)\n", name != NULL ? name : "", number);
    fake_stop("no such dtype");
}

int64_t fake_dtype_size(int32_t dtype) { return dtype_row(NULL, dtype)->size; }

int32_t fake_dtype(const char *name) { return dtype_row(name, 0)->number; }

enum { CPU = 0, CUDA = 1, META = 11 };

int32_t fake_device(const char *type) {
    return strcmp(type, "cpu") == 0 ? CPU : strcmp(type, "cuda") == 0 ? CUDA : META;
}

int32_t aoti_torch_device_type_cpu(void) { return CPU; }
int32_t aoti_torch_device_type_cuda(void) { return CUDA; }
int32_t aoti_torch_device_type_meta(void) { return META; }

#define TAG(name, number)                                                                                              \
    int32_t torch_tag_##name(void) { return number; }
TAG(core, 1)
TAG(cudagraph_unsafe, 2)
TAG(data_dependent_output, 3)
TAG(dynamic_output_shape, 4)
TAG(flexible_layout, 5)
TAG(generated, 6)
TAG(inplace_view, 7)
TAG(maybe_aliasing_or_mutating, 8)
TAG(needs_contiguous_strides, 9)
TAG(needs_exact_strides, 10)
TAG(needs_fixed_stride_order, 11)
TAG(nondeterministic_bitwise, 12)
TAG(nondeterministic_seeded, 13)
TAG(out_variant, 14)
TAG(pointwise, 15)
TAG(pt2_compliant_tag, 16)
TAG(reduction, 17)
TAG(view_copy, 18)
