/* my_ops::softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * Gradients of softmax, out of its result. Columns that `causal` leaves out get zeros.
 */
#include "softmax_backward_call.h"

#include "host.h"
#include "operators.h"

typedef struct softmax_backward_frame {
    struct {
        tensor grad_y;
        tensor y;
        tensor grad_x;
        tensor grad_bias;
    } t; /* tensors */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    bool mask[2]; /* which outputs are wanted */
    softmax_backward_call call;
} softmax_backward_frame;

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
static bool softmax_backward_check(error *e, softmax_backward_frame *f) {
    softmax_backward_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.grad_y, "grad_y") ||
        !tensor_read(e, &f->t.y, "y")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.grad_y.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "grad_y: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.grad_y.dtype));
    CHECK(e, f->t.y.dtype == f->d.T, "y: expected dtype %s (as grad_y), got %s", dtype_name(f->t.grad_y.dtype),
          dtype_name(f->t.y.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.y, &f->t.grad_y), "y: expected device %s (as grad_y), got %s",
          device_text(e, &f->t.grad_y), device_text(e, &f->t.y));
    /* shapes */
    CHECK(e, f->t.grad_y.dim >= 2, "grad_y: expected at least 2 dimensions, got %" PRId64, f->t.grad_y.dim);
    c->batch = product_i64(&overflow, f->t.grad_y.sizes, f->t.grad_y.dim - 2);
    CHECK(e, !overflow, "grad_y: the product of batch does not fit 64-bit integers");
    c->m = f->t.grad_y.sizes[f->t.grad_y.dim - 2];
    c->n = f->t.grad_y.sizes[f->t.grad_y.dim - 1];
    CHECK(e, f->t.y.dim >= 2, "y: expected at least 2 dimensions, got %" PRId64, f->t.y.dim);
    CHECK(e, same_sizes(f->t.y.sizes, f->t.y.dim - 2, f->t.grad_y.sizes, f->t.grad_y.dim - 2) &&
             f->t.y.sizes[f->t.y.dim - 2] == c->m && f->t.y.sizes[f->t.y.dim - 1] == c->n,
          "y: expected shape [*batch, m, n] with batch = %s (from grad_y), m = %" PRId64 " (from grad_y), n = %" PRId64 " (from grad_y), got %s",
          sizes_text(e, f->t.grad_y.sizes, f->t.grad_y.dim - 2), c->m, c->n, shape_text(e, &f->t.y));
    /* dims */
    c->rows = mul_i64(&overflow, c->batch, c->m);
    CHECK(e, !overflow, "rows = batch * m does not fit 64-bit integers");
    c->span = mod_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16) == 0
                  ? mul_i64(&overflow, c->n, dtype_size(f->d.T))
                  : add_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16);
    CHECK(e, !overflow,
          "span = n * sizeof(T) if n * sizeof(T) %% 16 == 0 else n * sizeof(T) + 16 does not fit 64-bit integers or divides by zero");
    c->lanes = min_i64(32, next_pow2_i64(&overflow, max_i64(1, ceil_div_i64(&overflow, c->span, 32))));
    CHECK(e, !overflow,
          "lanes = min(32, next_pow2(max(1, ceil_div(span, 32)))) does not fit 64-bit integers or divides by zero");
    c->stage_lanes = next_pow2_i64(&overflow,
                                   max_i64(1, ceil_div_i64(&overflow, c->n, dtype_size(f->d.T) <= 4 ? 16 : 8)));
    CHECK(e, !overflow,
          "stage_lanes = next_pow2(max(1, ceil_div(n, 16 if sizeof(T) <= 4 else 8))) does not fit 64-bit integers or divides by zero");
    c->slab = mul_i64(&overflow, max_i64(1, floordiv_i64(&overflow, 288, max_i64(1, c->n))), max_i64(1, c->n));
    CHECK(e, !overflow, "slab = max(1, 288 // max(1, n)) * max(1, n) does not fit 64-bit integers or divides by zero");
    c->slab_rows = mul_i64(&overflow, floordiv_i64(&overflow, c->slab, max_i64(1, c->n)),
                           floordiv_i64(&overflow, 16, dtype_size(f->d.T)));
    CHECK(e, !overflow,
          "slab_rows = slab // max(1, n) * (16 // sizeof(T)) does not fit 64-bit integers or divides by zero");
    c->runs = ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, 2, c->slab_rows));
    CHECK(e, !overflow, "runs = ceil_div(rows, 2 * slab_rows) does not fit 64-bit integers or divides by zero");
    return true;
}

/* The outputs that are wanted. */
static bool softmax_backward_allocate(error *e, softmax_backward_frame *f) {
    const softmax_backward_call *const c = &f->call;
    shape s;
    if (f->mask[0]) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim - 2) ||
            !shape_add_dim(e, &s, c->m) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.grad_x, "grad_x", &s, f->d.T, f->t.grad_y.device)) {
            return false;
        }
    }
    if (f->mask[1]) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim - 2) ||
            !shape_add_dim(e, &s, c->m) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.grad_bias, "grad_bias", &s, dtype_acc(f->d.T), f->t.grad_y.device)) {
            return false;
        }
    }
    return true;
}

