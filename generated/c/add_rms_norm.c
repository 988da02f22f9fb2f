/* my_ops::add_rms_norm(Tensor x, Tensor residual, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)
 *
 * rms_norm of x + residual, and that sum itself, rounded to the dtype of x, which is what is normalised.
 */
#include "add_rms_norm_call.h"

#include "host.h"
#include "operators.h"

typedef struct add_rms_norm_frame {
    struct {
        tensor x;
        tensor residual;
        tensor weight;
        tensor y;
        tensor residual_out;
        tensor rstd;
    } t; /* tensors */
    struct {
        given_output y;
        given_output residual_out;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    add_rms_norm_call call;
} add_rms_norm_frame;

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
static bool add_rms_norm_check(error *e, add_rms_norm_frame *f) {
    add_rms_norm_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.x, "x") ||
        !tensor_read(e, &f->t.residual, "residual") ||
        !tensor_read(e, &f->t.weight, "weight")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.x.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "x: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.x.dtype));
    CHECK(e, f->t.residual.dtype == f->d.T, "residual: expected dtype %s (as x), got %s", dtype_name(f->t.x.dtype),
          dtype_name(f->t.residual.dtype));
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.dtype == f->d.T, "weight: expected dtype %s (as x), got %s", dtype_name(f->t.x.dtype),
              dtype_name(f->t.weight.dtype));
    }
    /* devices */
    CHECK(e, same_device(&f->t.residual, &f->t.x), "residual: expected device %s (as x), got %s",
          device_text(e, &f->t.x), device_text(e, &f->t.residual));
    if (given(&f->t.weight)) {
        CHECK(e, same_device(&f->t.weight, &f->t.x), "weight: expected device %s (as x), got %s", device_text(e, &f->t.x),
              device_text(e, &f->t.weight));
    }
    /* shapes */
    CHECK(e, f->t.x.dim >= 1, "x: expected at least 1 dimension, got %" PRId64, f->t.x.dim);
    c->rows = product_i64(&overflow, f->t.x.sizes, f->t.x.dim - 1);
    CHECK(e, !overflow, "x: the product of rows does not fit 64-bit integers");
    c->n = f->t.x.sizes[f->t.x.dim - 1];
    CHECK(e, f->t.residual.dim >= 1, "residual: expected at least 1 dimension, got %" PRId64, f->t.residual.dim);
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.dim == 1, "weight: expected 1 dimension, got %" PRId64, f->t.weight.dim);
    }
    CHECK(e, same_sizes(f->t.residual.sizes, f->t.residual.dim - 1, f->t.x.sizes, f->t.x.dim - 1) &&
             f->t.residual.sizes[f->t.residual.dim - 1] == c->n,
          "residual: expected shape [*rows, n] with rows = %s (from x), n = %" PRId64 " (from x), got %s",
          sizes_text(e, f->t.x.sizes, f->t.x.dim - 1), c->n, shape_text(e, &f->t.residual));
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.sizes[0] == c->n, "weight: expected shape [n] with n = %" PRId64 " (from x), got %s", c->n,
              shape_text(e, &f->t.weight));
    }
    /* checks */
    CHECK(e, c->n > 0, "expected n > 0, got n = %" PRId64, c->n);
    CHECK(e, c->eps >= 0.0, "expected eps >= 0, got eps = %s", float_text(e, c->eps));
    /* dims */
    c->span = mod_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16) == 0
                  ? mul_i64(&overflow, c->n, dtype_size(f->d.T))
                  : add_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16);
    CHECK(e, !overflow,
          "span = n * sizeof(T) if n * sizeof(T) %% 16 == 0 else n * sizeof(T) + 16 does not fit 64-bit integers or divides by zero");
    c->lanes = min_i64(32, next_pow2_i64(&overflow, ceil_div_i64(&overflow, c->span, 32)));
    CHECK(e, !overflow,
          "lanes = min(32, next_pow2(ceil_div(span, 32))) does not fit 64-bit integers or divides by zero");
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
static bool add_rms_norm_allocate(error *e, add_rms_norm_frame *f, bool saved) {
    const add_rms_norm_call *const c = &f->call;
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
    if (given(&f->o.residual_out.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !output_check(e, &f->o.residual_out, &s, f->d.T, f->t.x.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.residual_out, "residual_out", &s, f->d.T, f->t.x.device)) {
            return false;
        }
    }
    if (saved) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !tensor_empty(e, &f->t.rstd, "rstd", &s, dtype_acc(f->d.T), f->t.x.device)) {
            return false;
        }
    }
    if (given(&f->o.y.tensor)) {
        const named_tensors all[] = {
            named_tensor("x", &f->t.x),
            named_tensor("residual", &f->t.residual),
            named_tensor("weight", &f->t.weight),
            named_output(&f->o.y),
            named_output(&f->o.residual_out),
        };
        if (!outputs_keep_apart(e, all, 3, 5)) {
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
        if (!output_place(&f->t.residual_out, &f->o.residual_out)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
                !shape_add_dim(e, &s, c->n) ||
                !tensor_empty(e, &f->t.residual_out, "residual_out", &s, f->d.T, f->t.x.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool add_rms_norm_nothing_to_do(const add_rms_norm_frame *f) {
    return f->t.y.numel == 0 && f->t.residual_out.numel == 0 && f->t.rstd.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool add_rms_norm_zero(error *e, const add_rms_norm_frame *f) {
    return tensor_zero(e, &f->t.y) &&
           tensor_zero(e, &f->t.residual_out) &&
           tensor_zero(e, &f->t.rstd);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool add_rms_norm_prepare(error *e, add_rms_norm_frame *f, int64_t arch, int64_t sm_count) {
    add_rms_norm_call *const c = &f->call;
    bool overflow = false;
    c->short_block = max_i64(32,
                             min_i64(256,
                                     next_pow2_i64(&overflow,
                                                   ceil_div_i64(&overflow, mul_i64(&overflow, c->rows, c->lanes),
                                                                sm_count))));
    c->cluster = arch < 90 || c->span <= 20480
                     ? 1
                     : next_pow2_i64(&overflow, ceil_div_i64(&overflow, c->span, c->span <= 131072 ? 16384 : 32768));
    CHECK(e, !overflow, "the sizes of launch and scratch: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool add_rms_norm_pointers(error *e, add_rms_norm_frame *f) {
    return tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_const_data(e, &f->t.residual, &f->call.residual) &&
           tensor_const_data(e, &f->t.weight, &f->call.weight) &&
           tensor_mutable_data(e, &f->t.y, &f->call.y) &&
           tensor_mutable_data(e, &f->t.residual_out, &f->call.residual_out) &&
           tensor_mutable_data(e, &f->t.rstd, &f->call.rstd);
}

CPU_DECLARE(add_rms_norm__float64)
CPU_DECLARE(add_rms_norm__float32)
CPU_DECLARE(add_rms_norm__float16)
CPU_DECLARE(add_rms_norm__bfloat16)

static bool add_rms_norm_cpu(error *e, add_rms_norm_frame *f) {
    static const cpu_kernels add_rms_norm_kernels[4] = {
        CPU_KERNELS(add_rms_norm__float64),
        CPU_KERNELS(add_rms_norm__float32),
        CPU_KERNELS(add_rms_norm__float16),
        CPU_KERNELS(add_rms_norm__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!add_rms_norm_prepare(e, f, 0, 32) ||
        !add_rms_norm_pointers(e, f)) {
        return false;
    }
    const add_rms_norm_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.residual) +
                          tensor_bytes(&f->t.weight) +
                          tensor_bytes(&f->t.y) +
                          tensor_bytes(&f->t.residual_out) +
                          tensor_bytes(&f->t.rstd);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&add_rms_norm_kernels[T_index], c->rows};
    if (cpu_any_empty(plans, 1) && !add_rms_norm_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char add_rms_norm_fatbin_0[];
extern const unsigned char add_rms_norm_fatbin_1[];

static cuda_module modules[] = {
    {.image = add_rms_norm_fatbin_0},
    {.image = add_rms_norm_fatbin_1},
};

/* The first launch shape of the spec whose condition holds. */
static bool add_rms_norm_plan(error *e, const add_rms_norm_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[7][4] = {
        {
            {0},
            {.name = "add_rms_norm__float32__0", .module = &modules[0]},
            {.name = "add_rms_norm__float16__0", .module = &modules[1]},
            {.name = "add_rms_norm__bfloat16__0", .module = &modules[0]},
        },
        {
            {0},
            {.name = "add_rms_norm__float32__1", .module = &modules[0]},
            {.name = "add_rms_norm__float16__1", .module = &modules[1]},
            {.name = "add_rms_norm__bfloat16__1", .module = &modules[0]},
        },
        {
            {0},
            {.name = "add_rms_norm__float32__2", .module = &modules[0]},
            {.name = "add_rms_norm__float16__2", .module = &modules[1]},
            {.name = "add_rms_norm__bfloat16__2", .module = &modules[0]},
        },
        {
            {.name = "add_rms_norm__float64__3", .module = &modules[1]},
            {.name = "add_rms_norm__float32__3", .module = &modules[0]},
            {.name = "add_rms_norm__float16__3", .module = &modules[1]},
            {.name = "add_rms_norm__bfloat16__3", .module = &modules[0]},
        },
        {
            {.name = "add_rms_norm__float64__4", .module = &modules[1]},
            {.name = "add_rms_norm__float32__4", .module = &modules[0]},
            {.name = "add_rms_norm__float16__4", .module = &modules[1]},
            {.name = "add_rms_norm__bfloat16__4", .module = &modules[0]},
        },
        {
            {0},
            {.name = "add_rms_norm__float32__5", .module = &modules[0]},
            {.name = "add_rms_norm__float16__5", .module = &modules[1]},
            {.name = "add_rms_norm__bfloat16__5", .module = &modules[0]},
        },
        {
            {.name = "add_rms_norm__float64__6", .module = &modules[1]},
            {.name = "add_rms_norm__float32__6", .module = &modules[0]},
            {.name = "add_rms_norm__float16__6", .module = &modules[1]},
            {.name = "add_rms_norm__bfloat16__6", .module = &modules[0]},
        },
    };
    const add_rms_norm_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    if (dtype_size(f->d.T) <= 4 && c->span <= 1024 && c->rows > mul_i64(&overflow, 2, scope->sm_count) &&
        mul_i64(&overflow, c->rows, c->lanes) <= mul_i64(&overflow, 2048, scope->sm_count) &&
        (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->residual, 16) &&
         aligned_to(c->weight, 16) && aligned_to(c->y, 16) && aligned_to(c->residual_out, 16) &&
         aligned_to(c->rstd, 16))) {
        plan->kernel = &kernels[0][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, c->short_block, c->lanes)), 1, 1},
            .block = {c->short_block, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 1024 && c->rows > mul_i64(&overflow, 2, scope->sm_count) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->residual, 16) &&
                aligned_to(c->weight, 16) && aligned_to(c->y, 16) && aligned_to(c->residual_out, 16) &&
                aligned_to(c->rstd, 16))) {
        plan->kernel = &kernels[1][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, floordiv_i64(&overflow, 256, c->lanes), 2)), 1,
                     1},
            .block = {256, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= mul_i64(&overflow, 32768, c->cluster) && c->cluster <= 8 &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->residual, 16) &&
                aligned_to(c->weight, 16) && aligned_to(c->y, 16) && aligned_to(c->residual_out, 16) &&
                aligned_to(c->rstd, 16))) {
        plan->kernel = &kernels[2][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, mul_i64(&overflow, 32, c->cluster)), 32),
                      1, 1},
            .cluster = {c->cluster, 1, 1},
        };
    } else if (mul_i64(&overflow, c->n, dtype_size(f->d.T)) >= 16 && c->n <= 512 &&
               c->rows >= mul_i64(&overflow, 64, scope->sm_count)) {
        plan->kernel = &kernels[3][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->runs,
                                  max_i64(1,
                                          min_i64(4,
                                                  floordiv_i64(&overflow, c->runs,
                                                               mul_i64(&overflow, 16, scope->sm_count))))),
                     1, 1},
            .block = {min_i64(512, round_up_i64(&overflow, c->slab, 32)), 1, 1},
            .shared = mul_i64(&overflow, mul_i64(&overflow, 2, max_i64(4, dtype_size(f->d.T))),
                              add_i64(&overflow, c->slab, mul_i64(&overflow, 2, c->slab_rows))),
        };
    } else if (c->n <= 512) {
        plan->kernel = &kernels[4][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, 8), 1, 1},
            .block = {256, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= mul_i64(&overflow, 32768, c->cluster) && c->cluster <= 8) {
        plan->kernel = &kernels[5][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, mul_i64(&overflow, 32, c->cluster)), 32),
                      1, 1},
            .cluster = {c->cluster, 1, 1},
        };
    } else {
        plan->kernel = &kernels[6][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {1024, 1, 1},
        };
    }
    CHECK(e, !overflow, "launch of add_rms_norm: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool add_rms_norm_cuda(error *e, add_rms_norm_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!add_rms_norm_prepare(e, f, scope->arch, scope->sm_count) ||
        !add_rms_norm_pointers(e, f) ||
        !add_rms_norm_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !add_rms_norm_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool add_rms_norm_execute(error *e, add_rms_norm_frame *f) {
    if (on_cuda(&f->t.x)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.x.device.index, &scope)) {
            return false;
        }
        const bool ok = add_rms_norm_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return add_rms_norm_cpu(e, f);
}

