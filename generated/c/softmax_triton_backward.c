/* my_ops::softmax_triton_backward(Tensor grad_y, Tensor y) -> Tensor
 *
 * Gradient of softmax_triton, out of its result.
 */
#include "softmax_triton_backward_call.h"

#include "host.h"
#include "operators.h"

typedef struct softmax_triton_backward_frame {
    struct {
        tensor grad_y;
        tensor y;
        tensor grad_x;
    } t; /* tensors */
    struct {
        given_output grad_x;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    softmax_triton_backward_call call;
} softmax_triton_backward_frame;

/* The place of a dtype in the kernel tables below, -1 when T does not allow it. */
static int index_of_T(dtype d) {
    switch (d) {
    case DTYPE_FLOAT32:
        return 0;
    case DTYPE_FLOAT16:
        return 1;
    case DTYPE_BFLOAT16:
        return 2;
    default:
        return -1;
    }
}

/* All that can be told without looking at elements; also gives the names of the spec their values. */
static bool softmax_triton_backward_check(error *e, softmax_triton_backward_frame *f) {
    softmax_triton_backward_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.grad_y, "grad_y") ||
        !tensor_read(e, &f->t.y, "y")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.grad_y.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "grad_y: expected dtype float32, float16 or bfloat16, got %s",
          dtype_name(f->t.grad_y.dtype));
    CHECK(e, f->t.y.dtype == f->d.T, "y: expected dtype %s (as grad_y), got %s", dtype_name(f->t.grad_y.dtype),
          dtype_name(f->t.y.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.y, &f->t.grad_y), "y: expected device %s (as grad_y), got %s",
          device_text(e, &f->t.grad_y), device_text(e, &f->t.y));
    /* shapes */
    CHECK(e, f->t.grad_y.dim >= 1, "grad_y: expected at least 1 dimension, got %" PRId64, f->t.grad_y.dim);
    c->rows = product_i64(&overflow, f->t.grad_y.sizes, f->t.grad_y.dim - 1);
    CHECK(e, !overflow, "grad_y: the product of rows does not fit 64-bit integers");
    c->n = f->t.grad_y.sizes[f->t.grad_y.dim - 1];
    CHECK(e, f->t.y.dim >= 1, "y: expected at least 1 dimension, got %" PRId64, f->t.y.dim);
    CHECK(e, same_sizes(f->t.y.sizes, f->t.y.dim - 1, f->t.grad_y.sizes, f->t.grad_y.dim - 1) &&
             f->t.y.sizes[f->t.y.dim - 1] == c->n,
          "y: expected shape [*rows, n] with rows = %s (from grad_y), n = %" PRId64 " (from grad_y), got %s",
          sizes_text(e, f->t.grad_y.sizes, f->t.grad_y.dim - 1), c->n, shape_text(e, &f->t.y));
    /* checks */
    CHECK(e, c->n <= 16384, "a row must fit the registers of a block (expected n <= 16384, got n = %" PRId64 ")", c->n);
    return true;
}