static bool softmax_backward_nothing_to_do(const softmax_backward_frame *f) {
    return f->t.grad_x.numel == 0 && f->t.grad_bias.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool softmax_backward_zero(error *e, const softmax_backward_frame *f) {
    return tensor_zero(e, &f->t.grad_x) &&
           tensor_zero(e, &f->t.grad_bias);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool softmax_backward_prepare(error *e, softmax_backward_frame *f, int64_t arch) {
    softmax_backward_call *const c = &f->call;
    bool overflow = false;
    c->cluster = arch < 90 || c->span <= 16384
                     ? 1
                     : min_i64(8, next_pow2_i64(&overflow, ceil_div_i64(&overflow, c->span, 16384)));
    c->spread = round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, mul_i64(&overflow, 64, c->cluster)), 32);
    CHECK(e, !overflow, "the sizes of launch and scratch: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool softmax_backward_pointers(error *e, softmax_backward_frame *f) {
    return tensor_const_data(e, &f->t.grad_y, &f->call.grad_y) &&
           tensor_const_data(e, &f->t.y, &f->call.y) &&
           tensor_mutable_data(e, &f->t.grad_x, &f->call.grad_x) &&
           tensor_mutable_data(e, &f->t.grad_bias, &f->call.grad_bias);
}

CPU_DECLARE(softmax_backward__float64)
CPU_DECLARE(softmax_backward__float32)
CPU_DECLARE(softmax_backward__float16)
CPU_DECLARE(softmax_backward__bfloat16)

static bool softmax_backward_cpu(error *e, softmax_backward_frame *f) {
    static const cpu_kernels softmax_backward_kernels[4] = {
        CPU_KERNELS(softmax_backward__float64),
        CPU_KERNELS(softmax_backward__float32),
        CPU_KERNELS(softmax_backward__float16),
        CPU_KERNELS(softmax_backward__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!softmax_backward_prepare(e, f, 0) ||
        !softmax_backward_pointers(e, f)) {
        return false;
    }
    const softmax_backward_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.grad_y) +
                          tensor_bytes(&f->t.y) +
                          tensor_bytes(&f->t.grad_x) +
                          tensor_bytes(&f->t.grad_bias);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&softmax_backward_kernels[T_index], c->rows};
    if (cpu_any_empty(plans, 1) && !softmax_backward_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char softmax_backward_fatbin_0[];
extern const unsigned char softmax_backward_fatbin_1[];

static cuda_module modules[] = {
    {.image = softmax_backward_fatbin_0},
    {.image = softmax_backward_fatbin_1},
};

/* The first launch shape of the spec whose condition holds. */
static bool softmax_backward_plan(error *e, const softmax_backward_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[8][4] = {
        {
            {0},
            {.name = "softmax_backward__float32__0", .module = &modules[0]},
            {.name = "softmax_backward__float16__0", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__0", .module = &modules[0]},
        },
        {
            {0},
            {.name = "softmax_backward__float32__1", .module = &modules[0]},
            {.name = "softmax_backward__float16__1", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__1", .module = &modules[0]},
        },
        {
            {0},
            {.name = "softmax_backward__float32__2", .module = &modules[0]},
            {.name = "softmax_backward__float16__2", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__2", .module = &modules[0]},
        },
        {
            {0},
            {.name = "softmax_backward__float32__3", .module = &modules[0]},
            {.name = "softmax_backward__float16__3", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__3", .module = &modules[0]},
        },
        {
            {.name = "softmax_backward__float64__4", .module = &modules[1]},
            {.name = "softmax_backward__float32__4", .module = &modules[0]},
            {.name = "softmax_backward__float16__4", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__4", .module = &modules[0]},
        },
        {
            {.name = "softmax_backward__float64__5", .module = &modules[1]},
            {.name = "softmax_backward__float32__5", .module = &modules[0]},
            {.name = "softmax_backward__float16__5", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__5", .module = &modules[0]},
        },
        {
            {.name = "softmax_backward__float64__6", .module = &modules[1]},
            {.name = "softmax_backward__float32__6", .module = &modules[0]},
            {.name = "softmax_backward__float16__6", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__6", .module = &modules[0]},
        },
        {
            {.name = "softmax_backward__float64__7", .module = &modules[1]},
            {.name = "softmax_backward__float32__7", .module = &modules[0]},
            {.name = "softmax_backward__float16__7", .module = &modules[1]},
            {.name = "softmax_backward__bfloat16__7", .module = &modules[0]},
        },
    };
    const softmax_backward_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    if (dtype_size(f->d.T) <= 4 && c->span <= 16384 &&
        mul_i64(&overflow, c->rows, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)) <=
        mul_i64(&overflow, 2048, scope->sm_count) &&
        (c->span > 512 || c->rows <= mul_i64(&overflow, 2, scope->sm_count)) &&
        (aligned_to(c->grad_y, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->y, 16) &&
         aligned_to(c->grad_x, 16) && aligned_to(c->grad_bias, 16) && c->n * dtype_size(dtype_acc(f->d.T)) % 16 == 0)) {
        plan->kernel = &kernels[0][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32), 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 512 &&
               (aligned_to(c->grad_y, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->y, 16) &&
                aligned_to(c->grad_x, 16) && aligned_to(c->grad_bias, 16) &&
                c->n * dtype_size(dtype_acc(f->d.T)) % 16 == 0)) {
        plan->kernel = &kernels[1][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, 256, c->lanes)), 1, 1},
            .block = {256, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 8192 &&
               (aligned_to(c->grad_y, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->y, 16) &&
                aligned_to(c->grad_x, 16) && aligned_to(c->grad_bias, 16) &&
                c->n * dtype_size(dtype_acc(f->d.T)) % 16 == 0)) {
        plan->kernel = &kernels[2][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {min_i64(1024, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 32), 32)), 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->spread <= 512 &&
               mul_i64(&overflow, 128, c->spread) <= sub_i64(&overflow, scope->max_shared, 8192) &&
               (aligned_to(c->grad_y, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->y, 16) &&
                aligned_to(c->grad_x, 16) && aligned_to(c->grad_bias, 16) &&
                c->n * dtype_size(dtype_acc(f->d.T)) % 16 == 0)) {
        plan->kernel = &kernels[3][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {min_i64(512, c->spread), 1, 1},
            .shared = mul_i64(&overflow, 128, min_i64(512, c->spread)),
            .cluster = {c->cluster, 1, 1},
        };
    } else if (mul_i64(&overflow, c->n, dtype_size(f->d.T)) >= 16 && c->n <= 512 &&
               c->rows >= mul_i64(&overflow, 64, scope->sm_count) && !c->causal && !f->mask[1] && f->mask[0]) {
        plan->kernel = &kernels[4][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->runs,
                                  max_i64(1,
                                          min_i64(4,
                                                  floordiv_i64(&overflow, c->runs,
                                                               mul_i64(&overflow, 16, scope->sm_count))))),
                     1, 1},
            .block = {min_i64(512, round_up_i64(&overflow, c->slab, 32)), 1, 1},
            .shared = mul_i64(&overflow, mul_i64(&overflow, 4, max_i64(4, dtype_size(f->d.T))),
                              add_i64(&overflow, c->slab, mul_i64(&overflow, 2, c->slab_rows))),
        };
    } else if (c->stage_lanes <= 32) {
        plan->kernel = &kernels[5][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, 256, c->stage_lanes)), 1, 1},
            .block = {256, 1, 1},
        };
    } else if (c->spread <= 512 && mul_i64(&overflow, 128, c->spread) <= sub_i64(&overflow, scope->max_shared, 8192)) {
        plan->kernel = &kernels[6][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {min_i64(512, c->spread), 1, 1},
            .shared = mul_i64(&overflow, 128, min_i64(512, c->spread)),
            .cluster = {c->cluster, 1, 1},
        };
    } else {
        plan->kernel = &kernels[7][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {1024, 1, 1},
        };
    }
    CHECK(e, !overflow, "launch of softmax_backward: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool softmax_backward_cuda(error *e, softmax_backward_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!softmax_backward_prepare(e, f, scope->arch) ||
        !softmax_backward_pointers(e, f) ||
        !softmax_backward_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !softmax_backward_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool softmax_backward_execute(error *e, softmax_backward_frame *f) {
    if (on_cuda(&f->t.grad_y)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.grad_y.device.index, &scope)) {
            return false;
        }
        const bool ok = softmax_backward_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return softmax_backward_cpu(e, f);
}

static bool softmax_backward_run(error *e, softmax_backward_frame *f) {
    if (!softmax_backward_check(e, f)) {
        return false;
    }
    if (!softmax_backward_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.grad_y) ||
        !tensor_make_contiguous(e, &f->t.y)) {
        return false;
    }
    if (softmax_backward_nothing_to_do(f)) {
        return true;
    }
    return softmax_backward_execute(e, f);
}

void softmax_backward_direct(error *e, StableIValue *stack) {
    softmax_backward_frame f = {0};
    error_begin(e, "my_ops::softmax_backward");
    tensor_take(&f.t.grad_y, stack[0]);
    tensor_take(&f.t.y, stack[1]);
    f.call.scale = take_float(stack[2]);
    f.call.causal = take_bool(stack[3]);
    take_mask(e, stack[4], "grad_mask", f.mask, 2);
    if (!e->set) {
        softmax_backward_run(e, &f);
    }
    tensor_release(e, &f.t.grad_y);
    tensor_release(e, &f.t.y);
    tensor_define(e, &f.t.grad_x);
    tensor_define(e, &f.t.grad_bias);
    tensor_give(e, &f.t.grad_x, &stack[0]);
    tensor_give(e, &f.t.grad_bias, &stack[1]);
}

void softmax_backward_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    softmax_backward_direct(&e, stack);
    error_raise(&e);
}
