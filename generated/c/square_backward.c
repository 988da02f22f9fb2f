/* my_ops::square_backward(Tensor grad_y, Tensor x) -> Tensor
 *
 * Gradient of square.
 */
#include "square_backward_call.h"

#include "host.h"
#include "operators.h"

typedef struct square_backward_frame {
    struct {
        tensor grad_y;
        tensor x;
        tensor grad_x;
    } t; /* tensors */
    struct {
        given_output grad_x;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    square_backward_call call;
} square_backward_frame;

/* The place of a dtype in the kernel tables below, -1 when T does not allow it. */
static int index_of_T(dtype d) {
    switch (d) {
    case DTYPE_FLOAT64:
        return 0;
    case DTYPE_FLOAT32:
        return 1;
    case DTYPE_FLOAT16:
        return 2;
    case DTYPE_BFLOAT16:
        return 3;
    default:
        return -1;
    }
}

/* All that can be told without looking at elements; also gives the names of the spec their values. */
static bool square_backward_check(error *e, square_backward_frame *f) {
    square_backward_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.grad_y, "grad_y") ||
        !tensor_read(e, &f->t.x, "x")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.grad_y.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "grad_y: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.grad_y.dtype));
    CHECK(e, f->t.x.dtype == f->d.T, "x: expected dtype %s (as grad_y), got %s", dtype_name(f->t.grad_y.dtype),
          dtype_name(f->t.x.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.x, &f->t.grad_y), "x: expected device %s (as grad_y), got %s",
          device_text(e, &f->t.grad_y), device_text(e, &f->t.x));
    /* shapes */
    c->shape = product_i64(&overflow, f->t.grad_y.sizes, f->t.grad_y.dim);
    CHECK(e, !overflow, "grad_y: the product of shape does not fit 64-bit integers");
    CHECK(e, same_sizes(f->t.x.sizes, f->t.x.dim, f->t.grad_y.sizes, f->t.grad_y.dim),
          "x: expected shape [*shape] with shape = %s (from grad_y), got %s",
          sizes_text(e, f->t.grad_y.sizes, f->t.grad_y.dim), shape_text(e, &f->t.x));
    return true;
}

/* The outputs that are wanted. */
static bool square_backward_allocate(error *e, square_backward_frame *f) {
    shape s;
    if (given(&f->o.grad_x.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim) ||
            !output_check(e, &f->o.grad_x, &s, f->d.T, f->t.grad_y.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim) ||
            !tensor_empty(e, &f->t.grad_x, "grad_x", &s, f->d.T, f->t.grad_y.device)) {
            return false;
        }
    }
    if (given(&f->o.grad_x.tensor)) {
        const named_tensors all[] = {
            named_tensor("grad_y", &f->t.grad_y),
            named_tensor("x", &f->t.x),
            named_output(&f->o.grad_x),
        };
        if (!outputs_keep_apart(e, all, 2, 3)) {
            return false;
        }
        if (!output_place(&f->t.grad_x, &f->o.grad_x)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim) ||
                !tensor_empty(e, &f->t.grad_x, "grad_x", &s, f->d.T, f->t.grad_y.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool square_backward_nothing_to_do(const square_backward_frame *f) {
    return f->t.grad_x.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool square_backward_zero(error *e, const square_backward_frame *f) {
    return tensor_zero(e, &f->t.grad_x);
}

static bool square_backward_pointers(error *e, square_backward_frame *f) {
    return tensor_const_data(e, &f->t.grad_y, &f->call.grad_y) &&
           tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_mutable_data(e, &f->t.grad_x, &f->call.grad_x);
}

CPU_DECLARE(square_backward__float64)
CPU_DECLARE(square_backward__float32)
CPU_DECLARE(square_backward__float16)
CPU_DECLARE(square_backward__bfloat16)

static bool square_backward_cpu(error *e, square_backward_frame *f) {
    static const cpu_kernels square_backward_kernels[4] = {
        CPU_KERNELS(square_backward__float64),
        CPU_KERNELS(square_backward__float32),
        CPU_KERNELS(square_backward__float16),
        CPU_KERNELS(square_backward__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!square_backward_pointers(e, f)) {
        return false;
    }
    const square_backward_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.grad_y) +
                          tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.grad_x);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&square_backward_kernels[T_index], f->t.x.numel};
    if (cpu_any_empty(plans, 1) && !square_backward_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char square_backward_fatbin_0[];

static cuda_module modules[] = {
    {.image = square_backward_fatbin_0},
};

/* The first launch shape of the spec whose condition holds. */
static bool square_backward_plan(error *e, const square_backward_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[1][4] = {
        {
            {.name = "square_backward__float64__0", .module = &modules[0]},
            {.name = "square_backward__float32__0", .module = &modules[0]},
            {.name = "square_backward__float16__0", .module = &modules[0]},
            {.name = "square_backward__bfloat16__0", .module = &modules[0]},
        },
    };
    (void)scope;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    plan->kernel = &kernels[0][T_index];
    plan->launch = (cuda_launch){
        .grid = {ceil_div_i64(&overflow, add_i64(&overflow, f->t.x.numel, 7),
                              mul_i64(&overflow, mul_i64(&overflow, 256, 2),
                                      floordiv_i64(&overflow, 16, dtype_size(f->d.T)))),
                 1, 1},
        .block = {256, 1, 1},
    };
    CHECK(e, !overflow, "launch of square_backward: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool square_backward_cuda(error *e, square_backward_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!square_backward_pointers(e, f) ||
        !square_backward_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !square_backward_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool square_backward_execute(error *e, square_backward_frame *f) {
    if (on_cuda(&f->t.grad_y)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.grad_y.device.index, &scope)) {
            return false;
        }
        const bool ok = square_backward_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return square_backward_cpu(e, f);
}

static bool square_backward_run(error *e, square_backward_frame *f) {
    if (!square_backward_check(e, f)) {
        return false;
    }
    if (!square_backward_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.grad_y) ||
        !tensor_make_contiguous(e, &f->t.x)) {
        return false;
    }
    if (square_backward_nothing_to_do(f)) {
        return true;
    }
    return square_backward_execute(e, f) &&
           output_return(e, &f->t.grad_x, &f->o.grad_x);
}

void square_backward_direct(error *e, StableIValue *stack) {
    square_backward_frame f = {0};
    error_begin(e, "my_ops::square_backward");
    tensor_take(&f.t.grad_y, stack[0]);
    tensor_take(&f.t.x, stack[1]);
    square_backward_run(e, &f);
    tensor_release(e, &f.t.grad_y);
    tensor_release(e, &f.t.x);
    tensor_give(e, &f.t.grad_x, &stack[0]);
}

void square_backward_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    square_backward_direct(&e, stack);
    error_raise(&e);
}

void square_backward__out_direct(error *e, StableIValue *stack) {
    square_backward_frame f = {0};
    error_begin(e, "my_ops::square_backward");
    tensor_take(&f.t.grad_y, stack[0]);
    tensor_take(&f.t.x, stack[1]);
    output_take(&f.o.grad_x, stack[2], "out");
    square_backward_run(e, &f);
    tensor_release(e, &f.t.grad_y);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.grad_x);
    tensor_release(e, &f.o.grad_x.tensor);
}
