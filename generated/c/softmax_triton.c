/* my_ops::softmax_triton(Tensor x) -> Tensor
 *
 * Softmax over the last dimension, whose kernel for GPUs is written in Triton and compiled with the library.
 */
#include "softmax_triton_call.h"

#include "host.h"
#include "operators.h"

typedef struct softmax_triton_frame {
    struct {
        tensor x;
        tensor y;
    } t; /* tensors */
    struct {
        given_output y;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    softmax_triton_call call;
} softmax_triton_frame;

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
static bool softmax_triton_check(error *e, softmax_triton_frame *f) {
    softmax_triton_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.x, "x")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.x.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "x: expected dtype float32, float16 or bfloat16, got %s",
          dtype_name(f->t.x.dtype));
    /* shapes */
    CHECK(e, f->t.x.dim >= 1, "x: expected at least 1 dimension, got %" PRId64, f->t.x.dim);
    c->rows = product_i64(&overflow, f->t.x.sizes, f->t.x.dim - 1);
    CHECK(e, !overflow, "x: the product of rows does not fit 64-bit integers");
    c->n = f->t.x.sizes[f->t.x.dim - 1];
    /* checks */
    CHECK(e, c->n <= 16384, "a row must fit the registers of a block (expected n <= 16384, got n = %" PRId64 ")", c->n);
    return true;
}

/* The outputs that are wanted. */
static bool softmax_triton_allocate(error *e, softmax_triton_frame *f) {
    const softmax_triton_call *const c = &f->call;
    shape s;
    if (given(&f->o.y.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !output_check(e, &f->o.y, &s, f->d.T, f->t.x.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.y, "y", &s, f->d.T, f->t.x.device)) {
            return false;
        }
    }
    if (given(&f->o.y.tensor)) {
        const named_tensors all[] = {
            named_tensor("x", &f->t.x),
            named_output(&f->o.y),
        };
        if (!outputs_keep_apart(e, all, 1, 2)) {
            return false;
        }
        if (!output_place(&f->t.y, &f->o.y)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
                !shape_add_dim(e, &s, c->n) ||
                !tensor_empty(e, &f->t.y, "y", &s, f->d.T, f->t.x.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool softmax_triton_nothing_to_do(const softmax_triton_frame *f) {
    return f->t.y.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool softmax_triton_zero(error *e, const softmax_triton_frame *f) {
    return tensor_zero(e, &f->t.y);
}

static bool softmax_triton_pointers(error *e, softmax_triton_frame *f) {
    return tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_mutable_data(e, &f->t.y, &f->call.y);
}

CPU_DECLARE(softmax_triton__float32)
CPU_DECLARE(softmax_triton__float16)
CPU_DECLARE(softmax_triton__bfloat16)

static bool softmax_triton_cpu(error *e, softmax_triton_frame *f) {
    static const cpu_kernels softmax_triton_kernels[3] = {
        CPU_KERNELS(softmax_triton__float32),
        CPU_KERNELS(softmax_triton__float16),
        CPU_KERNELS(softmax_triton__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!softmax_triton_pointers(e, f)) {
        return false;
    }
    const softmax_triton_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.y);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&softmax_triton_kernels[T_index], c->rows};
    if (cpu_any_empty(plans, 1) && !softmax_triton_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const triton_kernels softmax_triton__triton; /* written by the build, of generated/cuda/softmax_triton.json */

/* The kernel for the dtypes of the call, the values of its params, and whether pointers and rows are divisible by 16. */
static bool softmax_triton_cuda(error *e, softmax_triton_frame *f, const cuda_scope *scope) {
    if (!softmax_triton_pointers(e, f)) {
        return false;
    }
    softmax_triton_call *const c = &f->call;
    bool overflow = false;
    int64_t row = index_of_T(f->d.T);
    static const int64_t BLOCK_values[] = {128, 256, 512, 1024, 2048, 4096, 8192, 16384};
    if (!cuda_param(e, "softmax_kernel", "BLOCK", max_i64(128, next_pow2_i64(&overflow, c->n)), BLOCK_values, 8,
                    &row)) {
        return false;
    }
    row = row * 2 + (aligned_to(c->y, 16) && aligned_to(c->x, 16) && c->n % 16 == 0);
    const int64_t grid[3] = {c->rows, 1, 1};
    CHECK(e, !overflow, "launch of softmax_kernel: a number leaves 64 bits or is divided by zero");
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) {
        return softmax_triton_zero(e, f);
    }
    void *parameters[3 + TRITON_APPENDED] = {
        &c->y,
        &c->x,
        &c->n,
    };
    return triton_launch(e, scope, f->t.x.device, &softmax_triton__triton, row, grid, parameters, 3);
}

/* On the device of the tensors. */
static bool softmax_triton_execute(error *e, softmax_triton_frame *f) {
    if (on_cuda(&f->t.x)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.x.device.index, &scope)) {
            return false;
        }
        const bool ok = softmax_triton_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return softmax_triton_cpu(e, f);
}

static bool softmax_triton_run(error *e, softmax_triton_frame *f) {
    if (!softmax_triton_check(e, f)) {
        return false;
    }
    if (!softmax_triton_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.x)) {
        return false;
    }
    if (softmax_triton_nothing_to_do(f)) {
        return true;
    }
    return softmax_triton_execute(e, f) &&
           output_return(e, &f->t.y, &f->o.y);
}

void softmax_triton_direct(error *e, StableIValue *stack) {
    softmax_triton_frame f = {0};
    error_begin(e, "my_ops::softmax_triton");
    tensor_take(&f.t.x, stack[0]);
    softmax_triton_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_give(e, &f.t.y, &stack[0]);
}

void softmax_triton_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    softmax_triton_direct(&e, stack);
    error_raise(&e);
}

void softmax_triton__out_direct(error *e, StableIValue *stack) {
    softmax_triton_frame f = {0};
    error_begin(e, "my_ops::softmax_triton");
    tensor_take(&f.t.x, stack[0]);
    output_take(&f.o.y, stack[1], "out");
    softmax_triton_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.o.y.tensor);
}
