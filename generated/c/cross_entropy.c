/* my_ops::cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor
 *
 * Cross entropy of the softmax of each row of logits against its target, one loss for each row, plus z_loss times the square of the row's log-sum-exp. Rows whose target is ignore_index have loss and gradient 0. On a GPU a target that is out of range makes both of its row NaN.
 */
#include "cross_entropy_call.h"

#include "host.h"
#include "operators.h"

typedef struct cross_entropy_frame {
    struct {
        tensor logits;
        tensor target;
        tensor loss;
        tensor lse;
    } t; /* tensors */
    struct {
        given_output loss;
    } o; /* outputs that the caller gives */
    struct {
        tensor target;
    } h; /* copies on the host of what rules on elements look at on a GPU */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    cross_entropy_call call;
} cross_entropy_frame;

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
static bool cross_entropy_check(error *e, cross_entropy_frame *f) {
    cross_entropy_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.logits, "logits") ||
        !tensor_read(e, &f->t.target, "target")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.logits.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "logits: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.logits.dtype));
    CHECK(e, f->t.target.dtype == DTYPE_INT64, "target: expected dtype int64, got %s", dtype_name(f->t.target.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.target, &f->t.logits), "target: expected device %s (as logits), got %s",
          device_text(e, &f->t.logits), device_text(e, &f->t.target));
    /* shapes */
    CHECK(e, f->t.logits.dim >= 1, "logits: expected at least 1 dimension, got %" PRId64, f->t.logits.dim);
    c->rows = product_i64(&overflow, f->t.logits.sizes, f->t.logits.dim - 1);
    CHECK(e, !overflow, "logits: the product of rows does not fit 64-bit integers");
    c->n = f->t.logits.sizes[f->t.logits.dim - 1];
    CHECK(e, same_sizes(f->t.target.sizes, f->t.target.dim, f->t.logits.sizes, f->t.logits.dim - 1),
          "target: expected shape [*rows] with rows = %s (from logits), got %s",
          sizes_text(e, f->t.logits.sizes, f->t.logits.dim - 1), shape_text(e, &f->t.target));
    /* checks */
    CHECK(e, 0.0 <= c->label_smoothing && c->label_smoothing <= 1.0,
          "expected 0 <= label_smoothing <= 1, got label_smoothing = %s", float_text(e, c->label_smoothing));
    /* dims */
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
    c->runs = ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, 4, c->slab_rows));
    CHECK(e, !overflow, "runs = ceil_div(rows, 4 * slab_rows) does not fit 64-bit integers or divides by zero");
    return true;
}

/* Rules on elements: of CPU tensors, and in checking mode of those of a GPU, for which that waits. */
static bool cross_entropy_values(error *e, cross_entropy_frame *f) {
    const cross_entropy_call *const c = &f->call;
    /* 0 <= target < n or target == ignore_index */
    if (values_visible(&f->t.target)) {
        const tensor *const seen = values_seen(e, "target", &f->t.target, &f->h.target);
        const void *data;
        if (seen == NULL || !tensor_const_data(e, seen, &data)) {
            return false;
        }
        integer_range range = integer_range_all();
        integer_range_limit(&range, AT_LEAST, 0);
        integer_range_limit(&range, BELOW, c->n);
        integer_range_add(&range, c->ignore_index);
        const int64_t i = integers_outside(seen, data, ALL_COLUMNS, &range);
        CHECK(e, i < 0,
              "target: expected 0 <= target < n or target == ignore_index with n = %" PRId64 ", ignore_index = %" PRId64 ", got target%s = %s",
              c->n, c->ignore_index, index_text(e, &f->t.target, i), element_text(e, seen, data, i));
    }
    return true;
}

