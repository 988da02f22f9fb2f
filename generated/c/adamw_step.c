/* my_ops::adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, SymInt step, Tensor? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float weight_decay=0.01, bool maximize=False) -> ()
 *
 * One step of AdamW, with decoupled weight decay, for all parameters at once and in place: what torch.optim.AdamW does, step being 1 at the first one. exp_avgs and exp_avg_sqs, which begin as zeros, are of the dtype of the parameters or float32. Gradients are multiplied by grad_scale, such as a factor that clips their norm.
 */
#include "adamw_step_call.h"

#include "host.h"
#include "operators.h"

typedef struct adamw_step_frame {
    struct {
        tensor grad_scale;
        tensor_list params;
        tensor_list grads;
        tensor_list exp_avgs;
        tensor_list exp_avg_sqs;
    } t; /* tensors */
    struct {
        dtype T;
        dtype S;
    } d; /* what the dtype variables stand for */
    struct {
        number_list betas;
    } a; /* arguments that kernels do not see as they came */
    adamw_step_call call;
} adamw_step_frame;

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

/* The place of a dtype in the kernel tables below, -1 when S does not allow it. */
static int index_of_S(dtype d) {
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
static bool adamw_step_check(error *e, adamw_step_frame *f) {
    adamw_step_call *const c = &f->call;
    bool overflow = false;
    if (!list_read(e, &f->t.params, "params") ||
        !list_read(e, &f->t.grads, "grads") ||
        !list_read(e, &f->t.exp_avgs, "exp_avgs") ||
        !list_read(e, &f->t.exp_avg_sqs, "exp_avg_sqs") ||
        !tensor_read(e, &f->t.grad_scale, "grad_scale")) {
        return false;
    }
    /* lists */
    CHECK(e, c->params_count > 0, "params: expected at least one tensor");
    CHECK(e, c->grads_count > 0, "grads: expected at least one tensor");
    CHECK(e, c->exp_avgs_count > 0, "exp_avgs: expected at least one tensor");
    CHECK(e, c->exp_avg_sqs_count > 0, "exp_avg_sqs: expected at least one tensor");
    CHECK(e, c->grads_count == c->params_count, "grads: expected %" PRId64 " tensors (as params), got %" PRId64,
          c->params_count, c->grads_count);
    CHECK(e, c->exp_avgs_count == c->params_count, "exp_avgs: expected %" PRId64 " tensors (as params), got %" PRId64,
          c->params_count, c->exp_avgs_count);
    CHECK(e, c->exp_avg_sqs_count == c->params_count,
          "exp_avg_sqs: expected %" PRId64 " tensors (as params), got %" PRId64, c->params_count, c->exp_avg_sqs_count);
    /* dtypes */
    f->d.T = f->t.params.at[0].dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "params[0]: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.params.at[0].dtype));
    for (int64_t i = 0; i < f->t.params.count; i++) {
        CHECK(e, f->t.params.at[i].dtype == f->d.T, "params[%" PRId64 "]: expected dtype %s (as params[0]), got %s", i,
              dtype_name(f->t.params.at[0].dtype), dtype_name(f->t.params.at[i].dtype));
    }
    for (int64_t i = 0; i < f->t.grads.count; i++) {
        CHECK(e, f->t.grads.at[i].dtype == f->d.T, "grads[%" PRId64 "]: expected dtype %s (as params[0]), got %s", i,
              dtype_name(f->t.params.at[0].dtype), dtype_name(f->t.grads.at[i].dtype));
    }
    if (given(&f->t.grad_scale)) {
        CHECK(e, f->t.grad_scale.dtype == dtype_acc(f->d.T),
              "grad_scale: expected dtype %s (accumulation dtype of params[0]), got %s",
              dtype_name(dtype_acc(f->t.params.at[0].dtype)), dtype_name(f->t.grad_scale.dtype));
    }
    f->d.S = f->t.exp_avgs.at[0].dtype;
    CHECK(e, f->d.S == f->d.T || f->d.S == DTYPE_FLOAT32, "exp_avgs[0]: expected dtype %s (T) or float32, got %s",
          dtype_name(f->d.T), dtype_name(f->t.exp_avgs.at[0].dtype));
    for (int64_t i = 0; i < f->t.exp_avgs.count; i++) {
        CHECK(e, f->t.exp_avgs.at[i].dtype == f->d.S, "exp_avgs[%" PRId64 "]: expected dtype %s (as exp_avgs[0]), got %s",
              i, dtype_name(f->t.exp_avgs.at[0].dtype), dtype_name(f->t.exp_avgs.at[i].dtype));
    }
    for (int64_t i = 0; i < f->t.exp_avg_sqs.count; i++) {
        CHECK(e, f->t.exp_avg_sqs.at[i].dtype == f->d.S,
              "exp_avg_sqs[%" PRId64 "]: expected dtype %s (as exp_avgs[0]), got %s", i,
              dtype_name(f->t.exp_avgs.at[0].dtype), dtype_name(f->t.exp_avg_sqs.at[i].dtype));
    }
    /* devices */
    for (int64_t i = 0; i < f->t.params.count; i++) {
        CHECK(e, same_device(&f->t.params.at[i], &f->t.params.at[0]),
              "params[%" PRId64 "]: expected device %s (as params[0]), got %s", i, device_text(e, &f->t.params.at[0]),
              device_text(e, &f->t.params.at[i]));
    }
    for (int64_t i = 0; i < f->t.grads.count; i++) {
        CHECK(e, same_device(&f->t.grads.at[i], &f->t.params.at[0]),
              "grads[%" PRId64 "]: expected device %s (as params[0]), got %s", i, device_text(e, &f->t.params.at[0]),
              device_text(e, &f->t.grads.at[i]));
    }
    for (int64_t i = 0; i < f->t.exp_avgs.count; i++) {
        CHECK(e, same_device(&f->t.exp_avgs.at[i], &f->t.params.at[0]),
              "exp_avgs[%" PRId64 "]: expected device %s (as params[0]), got %s", i, device_text(e, &f->t.params.at[0]),
              device_text(e, &f->t.exp_avgs.at[i]));
    }
    for (int64_t i = 0; i < f->t.exp_avg_sqs.count; i++) {
        CHECK(e, same_device(&f->t.exp_avg_sqs.at[i], &f->t.params.at[0]),
              "exp_avg_sqs[%" PRId64 "]: expected device %s (as params[0]), got %s", i, device_text(e, &f->t.params.at[0]),
              device_text(e, &f->t.exp_avg_sqs.at[i]));
    }
    if (given(&f->t.grad_scale)) {
        CHECK(e, same_device(&f->t.grad_scale, &f->t.params.at[0]), "grad_scale: expected device %s (as params[0]), got %s",
              device_text(e, &f->t.params.at[0]), device_text(e, &f->t.grad_scale));
    }
    /* arguments */
    CHECK(e, c->betas_count == 2, "betas: expected 2 floats, got %" PRId64, c->betas_count);
    /* shapes */
    for (int64_t i = 0; i < f->t.params.count; i++) {
        c->s[i] = product_i64(&overflow, f->t.params.at[i].sizes, f->t.params.at[i].dim);
        CHECK(e, !overflow, "params[%" PRId64 "]: the product of s does not fit 64-bit integers", i);
    }
    if (given(&f->t.grad_scale)) {
        CHECK(e, f->t.grad_scale.dim == 0, "grad_scale: expected 0 dimensions, got %" PRId64, f->t.grad_scale.dim);
    }
    for (int64_t i = 0; i < f->t.grads.count; i++) {
        CHECK(e, same_sizes(f->t.grads.at[i].sizes, f->t.grads.at[i].dim, f->t.params.at[i].sizes, f->t.params.at[i].dim),
              "grads[%" PRId64 "]: expected shape [*s] with s = %s (from params[%" PRId64 "]), got %s", i,
              sizes_text(e, f->t.params.at[i].sizes, f->t.params.at[i].dim), i, shape_text(e, &f->t.grads.at[i]));
    }
    for (int64_t i = 0; i < f->t.exp_avgs.count; i++) {
        CHECK(e, same_sizes(f->t.exp_avgs.at[i].sizes, f->t.exp_avgs.at[i].dim, f->t.params.at[i].sizes,
                            f->t.params.at[i].dim),
              "exp_avgs[%" PRId64 "]: expected shape [*s] with s = %s (from params[%" PRId64 "]), got %s", i,
              sizes_text(e, f->t.params.at[i].sizes, f->t.params.at[i].dim), i, shape_text(e, &f->t.exp_avgs.at[i]));
    }
    for (int64_t i = 0; i < f->t.exp_avg_sqs.count; i++) {
        CHECK(e, same_sizes(f->t.exp_avg_sqs.at[i].sizes, f->t.exp_avg_sqs.at[i].dim, f->t.params.at[i].sizes,
                            f->t.params.at[i].dim),
              "exp_avg_sqs[%" PRId64 "]: expected shape [*s] with s = %s (from params[%" PRId64 "]), got %s", i,
              sizes_text(e, f->t.params.at[i].sizes, f->t.params.at[i].dim), i, shape_text(e, &f->t.exp_avg_sqs.at[i]));
    }
    /* checks */
    CHECK(e, c->step > 0, "expected step > 0, got step = %" PRId64, c->step);
    CHECK(e, c->lr >= 0.0, "expected lr >= 0, got lr = %s", float_text(e, c->lr));
    CHECK(e, 0.0 <= c->betas[0] && c->betas[0] < 1.0 && 0.0 <= c->betas[1] && c->betas[1] < 1.0,
          "expected 0 <= betas[0] < 1 and 0 <= betas[1] < 1, got betas[0] = %s, betas[1] = %s",
          float_text(e, c->betas[0]), float_text(e, c->betas[1]));
    CHECK(e, c->eps >= 0.0, "expected eps >= 0, got eps = %s", float_text(e, c->eps));
    CHECK(e, c->weight_decay >= 0.0, "expected weight_decay >= 0, got weight_decay = %s",
          float_text(e, c->weight_decay));
    /* dims */
    c->total = list_numel(&overflow, &f->t.params);
    CHECK(e, !overflow, "total = numel(params) does not fit 64-bit integers");
    return true;
}

/* What is written lies on nothing else. */
static bool adamw_step_overlap(error *e, const adamw_step_frame *f) {
    for (int64_t i = 0; i < f->t.params.count; i++) {
        CHECK(e, !tensor_overlaps_itself(&f->t.params.at[i]),
              "params[%" PRId64 "]: expected no overlap among its own elements, got strides %s", i,
              strides_text(e, &f->t.params.at[i]));
    }
    {
        int64_t i, j;
        if (!find_list_overlap(e, f->t.params.at, f->t.params.count, f->t.params.at, f->t.params.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "params[%" PRId64 "]: expected no overlap with params[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.params.at, f->t.params.count, f->t.grads.at, f->t.grads.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "params[%" PRId64 "]: expected no overlap with grads[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.params.at, f->t.params.count, &f->t.grad_scale, 1, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "params[%" PRId64 "]: expected no overlap with grad_scale", i);
    }
    for (int64_t i = 0; i < f->t.exp_avgs.count; i++) {
        CHECK(e, !tensor_overlaps_itself(&f->t.exp_avgs.at[i]),
              "exp_avgs[%" PRId64 "]: expected no overlap among its own elements, got strides %s", i,
              strides_text(e, &f->t.exp_avgs.at[i]));
    }
    {
        int64_t i, j;
        if (!find_list_overlap(e, f->t.exp_avgs.at, f->t.exp_avgs.count, f->t.exp_avgs.at, f->t.exp_avgs.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avgs[%" PRId64 "]: expected no overlap with exp_avgs[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.exp_avgs.at, f->t.exp_avgs.count, f->t.params.at, f->t.params.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avgs[%" PRId64 "]: expected no overlap with params[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.exp_avgs.at, f->t.exp_avgs.count, f->t.grads.at, f->t.grads.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avgs[%" PRId64 "]: expected no overlap with grads[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.exp_avgs.at, f->t.exp_avgs.count, &f->t.grad_scale, 1, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avgs[%" PRId64 "]: expected no overlap with grad_scale", i);
    }
    for (int64_t i = 0; i < f->t.exp_avg_sqs.count; i++) {
        CHECK(e, !tensor_overlaps_itself(&f->t.exp_avg_sqs.at[i]),
              "exp_avg_sqs[%" PRId64 "]: expected no overlap among its own elements, got strides %s", i,
              strides_text(e, &f->t.exp_avg_sqs.at[i]));
    }
    {
        int64_t i, j;
        if (!find_list_overlap(e, f->t.exp_avg_sqs.at, f->t.exp_avg_sqs.count, f->t.exp_avg_sqs.at, f->t.exp_avg_sqs.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avg_sqs[%" PRId64 "]: expected no overlap with exp_avg_sqs[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.exp_avg_sqs.at, f->t.exp_avg_sqs.count, f->t.params.at, f->t.params.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avg_sqs[%" PRId64 "]: expected no overlap with params[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.exp_avg_sqs.at, f->t.exp_avg_sqs.count, f->t.grads.at, f->t.grads.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avg_sqs[%" PRId64 "]: expected no overlap with grads[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.exp_avg_sqs.at, f->t.exp_avg_sqs.count, f->t.exp_avgs.at, f->t.exp_avgs.count, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avg_sqs[%" PRId64 "]: expected no overlap with exp_avgs[%" PRId64 "]", i, j);
        if (!find_list_overlap(e, f->t.exp_avg_sqs.at, f->t.exp_avg_sqs.count, &f->t.grad_scale, 1, &i, &j)) {
            return false;
        }
        CHECK(e, i < 0, "exp_avg_sqs[%" PRId64 "]: expected no overlap with grad_scale", i);
    }
    return true;
}

static bool adamw_step_nothing_to_do(const adamw_step_frame *f) {
    return list_empty(&f->t.params) && list_empty(&f->t.exp_avgs) && list_empty(&f->t.exp_avg_sqs);
}

static bool adamw_step_pointers(error *e, adamw_step_frame *f) {
    return list_const_data(e, &f->t.grads) &&
           tensor_const_data(e, &f->t.grad_scale, &f->call.grad_scale) &&
           list_mutable_data(e, &f->t.params) &&
           list_mutable_data(e, &f->t.exp_avgs) &&
           list_mutable_data(e, &f->t.exp_avg_sqs);
}

CPU_DECLARE(adamw_step__float64_float64)
CPU_DECLARE(adamw_step__float64_float32)
CPU_DECLARE(adamw_step__float32_float32)
CPU_DECLARE(adamw_step__float16_float32)
CPU_DECLARE(adamw_step__float16_float16)
CPU_DECLARE(adamw_step__bfloat16_float32)
CPU_DECLARE(adamw_step__bfloat16_bfloat16)

static bool adamw_step_cpu(error *e, adamw_step_frame *f) {
    static const cpu_kernels adamw_step_kernels[4][4] = {
        {
            CPU_KERNELS(adamw_step__float64_float64),
            CPU_KERNELS(adamw_step__float64_float32),
            {{0}},
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(adamw_step__float32_float32),
            {{0}},
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(adamw_step__float16_float32),
            CPU_KERNELS(adamw_step__float16_float16),
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(adamw_step__bfloat16_float32),
            {{0}},
            CPU_KERNELS(adamw_step__bfloat16_bfloat16),
        },
    };
    cpu_plan plans[1] = {0};
    if (!adamw_step_pointers(e, f)) {
        return false;
    }
    const adamw_step_call *const c = &f->call;
    const int64_t bytes = list_bytes(&f->t.params) +
                          list_bytes(&f->t.grads) +
                          list_bytes(&f->t.exp_avgs) +
                          list_bytes(&f->t.exp_avg_sqs) +
                          tensor_bytes(&f->t.grad_scale);
    const int T_index = index_of_T(f->d.T);
    const int S_index = index_of_S(f->d.S);
    {
        bool overflow = false;
        plans[0] = (cpu_plan){&adamw_step_kernels[T_index][S_index], ceil_div_i64(&overflow, c->total, 4096)};
        CHECK(e, !overflow, "units of adamw_step: a number leaves 64 bits or is divided by zero");
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char adamw_step_fatbin_0[];

static cuda_module modules[] = {
    {.image = adamw_step_fatbin_0},
};

/* The first launch shape of the spec whose condition holds. */
static bool adamw_step_plan(error *e, const adamw_step_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[1][4][4] = {
        {
            {
                {.name = "adamw_step__float64_float64__0", .module = &modules[0]},
                {.name = "adamw_step__float64_float32__0", .module = &modules[0]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "adamw_step__float32_float32__0", .module = &modules[0]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "adamw_step__float16_float32__0", .module = &modules[0]},
                {.name = "adamw_step__float16_float16__0", .module = &modules[0]},
                {0},
            },
            {
                {0},
                {.name = "adamw_step__bfloat16_float32__0", .module = &modules[0]},
                {0},
                {.name = "adamw_step__bfloat16_bfloat16__0", .module = &modules[0]},
            },
        },
    };
    const adamw_step_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    const int S_index = index_of_S(f->d.S);
    bool overflow = false;
    plan->kernel = &kernels[0][T_index][S_index];
    plan->launch = (cuda_launch){
        .grid = {min_i64(ceil_div_i64(&overflow, c->total, 2048), mul_i64(&overflow, 16, scope->sm_count)), 1, 1},
        .block = {256, 1, 1},
    };
    CHECK(e, !overflow, "launch of adamw_step: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool adamw_step_cuda(error *e, adamw_step_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    list_copy(&f->a.betas, f->call.betas_values, sizeof(double));
    if (!adamw_step_pointers(e, f) ||
        !adamw_step_plan(e, f, scope, &plans[0])) {
        return false;
    }
    static cuda_kernel store = {.name = "adamw_step__store_list", .module = &modules[0]};
    if (!list_to_device(e, scope, &store, f->t.params.at[0].device, &f->t.params) ||
        !list_to_device(e, scope, &store, f->t.params.at[0].device, &f->t.grads) ||
        !list_to_device(e, scope, &store, f->t.params.at[0].device, &f->t.exp_avgs) ||
        !list_to_device(e, scope, &store, f->t.params.at[0].device, &f->t.exp_avg_sqs)) {
        return false;
    }
    f->call.params = f->t.params.device_data;
    f->call.s = f->t.params.device_numbers;
    f->call.grads = f->t.grads.device_data;
    f->call.exp_avgs = f->t.exp_avgs.device_data;
    f->call.exp_avg_sqs = f->t.exp_avg_sqs.device_data;
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool adamw_step_execute(error *e, adamw_step_frame *f) {
    if (on_cuda(&f->t.params.at[0])) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.params.at[0].device.index, &scope)) {
            return false;
        }
        const bool ok = adamw_step_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return adamw_step_cpu(e, f);
}

static bool adamw_step_run(error *e, adamw_step_frame *f) {
    if (!adamw_step_check(e, f)) {
        return false;
    }
    if (!adamw_step_overlap(e, f)) {
        return false;
    }
    if (!list_set_aside(e, &f->t.params, LIST_CONTIGUOUS, true) ||
        !list_arrange(e, &f->t.grads, LIST_CONTIGUOUS) ||
        !list_set_aside(e, &f->t.exp_avgs, LIST_CONTIGUOUS, true) ||
        !list_set_aside(e, &f->t.exp_avg_sqs, LIST_CONTIGUOUS, true) ||
        !tensor_make_contiguous(e, &f->t.grad_scale)) {
        return false;
    }
    if (adamw_step_nothing_to_do(f)) {
        return true;
    }
    return adamw_step_execute(e, f) &&
           list_return(e, &f->t.params) &&
           list_return(e, &f->t.exp_avgs) &&
           list_return(e, &f->t.exp_avg_sqs);
}

void adamw_step_direct(error *e, StableIValue *stack) {
    adamw_step_frame f = {0};
    error_begin(e, "my_ops::adamw_step");
    list_take(e, stack[0], &f.t.params, 1, 0);
    f.call.params = f.t.params.data;
    f.call.s = f.t.params.numbers;
    f.call.params_count = f.t.params.count;
    list_take(e, stack[1], &f.t.grads, 0, 0);
    f.call.grads = f.t.grads.data;
    f.call.grads_count = f.t.grads.count;
    list_take(e, stack[2], &f.t.exp_avgs, 0, 0);
    f.call.exp_avgs = f.t.exp_avgs.data;
    f.call.exp_avgs_count = f.t.exp_avgs.count;
    list_take(e, stack[3], &f.t.exp_avg_sqs, 0, 0);
    f.call.exp_avg_sqs = f.t.exp_avg_sqs.data;
    f.call.exp_avg_sqs_count = f.t.exp_avg_sqs.count;
    f.call.step = take_int(stack[4]);
    if (take_optional(&stack[5])) {
        tensor_take(&f.t.grad_scale, stack[5]);
    }
    f.call.lr = take_float(stack[6]);
    take_floats(e, stack[7], &f.a.betas);
    f.call.betas = f.a.betas.data;
    f.call.betas_count = f.a.betas.count;
    f.call.eps = take_float(stack[8]);
    f.call.weight_decay = take_float(stack[9]);
    f.call.maximize = take_bool(stack[10]);
    if (!e->set) {
        adamw_step_run(e, &f);
    }
    list_release_tensors(e, &f.t.params);
    list_release_tensors(e, &f.t.grads);
    list_release_tensors(e, &f.t.exp_avgs);
    list_release_tensors(e, &f.t.exp_avg_sqs);
    tensor_release(e, &f.t.grad_scale);
    list_release(&f.a.betas);
}

void adamw_step_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    adamw_step_direct(&e, stack);
    error_raise(&e);
}
