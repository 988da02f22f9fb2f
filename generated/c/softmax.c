/* my_ops::softmax(Tensor x, Tensor? bias=None, float scale=1.0, bool causal=False) -> Tensor
 *
 * Softmax of scale * x + bias over the last dimension. With `causal`, column j of row i of an m x n matrix is left out where j > i + n - m. Rows in which nothing is left, or everything is -infinity, are zeros.
 */
#include "softmax_call.h"

#include "host.h"
#include "operators.h"

typedef struct softmax_frame {
    struct {
        tensor x;
        tensor bias;
        tensor y;
    } t; /* tensors */
    struct {
        view bias;
    } v; /* sizes and strides of inputs that are broadcast */
    struct {
        given_output y;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    softmax_call call;
} softmax_frame;

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
static bool softmax_check(error *e, softmax_frame *f) {
    softmax_call *const c = &f->call;
    bool overflow = false;
    shape s;
    if (!tensor_read(e, &f->t.x, "x") ||
        !tensor_read(e, &f->t.bias, "bias")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.x.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "x: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.x.dtype));
    if (given(&f->t.bias)) {
        CHECK(e, f->t.bias.dtype == f->d.T, "bias: expected dtype %s (as x), got %s", dtype_name(f->t.x.dtype),
              dtype_name(f->t.bias.dtype));
    }
    /* devices */
    if (given(&f->t.bias)) {
        CHECK(e, same_device(&f->t.bias, &f->t.x), "bias: expected device %s (as x), got %s", device_text(e, &f->t.x),
              device_text(e, &f->t.bias));
    }
    /* shapes */
    CHECK(e, f->t.x.dim >= 2, "x: expected at least 2 dimensions, got %" PRId64, f->t.x.dim);
    c->batch = product_i64(&overflow, f->t.x.sizes, f->t.x.dim - 2);
    CHECK(e, !overflow, "x: the product of batch does not fit 64-bit integers");
    c->m = f->t.x.sizes[f->t.x.dim - 2];
    c->n = f->t.x.sizes[f->t.x.dim - 1];
    if (given(&f->t.bias)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 2) ||
            !shape_add_dim(e, &s, c->m) ||
            !shape_add_dim(e, &s, c->n)) {
            return false;
        }
        CHECK(e, tensor_expand(&f->t.bias, &s, &f->v.bias),
              "bias: expected shape [*batch, m, n] with batch = %s (from x), m = %" PRId64 " (from x), n = %" PRId64 " (from x), got %s, which does not broadcast to it",
              sizes_text(e, f->t.x.sizes, f->t.x.dim - 2), c->m, c->n, shape_text(e, &f->t.bias));
    }
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
static bool softmax_allocate(error *e, softmax_frame *f) {
    const softmax_call *const c = &f->call;
    shape s;
    if (given(&f->o.y.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 2) ||
            !shape_add_dim(e, &s, c->m) ||
            !shape_add_dim(e, &s, c->n) ||
            !output_check(e, &f->o.y, &s, f->d.T, f->t.x.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 2) ||
            !shape_add_dim(e, &s, c->m) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.y, "y", &s, f->d.T, f->t.x.device)) {
            return false;
        }
    }
    if (given(&f->o.y.tensor)) {
        const named_tensors all[] = {
            named_tensor("x", &f->t.x),
            named_tensor("bias", &f->t.bias),
            named_output(&f->o.y),
        };
        if (!outputs_keep_apart(e, all, 2, 3)) {
            return false;
        }
        if (!output_place(&f->t.y, &f->o.y)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 2) ||
                !shape_add_dim(e, &s, c->m) ||
                !shape_add_dim(e, &s, c->n) ||
                !tensor_empty(e, &f->t.y, "y", &s, f->d.T, f->t.x.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool softmax_nothing_to_do(const softmax_frame *f) {
    return f->t.y.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool softmax_zero(error *e, const softmax_frame *f) {
    return tensor_zero(e, &f->t.y);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool softmax_prepare(error *e, softmax_frame *f, int64_t arch, int64_t sm_count) {
    softmax_call *const c = &f->call;
    bool overflow = false;
    c->short_block = max_i64(32,
                             min_i64(256,
                                     next_pow2_i64(&overflow,
                                                   ceil_div_i64(&overflow, mul_i64(&overflow, c->rows, c->lanes),
                                                                sm_count))));
    c->cluster = arch < 90 || c->span <= 32768
                     ? 1
                     : min_i64(8, next_pow2_i64(&overflow, ceil_div_i64(&overflow, c->span, 32768)));
    c->spread = round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, mul_i64(&overflow, 128, c->cluster)), 32);
    CHECK(e, !overflow, "the sizes of launch and scratch: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool softmax_pointers(error *e, softmax_frame *f) {
    f->call.bias_dim = f->t.bias.dim;
    tensor_copy_sizes(&f->t.bias, f->call.bias_size);
    tensor_copy_strides(&f->t.bias, f->call.bias_stride);
    return tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_const_data(e, &f->t.bias, &f->call.bias) &&
           tensor_mutable_data(e, &f->t.y, &f->call.y);
}

CPU_DECLARE(softmax__float64)
CPU_DECLARE(softmax__float32)
CPU_DECLARE(softmax__float16)
CPU_DECLARE(softmax__bfloat16)

static bool softmax_cpu(error *e, softmax_frame *f) {
    static const cpu_kernels softmax_kernels[4] = {
        CPU_KERNELS(softmax__float64),
        CPU_KERNELS(softmax__float32),
        CPU_KERNELS(softmax__float16),
        CPU_KERNELS(softmax__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!softmax_prepare(e, f, 0, 32) ||
        !softmax_pointers(e, f)) {
        return false;
    }
    const softmax_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.bias) +
                          tensor_bytes(&f->t.y);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&softmax_kernels[T_index], c->rows};
    if (cpu_any_empty(plans, 1) && !softmax_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char softmax_fatbin_0[];
extern const unsigned char softmax_fatbin_1[];

static cuda_module modules[] = {
    {.image = softmax_fatbin_0},
    {.image = softmax_fatbin_1},
};

/* The first launch shape of the spec whose condition holds. */
static bool softmax_plan(error *e, const softmax_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[9][4] = {
        {
            {0},
            {.name = "softmax__float32__0", .module = &modules[0]},
            {.name = "softmax__float16__0", .module = &modules[1]},
            {.name = "softmax__bfloat16__0", .module = &modules[0]},
        },
        {
            {0},
            {.name = "softmax__float32__1", .module = &modules[0]},
            {.name = "softmax__float16__1", .module = &modules[1]},
            {.name = "softmax__bfloat16__1", .module = &modules[0]},
        },
        {
            {0},
            {.name = "softmax__float32__2", .module = &modules[0]},
            {.name = "softmax__float16__2", .module = &modules[1]},
            {.name = "softmax__bfloat16__2", .module = &modules[0]},
        },
        {
            {0},
            {.name = "softmax__float32__3", .module = &modules[0]},
            {.name = "softmax__float16__3", .module = &modules[1]},
            {.name = "softmax__bfloat16__3", .module = &modules[0]},
        },
        {
            {0},
            {.name = "softmax__float32__4", .module = &modules[0]},
            {.name = "softmax__float16__4", .module = &modules[1]},
            {.name = "softmax__bfloat16__4", .module = &modules[0]},
        },
        {
            {.name = "softmax__float64__5", .module = &modules[1]},
            {.name = "softmax__float32__5", .module = &modules[0]},
            {.name = "softmax__float16__5", .module = &modules[1]},
            {.name = "softmax__bfloat16__5", .module = &modules[0]},
        },
        {
            {.name = "softmax__float64__6", .module = &modules[1]},
            {.name = "softmax__float32__6", .module = &modules[0]},
            {.name = "softmax__float16__6", .module = &modules[1]},
            {.name = "softmax__bfloat16__6", .module = &modules[0]},
        },
        {
            {.name = "softmax__float64__7", .module = &modules[1]},
            {.name = "softmax__float32__7", .module = &modules[0]},
            {.name = "softmax__float16__7", .module = &modules[1]},
            {.name = "softmax__bfloat16__7", .module = &modules[0]},
        },
        {
            {.name = "softmax__float64__8", .module = &modules[1]},
            {.name = "softmax__float32__8", .module = &modules[0]},
            {.name = "softmax__float16__8", .module = &modules[1]},
            {.name = "softmax__bfloat16__8", .module = &modules[0]},
        },
    };
    const softmax_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    if (dtype_size(f->d.T) <= 4 && c->span <= 16384 &&
        mul_i64(&overflow, c->rows, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)) <=
        mul_i64(&overflow, 2048, scope->sm_count) &&
        (c->span > 1024 || c->rows <= mul_i64(&overflow, 2, scope->sm_count)) &&
        (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->bias, 16) &&
         strides_aligned(&f->t.bias, 16) && aligned_to(c->y, 16))) {
        plan->kernel = &kernels[0][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32), 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 1024 &&
               mul_i64(&overflow, c->rows, c->lanes) <= mul_i64(&overflow, 2048, scope->sm_count) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->bias, 16) &&
                strides_aligned(&f->t.bias, 16) && aligned_to(c->y, 16))) {
        plan->kernel = &kernels[1][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, c->short_block, c->lanes)), 1, 1},
            .block = {c->short_block, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 1024 &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->bias, 16) &&
                strides_aligned(&f->t.bias, 16) && aligned_to(c->y, 16))) {
        plan->kernel = &kernels[2][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, floordiv_i64(&overflow, 256, c->lanes), 2)), 1,
                     1},
            .block = {256, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 10240 &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->bias, 16) &&
                strides_aligned(&f->t.bias, 16) && aligned_to(c->y, 16))) {
        plan->kernel = &kernels[3][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {min_i64(1024, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 64), 32)), 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->spread <= 1024 &&
               mul_i64(&overflow, 128, c->spread) <= sub_i64(&overflow, scope->max_shared, 8192) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->bias, 16) &&
                strides_aligned(&f->t.bias, 16) && aligned_to(c->y, 16))) {
        plan->kernel = &kernels[4][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {c->spread, 1, 1},
            .shared = mul_i64(&overflow, 128, c->spread),
            .cluster = {c->cluster, 1, 1},
        };
    } else if (mul_i64(&overflow, c->n, dtype_size(f->d.T)) >= 16 && c->n <= 512 &&
               c->rows >= mul_i64(&overflow, 64, scope->sm_count) && !c->causal && !given(&f->t.bias)) {
        plan->kernel = &kernels[5][T_index];
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
        plan->kernel = &kernels[6][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, 256, c->stage_lanes)), 1, 1},
            .block = {256, 1, 1},
        };
    } else if (c->span <= mul_i64(&overflow, 65536, c->cluster)) {
        plan->kernel = &kernels[7][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, mul_i64(&overflow, 64, c->cluster)), 32),
                      1, 1},
            .cluster = {c->cluster, 1, 1},
        };
    } else {
        plan->kernel = &kernels[8][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {1024, 1, 1},
        };
    }
    CHECK(e, !overflow, "launch of softmax: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool softmax_cuda(error *e, softmax_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!softmax_prepare(e, f, scope->arch, scope->sm_count) ||
        !softmax_pointers(e, f) ||
        !softmax_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !softmax_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool softmax_execute(error *e, softmax_frame *f) {
    if (on_cuda(&f->t.x)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.x.device.index, &scope)) {
            return false;
        }
        const bool ok = softmax_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return softmax_cpu(e, f);
}

