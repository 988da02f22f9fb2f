/* my_ops::cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor
 *
 * Gradient of cross_entropy, out of the logits and the log-sum-exp of each row.
 */
#include "cross_entropy_backward_call.h"

#include "host.h"
#include "operators.h"

typedef struct cross_entropy_backward_frame {
    struct {
        tensor grad_loss;
        tensor logits;
        tensor target;
        tensor lse;
        tensor grad_logits;
    } t; /* tensors */
    struct {
        given_output grad_logits;
    } o; /* outputs that the caller gives */
    struct {
        tensor target;
    } h; /* copies on the host of what rules on elements look at on a GPU */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    cross_entropy_backward_call call;
} cross_entropy_backward_frame;

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
static bool cross_entropy_backward_check(error *e, cross_entropy_backward_frame *f) {
    cross_entropy_backward_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.grad_loss, "grad_loss") ||
        !tensor_read(e, &f->t.logits, "logits") ||
        !tensor_read(e, &f->t.target, "target") ||
        !tensor_read(e, &f->t.lse, "lse")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.logits.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "logits: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.logits.dtype));
    CHECK(e, f->t.target.dtype == DTYPE_INT64, "target: expected dtype int64, got %s", dtype_name(f->t.target.dtype));
    CHECK(e, f->t.lse.dtype == dtype_acc(f->d.T), "lse: expected dtype %s (accumulation dtype of logits), got %s",
          dtype_name(dtype_acc(f->t.logits.dtype)), dtype_name(f->t.lse.dtype));
    CHECK(e, f->t.grad_loss.dtype == dtype_acc(f->d.T),
          "grad_loss: expected dtype %s (accumulation dtype of logits), got %s",
          dtype_name(dtype_acc(f->t.logits.dtype)), dtype_name(f->t.grad_loss.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.logits, &f->t.grad_loss), "logits: expected device %s (as grad_loss), got %s",
          device_text(e, &f->t.grad_loss), device_text(e, &f->t.logits));
    CHECK(e, same_device(&f->t.target, &f->t.grad_loss), "target: expected device %s (as grad_loss), got %s",
          device_text(e, &f->t.grad_loss), device_text(e, &f->t.target));
    CHECK(e, same_device(&f->t.lse, &f->t.grad_loss), "lse: expected device %s (as grad_loss), got %s",
          device_text(e, &f->t.grad_loss), device_text(e, &f->t.lse));
    /* shapes */
    c->rows = product_i64(&overflow, f->t.grad_loss.sizes, f->t.grad_loss.dim);
    CHECK(e, !overflow, "grad_loss: the product of rows does not fit 64-bit integers");
    CHECK(e, f->t.logits.dim >= 1, "logits: expected at least 1 dimension, got %" PRId64, f->t.logits.dim);
    c->n = f->t.logits.sizes[f->t.logits.dim - 1];
    CHECK(e, same_sizes(f->t.logits.sizes, f->t.logits.dim - 1, f->t.grad_loss.sizes, f->t.grad_loss.dim),
          "logits: expected shape [*rows, n] with rows = %s (from grad_loss), got %s",
          sizes_text(e, f->t.grad_loss.sizes, f->t.grad_loss.dim), shape_text(e, &f->t.logits));
    CHECK(e, same_sizes(f->t.target.sizes, f->t.target.dim, f->t.grad_loss.sizes, f->t.grad_loss.dim),
          "target: expected shape [*rows] with rows = %s (from grad_loss), got %s",
          sizes_text(e, f->t.grad_loss.sizes, f->t.grad_loss.dim), shape_text(e, &f->t.target));
    CHECK(e, same_sizes(f->t.lse.sizes, f->t.lse.dim, f->t.grad_loss.sizes, f->t.grad_loss.dim),
          "lse: expected shape [*rows] with rows = %s (from grad_loss), got %s",
          sizes_text(e, f->t.grad_loss.sizes, f->t.grad_loss.dim), shape_text(e, &f->t.lse));
    /* checks */
    CHECK(e, 0.0 <= c->label_smoothing && c->label_smoothing <= 1.0,
          "expected 0 <= label_smoothing <= 1, got label_smoothing = %s", float_text(e, c->label_smoothing));
    /* dims */
    c->span = mod_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16) == 0
                  ? mul_i64(&overflow, c->n, dtype_size(f->d.T))
                  : add_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16);
    CHECK(e, !overflow,
          "span = n * sizeof(T) if n * sizeof(T) %% 16 == 0 else n * sizeof(T) + 16 does not fit 64-bit integers or divides by zero");
    c->threads = max_i64(32, min_i64(256, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 64), 32)));
    CHECK(e, !overflow,
          "threads = max(32, min(256, round_up(ceil_div(span, 64), 32))) does not fit 64-bit integers or divides by zero");
    c->chunks = ceil_div_i64(&overflow, c->span, mul_i64(&overflow, 64, c->threads));
    CHECK(e, !overflow, "chunks = ceil_div(span, 64 * threads) does not fit 64-bit integers or divides by zero");
    return true;
}