static bool add_rms_norm_run(error *e, add_rms_norm_frame *f, bool saved) {
    if (!add_rms_norm_check(e, f)) {
        return false;
    }
    if (!add_rms_norm_allocate(e, f, saved)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.x) ||
        !tensor_make_contiguous(e, &f->t.residual) ||
        !tensor_make_contiguous(e, &f->t.weight)) {
        return false;
    }
    if (add_rms_norm_nothing_to_do(f)) {
        return true;
    }
    return add_rms_norm_execute(e, f) &&
           output_return(e, &f->t.y, &f->o.y) &&
           output_return(e, &f->t.residual_out, &f->o.residual_out);
}

void add_rms_norm_direct(error *e, StableIValue *stack) {
    add_rms_norm_frame f = {0};
    error_begin(e, "my_ops::add_rms_norm");
    tensor_take(&f.t.x, stack[0]);
    tensor_take(&f.t.residual, stack[1]);
    if (take_optional(&stack[2])) {
        tensor_take(&f.t.weight, stack[2]);
    }
    f.call.eps = take_float(stack[3]);
    f.call.offset = take_float(stack[4]);
    add_rms_norm_run(e, &f, false);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.residual);
    tensor_release(e, &f.t.weight);
    tensor_give(e, &f.t.y, &stack[0]);
    tensor_give(e, &f.t.residual_out, &stack[1]);
}