static bool softmax_run(error *e, softmax_frame *f) {
    if (!softmax_check(e, f)) {
        return false;
    }
    if (!softmax_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.x) ||
        !tensor_make_inner_contiguous(e, &f->t.bias, 1)) {
        return false;
    }
    if (softmax_nothing_to_do(f)) {
        return true;
    }
    return softmax_execute(e, f) &&
           output_return(e, &f->t.y, &f->o.y);
}

void softmax_direct(error *e, StableIValue *stack) {
    softmax_frame f = {0};
    error_begin(e, "my_ops::softmax");
    tensor_take(&f.t.x, stack[0]);
    if (take_optional(&stack[1])) {
        tensor_take(&f.t.bias, stack[1]);
    }
    f.call.scale = take_float(stack[2]);
    f.call.causal = take_bool(stack[3]);
    softmax_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.bias);
    tensor_give(e, &f.t.y, &stack[0]);
}

void softmax_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    softmax_direct(&e, stack);
    error_raise(&e);
}

void softmax__out_direct(error *e, StableIValue *stack) {
    softmax_frame f = {0};
    error_begin(e, "my_ops::softmax");
    tensor_take(&f.t.x, stack[0]);
    if (take_optional(&stack[1])) {
        tensor_take(&f.t.bias, stack[1]);
    }
    f.call.scale = take_float(stack[2]);
    f.call.causal = take_bool(stack[3]);
    output_take(&f.o.y, stack[4], "out");
    softmax_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.bias);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.o.y.tensor);
}
