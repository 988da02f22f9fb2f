#include "triton.h"

#include "arith.h"

/* Code for the GPU itself is better than a text for an older one; among either, that for the newest architecture. */
static bool is_better(const triton_image *image, const triton_image *than) {
    return than == NULL || (than->ptx && !image->ptx) || (than->ptx == image->ptx && image->arch > than->arch);
}

static bool runs_on(const triton_image *image, int64_t arch) {
    if (image->arch == 0 || image->arch > arch) {
        return false;
    }
    return image->ptx || (image->exact ? image->arch == arch : image->arch / 10 == arch / 10);
}

static triton_image *find_image(const triton_kernels *kernels, int64_t row, int64_t arch) {
    triton_image *found = NULL;
    for (int64_t i = 0; i < kernels->count; i++) {
        triton_image *const image = &kernels->images[row * kernels->count + i];
        if (runs_on(image, arch) && is_better(image, found)) {
            found = image;
        }
    }
    return found;
}

/* Memory for the blocks of a launch, which lies there until they have run: PyTorch gives it away again in the order of
 * the stream. */
static bool make_scratch(error *e, device where, const triton_image *image, const int64_t grid[3], tensor *scratch,
                         void **memory) {
    if (image->scratch == 0) {
        return true;
    }
    bool overflow = false;
    const int64_t blocks = mul_i64(&overflow, grid[0], mul_i64(&overflow, grid[1], grid[2]));
    const shape s = {.dim = 1, .sizes = {mul_i64(&overflow, blocks, image->scratch)}};
    CHECK(e, !overflow, "%s: has more scratch memory than can be addressed", image->kernel.name);
    return tensor_empty(e, scratch, image->kernel.name, &s, DTYPE_UINT8, where) &&
           tensor_mutable_data(e, scratch, memory);
}

bool triton_launch(error *e, const cuda_scope *scope, device where, const triton_kernels *kernels, int64_t row,
                   const int64_t grid[3], void **parameters, int appended) {
    if (kernels->images == NULL) {
        return cuda_check_built(e, scope) &&
               fail(e,
                    "this library was built without Triton, and got a tensor on cuda:%" PRId32
                    "; build it again with Triton, which pip install \".[triton]\" brings",
                    scope->device_index);
    }
    triton_image *const image = find_image(kernels, row, scope->arch);
    if (image == NULL) {
        return cuda_no_image(e, scope, CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    const cuda_launch l = {
        .grid = {grid[0], grid[1], grid[2]}, .block = {image->threads, 1, 1}, .shared = image->shared};
    tensor scratch = {0};
    void *memory = NULL, *profile = NULL;
    parameters[appended] = &memory;
    parameters[appended + 1] = &profile;
    bool empty;
    const bool ok = make_scratch(e, where, image, grid, &scratch, &memory) &&
                    cuda_launch_with(e, scope, &image->kernel, &l, parameters, &empty);
    tensor_release(e, &scratch);
    return ok;
}