/* Rules on elements: of CPU tensors, and in checking mode of those of a GPU, for which that waits. */
static bool cross_entropy_backward_values(error *e, cross_entropy_backward_frame *f) {
    const cross_entropy_backward_call *const c = &f->call;
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
static bool cross_entropy_backward_allocate(error *e, cross_entropy_backward_frame *f) {
    const cross_entropy_backward_call *const c = &f->call;
    shape s;
    if (given(&f->o.grad_logits.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_loss.sizes, f->t.grad_loss.dim) ||
            !shape_add_dim(e, &s, c->n) ||
            !output_check(e, &f->o.grad_logits, &s, f->d.T, f->t.grad_loss.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_loss.sizes, f->t.grad_loss.dim) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.grad_logits, "grad_logits", &s, f->d.T, f->t.grad_loss.device)) {
            return false;
        }
    }
    if (given(&f->o.grad_logits.tensor)) {
        const named_tensors all[] = {
            named_tensor("grad_loss", &f->t.grad_loss),
            named_tensor("logits", &f->t.logits),
            named_tensor("target", &f->t.target),
            named_tensor("lse", &f->t.lse),
            named_output(&f->o.grad_logits),
        };
        if (!outputs_keep_apart(e, all, 4, 5)) {
            return false;
        }
        if (!output_place(&f->t.grad_logits, &f->o.grad_logits)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.grad_loss.sizes, f->t.grad_loss.dim) ||
                !shape_add_dim(e, &s, c->n) ||
                !tensor_empty(e, &f->t.grad_logits, "grad_logits", &s, f->d.T, f->t.grad_loss.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool cross_entropy_backward_nothing_to_do(const cross_entropy_backward_frame *f) {
    return f->t.grad_logits.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool cross_entropy_backward_zero(error *e, const cross_entropy_backward_frame *f) {
    return tensor_zero(e, &f->t.grad_logits);
}

static bool cross_entropy_backward_pointers(error *e, cross_entropy_backward_frame *f) {
    f->call.grad_loss_dim = f->t.grad_loss.dim;
    tensor_copy_sizes(&f->t.grad_loss, f->call.grad_loss_size);
    tensor_copy_strides(&f->t.grad_loss, f->call.grad_loss_stride);
    return tensor_const_data(e, &f->t.grad_loss, &f->call.grad_loss) &&
           tensor_const_data(e, &f->t.logits, &f->call.logits) &&
           tensor_const_data(e, &f->t.target, &f->call.target) &&
           tensor_const_data(e, &f->t.lse, &f->call.lse) &&
           tensor_mutable_data(e, &f->t.grad_logits, &f->call.grad_logits);
}

CPU_DECLARE(cross_entropy_backward__float64)
CPU_DECLARE(cross_entropy_backward__float32)
CPU_DECLARE(cross_entropy_backward__float16)
CPU_DECLARE(cross_entropy_backward__bfloat16)

static bool cross_entropy_backward_cpu(error *e, cross_entropy_backward_frame *f) {
    static const cpu_kernels cross_entropy_backward_kernels[4] = {
        CPU_KERNELS(cross_entropy_backward__float64),
        CPU_KERNELS(cross_entropy_backward__float32),
        CPU_KERNELS(cross_entropy_backward__float16),
        CPU_KERNELS(cross_entropy_backward__bfloat16),
    };
    cpu_plan plans[1] = {0};
    if (!cross_entropy_backward_pointers(e, f)) {
        return false;
    }
    const cross_entropy_backward_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.grad_loss) +
                          tensor_bytes(&f->t.logits) +
                          tensor_bytes(&f->t.target) +
                          tensor_bytes(&f->t.lse) +
                          tensor_bytes(&f->t.grad_logits);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&cross_entropy_backward_kernels[T_index], c->rows};
    if (cpu_any_empty(plans, 1) && !cross_entropy_backward_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char cross_entropy_backward_fatbin_0[];

static cuda_module modules[] = {
    {.image = cross_entropy_backward_fatbin_0},
};

/* The first launch shape of the spec whose condition holds. */
static bool cross_entropy_backward_plan(error *e, const cross_entropy_backward_frame *f, const cuda_scope *scope,
                                        cuda_plan *plan) {
    static cuda_kernel kernels[4][4] = {
        {
            {.name = "cross_entropy_backward__float64__0", .module = &modules[0]},
            {.name = "cross_entropy_backward__float32__0", .module = &modules[0]},
            {.name = "cross_entropy_backward__float16__0", .module = &modules[0]},
            {.name = "cross_entropy_backward__bfloat16__0", .module = &modules[0]},
        },
        {
            {.name = "cross_entropy_backward__float64__1", .module = &modules[0]},
            {.name = "cross_entropy_backward__float32__1", .module = &modules[0]},
            {.name = "cross_entropy_backward__float16__1", .module = &modules[0]},
            {.name = "cross_entropy_backward__bfloat16__1", .module = &modules[0]},
        },
        {
            {.name = "cross_entropy_backward__float64__2", .module = &modules[0]},
            {.name = "cross_entropy_backward__float32__2", .module = &modules[0]},
            {.name = "cross_entropy_backward__float16__2", .module = &modules[0]},
            {.name = "cross_entropy_backward__bfloat16__2", .module = &modules[0]},
        },
        {
            {.name = "cross_entropy_backward__float64__3", .module = &modules[0]},
            {.name = "cross_entropy_backward__float32__3", .module = &modules[0]},
            {.name = "cross_entropy_backward__float16__3", .module = &modules[0]},
            {.name = "cross_entropy_backward__bfloat16__3", .module = &modules[0]},
        },
    };
    (void)scope;
    const cross_entropy_backward_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    if (c->span >= 1024 && mod_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16) == 0 &&
        (aligned_to(c->logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
        (aligned_to(c->grad_logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[0][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->chunks), 1, 1},
            .block = {c->threads, 1, 1},
        };
    } else if (c->span >= 1024) {
        plan->kernel = &kernels[1][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->chunks), 1, 1},
            .block = {c->threads, 1, 1},
        };
    } else if (mod_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16) == 0 &&
               (aligned_to(c->logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
               (aligned_to(c->grad_logits, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[2][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, mul_i64(&overflow, mul_i64(&overflow, c->rows, c->n), dtype_size(f->d.T)),
                                  mul_i64(&overflow, 256, 64)),
                     1, 1},
            .block = {256, 1, 1},
        };
    } else {
        plan->kernel = &kernels[3][T_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow,
                                  add_i64(&overflow,
                                          mul_i64(&overflow, mul_i64(&overflow, c->rows, c->n), dtype_size(f->d.T)),
                                          16),
                                  mul_i64(&overflow, 256, 64)),
                     1, 1},
            .block = {256, 1, 1},
        };
    }
    CHECK(e, !overflow, "launch of cross_entropy_backward: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool cross_entropy_backward_cuda(error *e, cross_entropy_backward_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!cross_entropy_backward_pointers(e, f) ||
        !cross_entropy_backward_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !cross_entropy_backward_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool cross_entropy_backward_execute(error *e, cross_entropy_backward_frame *f) {
    if (on_cuda(&f->t.grad_loss)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.grad_loss.device.index, &scope)) {
            return false;
        }
        const bool ok = cross_entropy_backward_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return cross_entropy_backward_cpu(e, f);
}

static bool cross_entropy_backward_run(error *e, cross_entropy_backward_frame *f) {
    if (!cross_entropy_backward_check(e, f)) {
        return false;
    }
    if (!cross_entropy_backward_values(e, f)) {
        return false;
    }
    if (!cross_entropy_backward_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.logits) ||
        !tensor_make_contiguous(e, &f->t.target) ||
        !tensor_make_contiguous(e, &f->t.lse)) {
        return false;
    }
    if (cross_entropy_backward_nothing_to_do(f)) {
        return true;
    }
    return cross_entropy_backward_execute(e, f) &&
           output_return(e, &f->t.grad_logits, &f->o.grad_logits);
}

void cross_entropy_backward_direct(error *e, StableIValue *stack) {
    cross_entropy_backward_frame f = {0};
    error_begin(e, "my_ops::cross_entropy_backward");
    tensor_take(&f.t.grad_loss, stack[0]);
    tensor_take(&f.t.logits, stack[1]);
    tensor_take(&f.t.target, stack[2]);
    tensor_take(&f.t.lse, stack[3]);
    f.call.ignore_index = take_int(stack[4]);
    f.call.label_smoothing = take_float(stack[5]);
    f.call.z_loss = take_float(stack[6]);
    cross_entropy_backward_run(e, &f);
    tensor_release(e, &f.t.grad_loss);
    tensor_release(e, &f.t.logits);
    tensor_release(e, &f.t.target);
    tensor_release(e, &f.t.lse);
    tensor_release(e, &f.h.target);
    tensor_give(e, &f.t.grad_logits, &stack[0]);
}

void cross_entropy_backward_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    cross_entropy_backward_direct(&e, stack);
    error_raise(&e);
}

void cross_entropy_backward__out_direct(error *e, StableIValue *stack) {
    cross_entropy_backward_frame f = {0};
    error_begin(e, "my_ops::cross_entropy_backward");
    tensor_take(&f.t.grad_loss, stack[0]);
    tensor_take(&f.t.logits, stack[1]);
    tensor_take(&f.t.target, stack[2]);
    tensor_take(&f.t.lse, stack[3]);
    f.call.ignore_index = take_int(stack[4]);
    f.call.label_smoothing = take_float(stack[5]);
    f.call.z_loss = take_float(stack[6]);
    output_take(&f.o.grad_logits, stack[7], "out");
    cross_entropy_backward_run(e, &f);
    tensor_release(e, &f.t.grad_loss);
    tensor_release(e, &f.t.logits);
    tensor_release(e, &f.t.target);
    tensor_release(e, &f.t.lse);
    tensor_release(e, &f.h.target);
    tensor_release(e, &f.t.grad_logits);
    tensor_release(e, &f.o.grad_logits.tensor);
}
