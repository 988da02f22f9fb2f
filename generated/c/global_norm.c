/* my_ops::global_norm(Tensor[] xs) -> Tensor
 *
 * The norm of all elements of a list of tensors together, the square root of the sum of their squares, as gradients are clipped by. Parts are summed and added in a fixed order.
 */
#include "global_norm_call.h"

#include "host.h"
#include "operators.h"

typedef struct global_norm_frame {
    struct {
        tensor norm;
        tensor partial;
        tensor_list xs;
    } t; /* tensors */
    struct {
        given_output norm;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    global_norm_call call;
} global_norm_frame;

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
static bool global_norm_check(error *e, global_norm_frame *f) {
    global_norm_call *const c = &f->call;
    bool overflow = false;
    if (!list_read(e, &f->t.xs, "xs")) {
        return false;
    }
    /* lists */
    CHECK(e, c->xs_count > 0, "xs: expected at least one tensor");
    /* dtypes */
    f->d.T = f->t.xs.at[0].dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "xs[0]: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.xs.at[0].dtype));
    for (int64_t i = 0; i < f->t.xs.count; i++) {
        CHECK(e, f->t.xs.at[i].dtype == f->d.T, "xs[%" PRId64 "]: expected dtype %s (as xs[0]), got %s", i,
              dtype_name(f->t.xs.at[0].dtype), dtype_name(f->t.xs.at[i].dtype));
    }
    /* devices */
    CHECK(e, device_is_cpu(&f->t.xs.at[0].device) || device_is_cuda(&f->t.xs.at[0].device),
          "xs[0]: expected device cpu or cuda, got %s", device_text(e, &f->t.xs.at[0]));
    for (int64_t i = 0; i < f->t.xs.count; i++) {
        CHECK(e, same_device(&f->t.xs.at[i], &f->t.xs.at[0]), "xs[%" PRId64 "]: expected device %s (as xs[0]), got %s", i,
              device_text(e, &f->t.xs.at[0]), device_text(e, &f->t.xs.at[i]));
    }
    /* shapes */
    for (int64_t i = 0; i < f->t.xs.count; i++) {
        c->s[i] = product_i64(&overflow, f->t.xs.at[i].sizes, f->t.xs.at[i].dim);
        CHECK(e, !overflow, "xs[%" PRId64 "]: the product of s does not fit 64-bit integers", i);
    }
    /* dims */
    c->total = list_numel(&overflow, &f->t.xs);
    CHECK(e, !overflow, "total = numel(xs) does not fit 64-bit integers");
    return true;
}

/* The outputs that are wanted. */
static bool global_norm_allocate(error *e, global_norm_frame *f) {
    shape s;
    if (given(&f->o.norm.tensor)) {
        s.dim = 0;
        if (!output_check(e, &f->o.norm, &s, dtype_acc(f->d.T), f->t.xs.at[0].device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!tensor_empty(e, &f->t.norm, "norm", &s, dtype_acc(f->d.T), f->t.xs.at[0].device)) {
            return false;
        }
    }
    if (given(&f->o.norm.tensor)) {
        const named_tensors all[] = {
            named_list("xs", &f->t.xs),
            named_output(&f->o.norm),
        };
        if (!outputs_keep_apart(e, all, 1, 2)) {
            return false;
        }
        if (!output_place(&f->t.norm, &f->o.norm)) {
            s.dim = 0;
            if (!tensor_empty(e, &f->t.norm, "norm", &s, dtype_acc(f->d.T), f->t.xs.at[0].device)) {
                return false;
            }
        }
    }
    return true;
}

static bool global_norm_nothing_to_do(const global_norm_frame *f) {
    return f->t.norm.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool global_norm_zero(error *e, const global_norm_frame *f) {
    return tensor_zero(e, &f->t.norm);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool global_norm_prepare(error *e, global_norm_frame *f, int64_t sm_count) {
    global_norm_call *const c = &f->call;
    shape s;
    bool overflow = false;
    c->parts = min_i64(ceil_div_i64(&overflow, c->total, 8192), mul_i64(&overflow, 16, sm_count));
    c->partial_size[0] = c->parts;
    CHECK(e, !overflow, "the sizes of launch and scratch: a number leaves 64 bits or is divided by zero");
    s.dim = 0;
    if (!shape_add(e, &s, c->partial_size, 1) ||
        !tensor_empty(e, &f->t.partial, "partial", &s, dtype_acc(f->d.T), f->t.xs.at[0].device)) {
        return false;
    }
    return true;
}

static bool global_norm_pointers(error *e, global_norm_frame *f) {
    return list_const_data(e, &f->t.xs) &&
           tensor_mutable_data(e, &f->t.norm, &f->call.norm) &&
           tensor_mutable_data(e, &f->t.partial, &f->call.partial);
}

CPU_DECLARE(global_norm_parts__float64)
CPU_DECLARE(global_norm_parts__float32)
CPU_DECLARE(global_norm_parts__float16)
CPU_DECLARE(global_norm_parts__bfloat16)
CPU_DECLARE(global_norm_total__float64)
CPU_DECLARE(global_norm_total__float32)
CPU_DECLARE(global_norm_total__float16)
CPU_DECLARE(global_norm_total__bfloat16)

static bool global_norm_cpu(error *e, global_norm_frame *f) {
    static const cpu_kernels global_norm_parts_kernels[4] = {
        CPU_KERNELS(global_norm_parts__float64),
        CPU_KERNELS(global_norm_parts__float32),
        CPU_KERNELS(global_norm_parts__float16),
        CPU_KERNELS(global_norm_parts__bfloat16),
    };
    static const cpu_kernels global_norm_total_kernels[4] = {
        CPU_KERNELS(global_norm_total__float64),
        CPU_KERNELS(global_norm_total__float32),
        CPU_KERNELS(global_norm_total__float16),
        CPU_KERNELS(global_norm_total__bfloat16),
    };
    cpu_plan plans[2] = {0};
    if (!global_norm_prepare(e, f, 32) ||
        !global_norm_pointers(e, f)) {
        return false;
    }
    const global_norm_call *const c = &f->call;
    const int64_t bytes = list_bytes(&f->t.xs) +
                          tensor_bytes(&f->t.norm) +
                          tensor_bytes(&f->t.partial);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&global_norm_parts_kernels[T_index], c->parts};
    plans[1] = (cpu_plan){&global_norm_total_kernels[T_index], 1};
    if (cpu_any_empty(plans, 2) && !global_norm_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 2, c, bytes);
}

extern const unsigned char global_norm_fatbin_0[];

static cuda_module modules[] = {
    {.image = global_norm_fatbin_0},
};

/* The first launch shape of the spec whose condition holds. */
static bool global_norm_parts_plan(error *e, const global_norm_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[1][4] = {
        {
            {.name = "global_norm_parts__float64__0", .module = &modules[0]},
            {.name = "global_norm_parts__float32__0", .module = &modules[0]},
            {.name = "global_norm_parts__float16__0", .module = &modules[0]},
            {.name = "global_norm_parts__bfloat16__0", .module = &modules[0]},
        },
    };
    (void)e;
    (void)scope;
    const global_norm_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    plan->kernel = &kernels[0][T_index];
    plan->launch = (cuda_launch){
        .grid = {c->parts, 1, 1},
        .block = {256, 1, 1},
    };
    return true;
}

/* The first launch shape of the spec whose condition holds. */
static bool global_norm_total_plan(error *e, const global_norm_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[1][4] = {
        {
            {.name = "global_norm_total__float64__0", .module = &modules[0]},
            {.name = "global_norm_total__float32__0", .module = &modules[0]},
            {.name = "global_norm_total__float16__0", .module = &modules[0]},
            {.name = "global_norm_total__bfloat16__0", .module = &modules[0]},
        },
    };
    (void)e;
    (void)scope;
    const int T_index = index_of_T(f->d.T);
    plan->kernel = &kernels[0][T_index];
    plan->launch = (cuda_launch){
        .grid = {1, 1, 1},
        .block = {256, 1, 1},
    };
    return true;
}

static bool global_norm_cuda(error *e, global_norm_frame *f, const cuda_scope *scope) {
    cuda_plan plans[2] = {0};
    if (!global_norm_prepare(e, f, scope->sm_count) ||
        !global_norm_pointers(e, f) ||
        !global_norm_parts_plan(e, f, scope, &plans[0]) ||
        !global_norm_total_plan(e, f, scope, &plans[1])) {
        return false;
    }
    if (cuda_any_empty(plans, 2) && !global_norm_zero(e, f)) {
        return false;
    }
    static cuda_kernel store = {.name = "global_norm__store_list", .module = &modules[0]};
    if (!list_to_device(e, scope, &store, f->t.xs.at[0].device, &f->t.xs)) {
        return false;
    }
    f->call.xs = f->t.xs.device_data;
    f->call.s = f->t.xs.device_numbers;
    return cuda_run(e, scope, plans, 2, &f->call);
}

/* On the device of the tensors. */
static bool global_norm_execute(error *e, global_norm_frame *f) {
    if (on_cuda(&f->t.xs.at[0])) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.xs.at[0].device.index, &scope)) {
            return false;
        }
        const bool ok = global_norm_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return global_norm_cpu(e, f);
}

static bool global_norm_run(error *e, global_norm_frame *f) {
    if (!global_norm_check(e, f)) {
        return false;
    }
    if (!global_norm_allocate(e, f)) {
        return false;
    }
    if (!list_arrange(e, &f->t.xs, LIST_CONTIGUOUS)) {
        return false;
    }
    if (global_norm_nothing_to_do(f)) {
        return true;
    }
    return global_norm_execute(e, f) &&
           output_return(e, &f->t.norm, &f->o.norm);
}

void global_norm_direct(error *e, StableIValue *stack) {
    global_norm_frame f = {0};
    error_begin(e, "my_ops::global_norm");
    list_take(e, stack[0], &f.t.xs, 1, 0);
    f.call.xs = f.t.xs.data;
    f.call.s = f.t.xs.numbers;
    f.call.xs_count = f.t.xs.count;
    if (!e->set) {
        global_norm_run(e, &f);
    }
    list_release_tensors(e, &f.t.xs);
    tensor_release(e, &f.t.partial);
    tensor_give(e, &f.t.norm, &stack[0]);
}

void global_norm_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    global_norm_direct(&e, stack);
    error_raise(&e);
}

void global_norm__out_direct(error *e, StableIValue *stack) {
    global_norm_frame f = {0};
    error_begin(e, "my_ops::global_norm");
    list_take(e, stack[0], &f.t.xs, 1, 0);
    f.call.xs = f.t.xs.data;
    f.call.s = f.t.xs.numbers;
    f.call.xs_count = f.t.xs.count;
    output_take(&f.o.norm, stack[1], "out");
    if (!e->set) {
        global_norm_run(e, &f);
    }
    list_release_tensors(e, &f.t.xs);
    tensor_release(e, &f.t.partial);
    tensor_release(e, &f.t.norm);
    tensor_release(e, &f.o.norm.tensor);
}