/* The outputs that are wanted. */
static bool cross_entropy_allocate(error *e, cross_entropy_frame *f, bool saved) {
    shape s;
    if (given(&f->o.loss.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.logits.sizes, f->t.logits.dim - 1) ||
            !output_check(e, &f->o.loss, &s, dtype_acc(f->d.T), f->t.logits.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.logits.sizes, f->t.logits.dim - 1) ||
            !tensor_empty(e, &f->t.loss, "loss", &s, dtype_acc(f->d.T), f->t.logits.device)) {
            return false;
        }
    }
    if (saved) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.logits.sizes, f->t.logits.dim - 1) ||
            !tensor_empty(e, &f->t.lse, "lse", &s, dtype_acc(f->d.T), f->t.logits.device)) {
            return false;
        }
    }
    if (given(&f->o.loss.tensor)) {
        const named_tensors all[] = {
            named_tensor("logits", &f->t.logits),
            named_tensor("target", &f->t.target),
            named_output(&f->o.loss),
        };
        if (!outputs_keep_apart(e, all, 2, 3)) {
            return false;
        }
        if (!output_place(&f->t.loss, &f->o.loss)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.logits.sizes, f->t.logits.dim - 1) ||
                !tensor_empty(e, &f->t.loss, "loss", &s, dtype_acc(f->d.T), f->t.logits.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool cross_entropy_nothing_to_do(const cross_entropy_frame *f) {
    return f->t.loss.numel == 0 && f->t.lse.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool cross_entropy_zero(error *e, const cross_entropy_frame *f) {
    return tensor_zero(e, &f->t.loss) &&
           tensor_zero(e, &f->t.lse);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool cross_entropy_prepare(error *e, cross_entropy_frame *f, int64_t arch, int64_t sm_count) {
    cross_entropy_call *const c = &f->call;
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

static bool cross_entropy_pointers(error *e, cross_entropy_frame *f) {
    return tensor_const_data(e, &f->t.logits, &f->call.logits) &&
           tensor_const_data(e, &f->t.target, &f->call.target) &&
           tensor_mutable_data(e, &f->t.loss, &f->call.loss) &&
           tensor_mutable_data(e, &f->t.lse, &f->call.lse);
}

CPU_DECLARE(cross_entropy__float64)
CPU_DECLARE(cross_entropy__float32)
CPU_DECLARE(cross_entropy__float16)
CPU_DECLARE(cross_entropy__bfloat16)

static bool cross_entropy_cpu(error *e, cross_entropy_frame *f) {
    static const cpu_kernels cross_entropy_kernels[4] = {
        CPU_KERNELS(cross_entropy__float64),
        CPU_KERNELS(cross_entropy__float32),
        CPU_KERNELS(cross_entropy__float16),
        CPU_KERNELS(cross_entropy__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!cross_entropy_prepare(e, f, 0, 32) ||
        !cross_entropy_pointers(e, f)) {
        return false;
    }
    const cross_entropy_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.logits) +
                          tensor_bytes(&f->t.target) +
                          tensor_bytes(&f->t.loss) +
                          tensor_bytes(&f->t.lse);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&cross_entropy_kernels[T_index], c->rows};
    if (cpu_any_empty(plans, 1) && !cross_entropy_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char cross_entropy_fatbin_0[];
extern const unsigned char cross_entropy_fatbin_1[];

static cuda_module modules[] = {
    {.image = cross_entropy_fatbin_0},
    {.image = cross_entropy_fatbin_1},
};

/* The first launch shape of the spec whose condition holds. */
static bool cross_entropy_plan(error *e, const cross_entropy_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[9][4] = {
        {
            {0},
            {.name = "cross_entropy__float32__0", .module = &modules[0]},
            {.name = "cross_entropy__float16__0", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__0", .module = &modules[0]},
        },
        {
            {0},
            {.name = "cross_entropy__float32__1", .module = &modules[0]},
            {.name = "cross_entropy__float16__1", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__1", .module = &modules[0]},
        },
        {
            {0},
            {.name = "cross_entropy__float32__2", .module = &modules[0]},
            {.name = "cross_entropy__float16__2", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__2", .module = &modules[0]},
        },
        {
            {0},
            {.name = "cross_entropy__float32__3", .module = &modules[0]},
            {.name = "cross_entropy__float16__3", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__3", .module = &modules[0]},
        },
        {
            {0},
            {.name = "cross_entropy__float32__4", .module = &modules[0]},
            {.name = "cross_entropy__float16__4", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__4", .module = &modules[0]},
        },
        {
            {.name = "cross_entropy__float64__5", .module = &modules[1]},
            {.name = "cross_entropy__float32__5", .module = &modules[0]},
            {.name = "cross_entropy__float16__5", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__5", .module = &modules[0]},
        },
        {
            {.name = "cross_entropy__float64__6", .module = &modules[1]},
            {.name = "cross_entropy__float32__6", .module = &modules[0]},
            {.name = "cross_entropy__float16__6", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__6", .module = &modules[0]},
        },
        {
            {.name = "cross_entropy__float64__7", .module = &modules[1]},
            {.name = "cross_entropy__float32__7", .module = &modules[0]},
            {.name = "cross_entropy__float16__7", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__7", .module = &modules[0]},
        },
        {
            {.name = "cross_entropy__float64__8", .module = &modules[1]},
            {.name = "cross_entropy__float32__8", .module = &modules[0]},
            {.name = "cross_entropy__float16__8", .module = &modules[1]},
            {.name = "cross_entropy__bfloat16__8", .module = &modules[0]},
        },
    };
    const cross_entropy_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    if (dtype_size(f->d.T) <= 4 && c->span <= 16384 &&
        mul_i64(&overflow, c->rows, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)) <=
        mul_i64(&overflow, 2048, scope->sm_count) &&
        (c->span > 1024 || c->rows <= mul_i64(&overflow, 2, scope->sm_count)) &&
        (aligned_to(c->logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[0][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32), 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 1024 &&
               mul_i64(&overflow, c->rows, c->lanes) <= mul_i64(&overflow, 2048, scope->sm_count) &&
               (aligned_to(c->logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[1][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, c->short_block, c->lanes)), 1, 1},
            .block = {c->short_block, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 1024 &&
               (aligned_to(c->logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[2][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, floordiv_i64(&overflow, 256, c->lanes), 2)), 1,
                     1},
            .block = {256, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->span <= 2048 &&
               (aligned_to(c->logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[3][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {min_i64(1024, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 64), 32)), 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->spread <= 1024 &&
               mul_i64(&overflow, 128, c->spread) <= sub_i64(&overflow, scope->max_shared, 8192) &&
               (aligned_to(c->logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[4][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {c->spread, 1, 1},
            .shared = mul_i64(&overflow, 128, c->spread),
            .cluster = {c->cluster, 1, 1},
        };
    } else if (mul_i64(&overflow, c->n, dtype_size(f->d.T)) >= 16 && c->n <= 512 &&
               c->rows >= mul_i64(&overflow, 64, scope->sm_count) && c->label_smoothing == 0.0) {
        plan->kernel = &kernels[5][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->runs,
                                  max_i64(1,
                                          min_i64(4,
                                                  floordiv_i64(&overflow, c->runs,
                                                               mul_i64(&overflow, 16, scope->sm_count))))),
                     1, 1},
            .block = {min_i64(512, round_up_i64(&overflow, c->slab, 32)), 1, 1},
            .shared = mul_i64(&overflow, mul_i64(&overflow, 8, max_i64(4, dtype_size(f->d.T))),
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
    CHECK(e, !overflow, "launch of cross_entropy: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool cross_entropy_cuda(error *e, cross_entropy_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!cross_entropy_prepare(e, f, scope->arch, scope->sm_count) ||
        !cross_entropy_pointers(e, f) ||
        !cross_entropy_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !cross_entropy_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool cross_entropy_execute(error *e, cross_entropy_frame *f) {
    if (on_cuda(&f->t.logits)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.logits.device.index, &scope)) {
            return false;
        }
        const bool ok = cross_entropy_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return cross_entropy_cpu(e, f);
}

static bool cross_entropy_run(error *e, cross_entropy_frame *f, bool saved) {
    if (!cross_entropy_check(e, f)) {
        return false;
    }
    if (!cross_entropy_values(e, f)) {
        return false;
    }
    if (!cross_entropy_allocate(e, f, saved)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.logits) ||
        !tensor_make_contiguous(e, &f->t.target)) {
        return false;
    }
    if (cross_entropy_nothing_to_do(f)) {
        return true;
    }
    return cross_entropy_execute(e, f) &&
           output_return(e, &f->t.loss, &f->o.loss);
}

void cross_entropy_direct(error *e, StableIValue *stack) {
    cross_entropy_frame f = {0};
    error_begin(e, "my_ops::cross_entropy");
    tensor_take(&f.t.logits, stack[0]);
    tensor_take(&f.t.target, stack[1]);
    f.call.ignore_index = take_int(stack[2]);
    f.call.label_smoothing = take_float(stack[3]);
    f.call.z_loss = take_float(stack[4]);
    cross_entropy_run(e, &f, false);
    tensor_release(e, &f.t.logits);
    tensor_release(e, &f.t.target);
    tensor_release(e, &f.h.target);
    tensor_give(e, &f.t.loss, &stack[0]);
}

void cross_entropy_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    cross_entropy_direct(&e, stack);
    error_raise(&e);
}

void cross_entropy__saved_direct(error *e, StableIValue *stack) {
    cross_entropy_frame f = {0};
    error_begin(e, "my_ops::cross_entropy");
    tensor_take(&f.t.logits, stack[0]);
    tensor_take(&f.t.target, stack[1]);
    f.call.ignore_index = take_int(stack[2]);
    f.call.label_smoothing = take_float(stack[3]);
    f.call.z_loss = take_float(stack[4]);
    cross_entropy_run(e, &f, true);
    tensor_release(e, &f.t.logits);
    tensor_release(e, &f.t.target);
    tensor_release(e, &f.h.target);
    tensor_give(e, &f.t.loss, &stack[0]);
    tensor_give(e, &f.t.lse, &stack[1]);
}

void cross_entropy__saved_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    cross_entropy__saved_direct(&e, stack);
    error_raise(&e);
}

void cross_entropy__out_direct(error *e, StableIValue *stack) {
    cross_entropy_frame f = {0};
    error_begin(e, "my_ops::cross_entropy");
    tensor_take(&f.t.logits, stack[0]);
    tensor_take(&f.t.target, stack[1]);
    f.call.ignore_index = take_int(stack[2]);
    f.call.label_smoothing = take_float(stack[3]);
    f.call.z_loss = take_float(stack[4]);
    output_take(&f.o.loss, stack[5], "out");
    cross_entropy_run(e, &f, false);
    tensor_release(e, &f.t.logits);
    tensor_release(e, &f.t.target);
    tensor_release(e, &f.h.target);
    tensor_release(e, &f.t.loss);
    tensor_release(e, &f.o.loss.tensor);
}
