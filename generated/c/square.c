/* my_ops::square(Tensor x) -> Tensor
 *
 * x * x, element by element.
 */
#include "square_call.h"

#include "host.h"
#include "operators.h"

typedef struct square_frame {
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
    square_call call;
} square_frame;

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
static bool square_check(error *e, square_frame *f) {
    square_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.x, "x")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.x.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "x: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.x.dtype));
    /* shapes */
    c->shape = product_i64(&overflow, f->t.x.sizes, f->t.x.dim);
    CHECK(e, !overflow, "x: the product of shape does not fit 64-bit integers");
    return true;
}

/* The outputs that are wanted. */
static bool square_allocate(error *e, square_frame *f) {
    shape s;
    if (given(&f->o.y.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim) ||
            !output_check(e, &f->o.y, &s, f->d.T, f->t.x.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim) ||
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
            if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim) ||
                !tensor_empty(e, &f->t.y, "y", &s, f->d.T, f->t.x.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool square_nothing_to_do(const square_frame *f) {
    return f->t.y.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool square_zero(error *e, const square_frame *f) {
    return tensor_zero(e, &f->t.y);
}

static bool square_pointers(error *e, square_frame *f) {
    return tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_mutable_data(e, &f->t.y, &f->call.y);
}

CPU_DECLARE(square__float64)
CPU_DECLARE(square__float32)
CPU_DECLARE(square__float16)
CPU_DECLARE(square__bfloat16)

static bool square_cpu(error *e, square_frame *f) {
    static const cpu_kernels square_kernels[4] = {
        CPU_KERNELS(square__float64),
        CPU_KERNELS(square__float32),
        CPU_KERNELS(square__float16),
        CPU_KERNELS(square__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!square_pointers(e, f)) {
        return false;
    }
    const square_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.y);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&square_kernels[T_index], f->t.x.numel};
    if (cpu_any_empty(plans, 1) && !square_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char square_fatbin_0[];

static cuda_module modules[] = {
    {.image = square_fatbin_0},
};

/* The first launch shape of the spec whose condition holds. */
static bool square_plan(error *e, const square_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[1][4] = {
        {
            {.name = "square__float64__0", .module = &modules[0]},
            {.name = "square__float32__0", .module = &modules[0]},
            {.name = "square__float16__0", .module = &modules[0]},
            {.name = "square__bfloat16__0", .module = &modules[0]},
        },
    };
    (void)scope;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    plan->kernel = &kernels[0][T_index];
    plan->launch = (cuda_launch){
        .grid = {ceil_div_i64(&overflow, add_i64(&overflow, f->t.x.numel, 7),
                              mul_i64(&overflow, mul_i64(&overflow, 256, 4),
                                      floordiv_i64(&overflow, 16, dtype_size(f->d.T)))),
                 1, 1},
        .block = {256, 1, 1},
    };
    CHECK(e, !overflow, "launch of square: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool square_cuda(error *e, square_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!square_pointers(e, f) ||
        !square_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !square_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool square_execute(error *e, square_frame *f) {
    if (on_cuda(&f->t.x)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.x.device.index, &scope)) {
            return false;
        }
        const bool ok = square_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return square_cpu(e, f);
}

static bool square_run(error *e, square_frame *f) {
    if (!square_check(e, f)) {
        return false;
    }
    if (!square_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.x)) {
        return false;
    }
    if (square_nothing_to_do(f)) {
        return true;
    }
    return square_execute(e, f) &&
           output_return(e, &f->t.y, &f->o.y);
}

void square_direct(error *e, StableIValue *stack) {
    square_frame f = {0};
    error_begin(e, "my_ops::square");
    tensor_take(&f.t.x, stack[0]);
    square_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_give(e, &f.t.y, &stack[0]);
}

void square_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    square_direct(&e, stack);
    error_raise(&e);
}

void square__out_direct(error *e, StableIValue *stack) {
    square_frame f = {0};
    error_begin(e, "my_ops::square");
    tensor_take(&f.t.x, stack[0]);
    output_take(&f.o.y, stack[1], "out");
    square_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.o.y.tensor);
}