void add_rms_norm_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    add_rms_norm_direct(&e, stack);
    error_raise(&e);
}

void add_rms_norm__saved_direct(error *e, StableIValue *stack) {
    add_rms_norm_frame f = {0};
    error_begin(e, "my_ops::add_rms_norm");
    tensor_take(&f.t.x, stack[0]);
    tensor_take(&f.t.residual, stack[1]);
    if (take_optional(&stack[2])) {
        tensor_take(&f.t.weight, stack[2]);
    }
    f.call.eps = take_float(stack[3]);
    f.call.offset = take_float(stack[4]);
    add_rms_norm_run(e, &f, true);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.residual);
    tensor_release(e, &f.t.weight);
    tensor_give(e, &f.t.y, &stack[0]);
    tensor_give(e, &f.t.residual_out, &stack[1]);
    tensor_give(e, &f.t.rstd, &stack[2]);
}

void add_rms_norm__saved_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    add_rms_norm__saved_direct(&e, stack);
    error_raise(&e);
}

void add_rms_norm__inplace_direct(error *e, StableIValue *stack) {
    add_rms_norm_frame f = {0};
    error_begin(e, "my_ops::add_rms_norm");
    tensor_take(&f.t.x, stack[0]);
    tensor_take(&f.t.residual, stack[1]);
    if (take_optional(&stack[2])) {
        tensor_take(&f.t.weight, stack[2]);
    }
    f.call.eps = take_float(stack[3]);
    f.call.offset = take_float(stack[4]);
    output_take_input(e, &f.o.y, &f.t.x, "x");
    output_take_input(e, &f.o.residual_out, &f.t.residual, "residual");
    if (!e->set) {
        add_rms_norm_run(e, &f, false);
    }
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.residual);
    tensor_release(e, &f.t.weight);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.o.y.tensor);
    tensor_release(e, &f.t.residual_out);
    tensor_release(e, &f.o.residual_out.tensor);
}

void add_rms_norm__inplace_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    add_rms_norm__inplace_direct(&e, stack);
    error_raise(&e);
}

void add_rms_norm__out_direct(error *e, StableIValue *stack) {
    add_rms_norm_frame f = {0};
    error_begin(e, "my_ops::add_rms_norm");
    tensor_take(&f.t.x, stack[0]);
    tensor_take(&f.t.residual, stack[1]);
    if (take_optional(&stack[2])) {
        tensor_take(&f.t.weight, stack[2]);
    }
    f.call.eps = take_float(stack[3]);
    f.call.offset = take_float(stack[4]);
    output_take(&f.o.y, stack[5], "y");
    output_take(&f.o.residual_out, stack[6], "residual_out");
    add_rms_norm_run(e, &f, false);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.residual);
    tensor_release(e, &f.t.weight);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.o.y.tensor);
    tensor_release(e, &f.t.residual_out);
    tensor_release(e, &f.o.residual_out.tensor);
}