/* The outputs that are wanted. */
static bool softmax_triton_backward_allocate(error *e, softmax_triton_backward_frame *f) {
    const softmax_triton_backward_call *const c = &f->call;
    shape s;
    if (given(&f->o.grad_x.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !output_check(e, &f->o.grad_x, &s, f->d.T, f->t.grad_y.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.grad_x, "grad_x", &s, f->d.T, f->t.grad_y.device)) {
            return false;
        }
    }
    if (given(&f->o.grad_x.tensor)) {
        const named_tensors all[] = {
            named_tensor("grad_y", &f->t.grad_y),
            named_tensor("y", &f->t.y),
            named_output(&f->o.grad_x),
        };
        if (!outputs_keep_apart(e, all, 2, 3)) {
            return false;
        }
        if (!output_place(&f->t.grad_x, &f->o.grad_x)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim - 1) ||
                !shape_add_dim(e, &s, c->n) ||
                !tensor_empty(e, &f->t.grad_x, "grad_x", &s, f->d.T, f->t.grad_y.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool softmax_triton_backward_nothing_to_do(const softmax_triton_backward_frame *f) {
    return f->t.grad_x.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool softmax_triton_backward_zero(error *e, const softmax_triton_backward_frame *f) {
    return tensor_zero(e, &f->t.grad_x);
}

static bool softmax_triton_backward_pointers(error *e, softmax_triton_backward_frame *f) {
    return tensor_const_data(e, &f->t.grad_y, &f->call.grad_y) &&
           tensor_const_data(e, &f->t.y, &f->call.y) &&
           tensor_mutable_data(e, &f->t.grad_x, &f->call.grad_x);
}

CPU_DECLARE(softmax_triton_backward__float32)
CPU_DECLARE(softmax_triton_backward__float16)
CPU_DECLARE(softmax_triton_backward__bfloat16)

static bool softmax_triton_backward_cpu(error *e, softmax_triton_backward_frame *f) {
    static const cpu_kernels softmax_triton_backward_kernels[3] = {
        CPU_KERNELS(softmax_triton_backward__float32),
        CPU_KERNELS(softmax_triton_backward__float16),
        CPU_KERNELS(softmax_triton_backward__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!softmax_triton_backward_pointers(e, f)) {
        return false;
    }
    const softmax_triton_backward_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.grad_y) +
                          tensor_bytes(&f->t.y) +
                          tensor_bytes(&f->t.grad_x);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&softmax_triton_backward_kernels[T_index], c->rows};
    if (cpu_any_empty(plans, 1) && !softmax_triton_backward_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const triton_kernels softmax_triton_backward__triton; /* written by the build, of generated/cuda/softmax_triton_backward.json */

/* The kernel for the dtypes of the call, the values of its params, and whether pointers and rows are divisible by 16. */
static bool softmax_triton_backward_cuda(error *e, softmax_triton_backward_frame *f, const cuda_scope *scope) {
    if (!softmax_triton_backward_pointers(e, f)) {
        return false;
    }
    softmax_triton_backward_call *const c = &f->call;
    bool overflow = false;
    int64_t row = index_of_T(f->d.T);
    static const int64_t BLOCK_values[] = {128, 256, 512, 1024, 2048, 4096, 8192, 16384};
    if (!cuda_param(e, "softmax_backward_kernel", "BLOCK", max_i64(128, next_pow2_i64(&overflow, c->n)), BLOCK_values,
                    8, &row)) {
        return false;
    }
    row = row * 2 + (aligned_to(c->grad_x, 16) && aligned_to(c->grad_y, 16) && aligned_to(c->y, 16) && c->n % 16 == 0);
    const int64_t grid[3] = {c->rows, 1, 1};
    CHECK(e, !overflow, "launch of softmax_backward_kernel: a number leaves 64 bits or is divided by zero");
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {
        return softmax_triton_backward_zero(e, f);
    }
    void *parameters[4 + TRITON_APPENDED] = {
        &c->grad_x,
        &c->grad_y,
        &c->y,
        &c->n,
    };
    return triton_launch(e, scope, f->t.grad_y.device, &softmax_triton_backward__triton, row, grid, parameters, 4);
}

/* On the device of the tensors. */
static bool softmax_triton_backward_execute(error *e, softmax_triton_backward_frame *f) {
    if (on_cuda(&f->t.grad_y)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.grad_y.device.index, &scope)) {
            return false;
        }
        const bool ok = softmax_triton_backward_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return softmax_triton_backward_cpu(e, f);
}

static bool softmax_triton_backward_run(error *e, softmax_triton_backward_frame *f) {
    if (!softmax_triton_backward_check(e, f)) {
        return false;
    }
    if (!softmax_triton_backward_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.grad_y) ||
        !tensor_make_contiguous(e, &f->t.y)) {
        return false;
    }
    if (softmax_triton_backward_nothing_to_do(f)) {
        return true;
    }
    return softmax_triton_backward_execute(e, f) &&
           output_return(e, &f->t.grad_x, &f->o.grad_x);
}

void softmax_triton_backward_direct(error *e, StableIValue *stack) {
    softmax_triton_backward_frame f = {0};
    error_begin(e, "my_ops::softmax_triton_backward");
    tensor_take(&f.t.grad_y, stack[0]);
    tensor_take(&f.t.y, stack[1]);
    softmax_triton_backward_run(e, &f);
    tensor_release(e, &f.t.grad_y);
    tensor_release(e, &f.t.y);
    tensor_give(e, &f.t.grad_x, &stack[0]);
}

void softmax_triton_backward_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    softmax_triton_backward_direct(&e, stack);
    error_raise(&e);
}

void softmax_triton_backward__out_direct(error *e, StableIValue *stack) {
    softmax_triton_backward_frame f = {0};
    error_begin(e, "my_ops::softmax_triton_backward");
    tensor_take(&f.t.grad_y, stack[0]);
    tensor_take(&f.t.y, stack[1]);
    output_take(&f.o.grad_x, stack[2], "out");
    softmax_triton_backward_run(e, &f);
    tensor_release(e, &f.t.grad_y);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.t.grad_x);
    tensor_release(e, &f.o.grad_x.tensor);
}
