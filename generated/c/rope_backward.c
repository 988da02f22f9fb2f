/* my_ops::rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * Gradients of rope, which turns them back.
 */
#include "rope_backward_call.h"

#include "host.h"
#include "operators.h"

typedef struct rope_backward_frame {
    struct {
        tensor grad_q_out;
        tensor grad_k_out;
        tensor cos;
        tensor sin;
        tensor grad_q;
        tensor grad_k;
    } t; /* tensors */
    struct {
        dtype T;
        dtype C;
    } d; /* what the dtype variables stand for */
    bool mask[2]; /* which outputs are wanted */
    rope_backward_call call;
} rope_backward_frame;

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

/* The place of a dtype in the kernel tables below, -1 when C does not allow it. */
static int index_of_C(dtype d) {
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
static bool rope_backward_check(error *e, rope_backward_frame *f) {
    rope_backward_call *const c = &f->call;
    bool overflow = false;
    bool holds;
    if (!tensor_read(e, &f->t.grad_q_out, "grad_q_out") ||
        !tensor_read(e, &f->t.grad_k_out, "grad_k_out") ||
        !tensor_read(e, &f->t.cos, "cos") ||
        !tensor_read(e, &f->t.sin, "sin")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.grad_q_out.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "grad_q_out: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.grad_q_out.dtype));
    CHECK(e, f->t.grad_k_out.dtype == f->d.T, "grad_k_out: expected dtype %s (as grad_q_out), got %s",
          dtype_name(f->t.grad_q_out.dtype), dtype_name(f->t.grad_k_out.dtype));
    f->d.C = f->t.cos.dtype;
    CHECK(e, f->d.C == f->d.T || f->d.C == DTYPE_FLOAT32, "cos: expected dtype %s (T) or float32, got %s",
          dtype_name(f->d.T), dtype_name(f->t.cos.dtype));
    CHECK(e, f->t.sin.dtype == f->d.C, "sin: expected dtype %s (as cos), got %s", dtype_name(f->t.cos.dtype),
          dtype_name(f->t.sin.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.grad_k_out, &f->t.grad_q_out), "grad_k_out: expected device %s (as grad_q_out), got %s",
          device_text(e, &f->t.grad_q_out), device_text(e, &f->t.grad_k_out));
    CHECK(e, same_device(&f->t.cos, &f->t.grad_q_out), "cos: expected device %s (as grad_q_out), got %s",
          device_text(e, &f->t.grad_q_out), device_text(e, &f->t.cos));
    CHECK(e, same_device(&f->t.sin, &f->t.grad_q_out), "sin: expected device %s (as grad_q_out), got %s",
          device_text(e, &f->t.grad_q_out), device_text(e, &f->t.sin));
    /* shapes */
    CHECK(e, f->t.grad_q_out.dim == 4, "grad_q_out: expected 4 dimensions, got %" PRId64, f->t.grad_q_out.dim);
    c->b = f->t.grad_q_out.sizes[0];
    c->s = f->t.grad_q_out.sizes[1];
    c->h = f->t.grad_q_out.sizes[2];
    c->d = f->t.grad_q_out.sizes[3];
    CHECK(e, f->t.grad_k_out.dim == 4, "grad_k_out: expected 4 dimensions, got %" PRId64, f->t.grad_k_out.dim);
    c->hk = f->t.grad_k_out.sizes[2];
    CHECK(e, f->t.cos.dim >= 2, "cos: expected at least 2 dimensions, got %" PRId64, f->t.cos.dim);
    c->cb = product_i64(&overflow, f->t.cos.sizes, f->t.cos.dim - 2);
    CHECK(e, !overflow, "cos: the product of cb does not fit 64-bit integers");
    c->r = f->t.cos.sizes[f->t.cos.dim - 1];
    CHECK(e, f->t.sin.dim >= 2, "sin: expected at least 2 dimensions, got %" PRId64, f->t.sin.dim);
    CHECK(e, f->t.grad_k_out.sizes[0] == c->b && f->t.grad_k_out.sizes[1] == c->s && f->t.grad_k_out.sizes[3] == c->d,
          "grad_k_out: expected shape [b, s, hk, d] with b = %" PRId64 " (from grad_q_out), s = %" PRId64 " (from grad_q_out), d = %" PRId64 " (from grad_q_out), got %s",
          c->b, c->s, c->d, shape_text(e, &f->t.grad_k_out));
    CHECK(e, f->t.cos.sizes[f->t.cos.dim - 2] == c->s,
          "cos: expected shape [*cb, s, r] with s = %" PRId64 " (from grad_q_out), got %s", c->s,
          shape_text(e, &f->t.cos));
    CHECK(e, same_sizes(f->t.sin.sizes, f->t.sin.dim - 2, f->t.cos.sizes, f->t.cos.dim - 2) &&
             f->t.sin.sizes[f->t.sin.dim - 2] == c->s && f->t.sin.sizes[f->t.sin.dim - 1] == c->r,
          "sin: expected shape [*cb, s, r] with cb = %s (from cos), s = %" PRId64 " (from grad_q_out), r = %" PRId64 " (from cos), got %s",
          sizes_text(e, f->t.cos.sizes, f->t.cos.dim - 2), c->s, c->r, shape_text(e, &f->t.sin));
    /* checks */
    CHECK(e, c->cb == 1 || c->cb == c->b, "expected cb == 1 or cb == b, got cb = %" PRId64 ", b = %" PRId64, c->cb,
          c->b);
    holds = mul_i64(&overflow, 2, c->r) <= c->d;
    CHECK(e, !overflow, "2 * r <= d does not fit 64-bit integers");
    CHECK(e, holds, "expected 2 * r <= d, got r = %" PRId64 ", d = %" PRId64, c->r, c->d);
    /* dims */
    c->groups = add_i64(&overflow, ceil_div_i64(&overflow, c->h, 4), ceil_div_i64(&overflow, c->hk, 4));
    CHECK(e, !overflow, "groups = ceil_div(h, 4) + ceil_div(hk, 4) does not fit 64-bit integers or divides by zero");
    return true;
}

/* The outputs that are wanted. */
static bool rope_backward_allocate(error *e, rope_backward_frame *f) {
    const rope_backward_call *const c = &f->call;
    shape s;
    if (f->mask[0]) {
        s.dim = 0;
        if (!shape_add_dim(e, &s, c->b) ||
            !shape_add_dim(e, &s, c->s) ||
            !shape_add_dim(e, &s, c->h) ||
            !shape_add_dim(e, &s, c->d) ||
            !tensor_empty(e, &f->t.grad_q, "grad_q", &s, f->d.T, f->t.grad_q_out.device)) {
            return false;
        }
    }
    if (f->mask[1]) {
        s.dim = 0;
        if (!shape_add_dim(e, &s, c->b) ||
            !shape_add_dim(e, &s, c->s) ||
            !shape_add_dim(e, &s, c->hk) ||
            !shape_add_dim(e, &s, c->d) ||
            !tensor_empty(e, &f->t.grad_k, "grad_k", &s, f->d.T, f->t.grad_q_out.device)) {
            return false;
        }
    }
    return true;
}

static bool rope_backward_nothing_to_do(const rope_backward_frame *f) {
    return f->t.grad_q.numel == 0 && f->t.grad_k.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool rope_backward_zero(error *e, const rope_backward_frame *f) {
    return tensor_zero(e, &f->t.grad_q) &&
           tensor_zero(e, &f->t.grad_k);
}

static bool rope_backward_pointers(error *e, rope_backward_frame *f) {
    tensor_copy_strides(&f->t.grad_q_out, f->call.grad_q_out_stride);
    tensor_copy_strides(&f->t.grad_k_out, f->call.grad_k_out_stride);
    f->call.cos_stride[0] = tensor_row_stride(&f->t.cos);
    f->call.sin_stride[0] = tensor_row_stride(&f->t.sin);
    return tensor_const_data(e, &f->t.grad_q_out, &f->call.grad_q_out) &&
           tensor_const_data(e, &f->t.grad_k_out, &f->call.grad_k_out) &&
           tensor_const_data(e, &f->t.cos, &f->call.cos) &&
           tensor_const_data(e, &f->t.sin, &f->call.sin) &&
           tensor_mutable_data(e, &f->t.grad_q, &f->call.grad_q) &&
           tensor_mutable_data(e, &f->t.grad_k, &f->call.grad_k);
}

CPU_DECLARE(rope_backward__float64_float64)
CPU_DECLARE(rope_backward__float64_float32)
CPU_DECLARE(rope_backward__float32_float32)
CPU_DECLARE(rope_backward__float16_float32)
CPU_DECLARE(rope_backward__float16_float16)
CPU_DECLARE(rope_backward__bfloat16_float32)
CPU_DECLARE(rope_backward__bfloat16_bfloat16)

static bool rope_backward_cpu(error *e, rope_backward_frame *f) {
    static const cpu_kernels rope_backward_kernels[4][4] = {
        {
            CPU_KERNELS(rope_backward__float64_float64),
            CPU_KERNELS(rope_backward__float64_float32),
            {{0}},
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(rope_backward__float32_float32),
            {{0}},
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(rope_backward__float16_float32),
            CPU_KERNELS(rope_backward__float16_float16),
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(rope_backward__bfloat16_float32),
            {{0}},
            CPU_KERNELS(rope_backward__bfloat16_bfloat16),
        },
    };
    cpu_plan plans[1] = {0};
    if (!rope_backward_pointers(e, f)) {
        return false;
    }
    const rope_backward_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.grad_q_out) +
                          tensor_bytes(&f->t.grad_k_out) +
                          tensor_bytes(&f->t.cos) +
                          tensor_bytes(&f->t.sin) +
                          tensor_bytes(&f->t.grad_q) +
                          tensor_bytes(&f->t.grad_k);
    const int T_index = index_of_T(f->d.T);
    const int C_index = index_of_C(f->d.C);
    {
        bool overflow = false;
        plans[0] = (cpu_plan){&rope_backward_kernels[T_index][C_index], mul_i64(&overflow, c->b, c->s)};
        CHECK(e, !overflow, "units of rope_backward: a number leaves 64 bits or is divided by zero");
    }
    if (cpu_any_empty(plans, 1) && !rope_backward_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char rope_backward_fatbin_0[];
extern const unsigned char rope_backward_fatbin_1[];
extern const unsigned char rope_backward_fatbin_2[];

static cuda_module modules[] = {
    {.image = rope_backward_fatbin_0},
    {.image = rope_backward_fatbin_1},
    {.image = rope_backward_fatbin_2},
};

/* The first launch shape of the spec whose condition holds. */
static bool rope_backward_plan(error *e, const rope_backward_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[6][4][4] = {
        {
            {
                {.name = "rope_backward__float64_float64__0", .module = &modules[0]},
                {.name = "rope_backward__float64_float32__0", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float32_float32__0", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float16_float32__0", .module = &modules[0]},
                {.name = "rope_backward__float16_float16__0", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__bfloat16_float32__0", .module = &modules[2]},
                {0},
                {.name = "rope_backward__bfloat16_bfloat16__0", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope_backward__float64_float64__1", .module = &modules[0]},
                {.name = "rope_backward__float64_float32__1", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float32_float32__1", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float16_float32__1", .module = &modules[0]},
                {.name = "rope_backward__float16_float16__1", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__bfloat16_float32__1", .module = &modules[2]},
                {0},
                {.name = "rope_backward__bfloat16_bfloat16__1", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope_backward__float64_float64__2", .module = &modules[0]},
                {.name = "rope_backward__float64_float32__2", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float32_float32__2", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float16_float32__2", .module = &modules[0]},
                {.name = "rope_backward__float16_float16__2", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__bfloat16_float32__2", .module = &modules[2]},
                {0},
                {.name = "rope_backward__bfloat16_bfloat16__2", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope_backward__float64_float64__3", .module = &modules[0]},
                {.name = "rope_backward__float64_float32__3", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float32_float32__3", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float16_float32__3", .module = &modules[0]},
                {.name = "rope_backward__float16_float16__3", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__bfloat16_float32__3", .module = &modules[2]},
                {0},
                {.name = "rope_backward__bfloat16_bfloat16__3", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope_backward__float64_float64__4", .module = &modules[0]},
                {.name = "rope_backward__float64_float32__4", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float32_float32__4", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float16_float32__4", .module = &modules[0]},
                {.name = "rope_backward__float16_float16__4", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__bfloat16_float32__4", .module = &modules[2]},
                {0},
                {.name = "rope_backward__bfloat16_bfloat16__4", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope_backward__float64_float64__5", .module = &modules[0]},
                {.name = "rope_backward__float64_float32__5", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float32_float32__5", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__float16_float32__5", .module = &modules[0]},
                {.name = "rope_backward__float16_float16__5", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope_backward__bfloat16_float32__5", .module = &modules[2]},
                {0},
                {.name = "rope_backward__bfloat16_bfloat16__5", .module = &modules[0]},
            },
        },
    };
    (void)scope;
    const rope_backward_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    const int C_index = index_of_C(f->d.C);
    bool overflow = false;
    if (mod_i64(&overflow, c->r, floordiv_i64(&overflow, 16, dtype_size(f->d.T))) == 0 &&
        mod_i64(&overflow, c->d, floordiv_i64(&overflow, 16, dtype_size(f->d.T))) == 0 &&
        (aligned_to(c->grad_q_out, 16) && strides_aligned(&f->t.grad_q_out, 16) && aligned_to(c->grad_k_out, 16) &&
         strides_aligned(&f->t.grad_k_out, 16) && aligned_to(c->cos, 16) &&
         stride_aligned(&f->t.cos, c->cos_stride[0], 16) && aligned_to(c->sin, 16) &&
         stride_aligned(&f->t.sin, c->sin_stride[0], 16) && aligned_to(c->grad_q, 16) &&
         c->d * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->grad_k, 16))) {
        const int INTERLEAVED_index = c->interleaved;
        plan->kernel = &kernels[INTERLEAVED_index][T_index][C_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow,
                                  mul_i64(&overflow, mul_i64(&overflow, c->s, c->groups),
                                          add_i64(&overflow,
                                                  floordiv_i64(&overflow, c->r,
                                                               floordiv_i64(&overflow, 16, dtype_size(f->d.T))),
                                                  ceil_div_i64(&overflow,
                                                               sub_i64(&overflow, c->d, mul_i64(&overflow, 2, c->r)),
                                                               floordiv_i64(&overflow, 32, dtype_size(f->d.T))))),
                                  256),
                     min_i64(c->b, 65535), 1},
            .block = {256, 1, 1},
        };
    } else if (mod_i64(&overflow, c->r, floordiv_i64(&overflow, 8, dtype_size(f->d.T))) == 0 &&
               mod_i64(&overflow, c->d, floordiv_i64(&overflow, 8, dtype_size(f->d.T))) == 0 &&
               (aligned_to(c->grad_q_out, 8) && strides_aligned(&f->t.grad_q_out, 8) && aligned_to(c->grad_k_out, 8) &&
                strides_aligned(&f->t.grad_k_out, 8) && aligned_to(c->cos, 8) &&
                stride_aligned(&f->t.cos, c->cos_stride[0], 8) && aligned_to(c->sin, 8) &&
                stride_aligned(&f->t.sin, c->sin_stride[0], 8) && aligned_to(c->grad_q, 8) &&
                c->d * dtype_size(f->d.T) % 8 == 0 && aligned_to(c->grad_k, 8))) {
        const int INTERLEAVED_index = c->interleaved;
        plan->kernel = &kernels[2 + INTERLEAVED_index][T_index][C_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow,
                                  mul_i64(&overflow, mul_i64(&overflow, c->s, c->groups),
                                          add_i64(&overflow,
                                                  floordiv_i64(&overflow, c->r,
                                                               floordiv_i64(&overflow, 8, dtype_size(f->d.T))),
                                                  ceil_div_i64(&overflow,
                                                               sub_i64(&overflow, c->d, mul_i64(&overflow, 2, c->r)),
                                                               floordiv_i64(&overflow, 16, dtype_size(f->d.T))))),
                                  256),
                     min_i64(c->b, 65535), 1},
            .block = {256, 1, 1},
        };
    } else {
        const int INTERLEAVED_index = c->interleaved;
        plan->kernel = &kernels[4 + INTERLEAVED_index][T_index][C_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow,
                                  mul_i64(&overflow, mul_i64(&overflow, c->s, c->groups),
                                          add_i64(&overflow, c->r,
                                                  ceil_div_i64(&overflow,
                                                               sub_i64(&overflow, c->d, mul_i64(&overflow, 2, c->r)),
                                                               2))),
                                  256),
                     min_i64(c->b, 65535), 1},
            .block = {256, 1, 1},
        };
    }
    CHECK(e, !overflow, "launch of rope_backward: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool rope_backward_cuda(error *e, rope_backward_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!rope_backward_pointers(e, f) ||
        !rope_backward_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !rope_backward_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool rope_backward_execute(error *e, rope_backward_frame *f) {
    if (on_cuda(&f->t.grad_q_out)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.grad_q_out.device.index, &scope)) {
            return false;
        }
        const bool ok = rope_backward_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return rope_backward_cpu(e, f);
}

static bool rope_backward_run(error *e, rope_backward_frame *f) {
    if (!rope_backward_check(e, f)) {
        return false;
    }
    if (!rope_backward_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_inner_contiguous(e, &f->t.grad_q_out, 1) ||
        !tensor_make_inner_contiguous(e, &f->t.grad_k_out, 1) ||
        !tensor_make_rows(e, &f->t.cos) ||
        !tensor_make_rows(e, &f->t.sin)) {
        return false;
    }
    if (rope_backward_nothing_to_do(f)) {
        return true;
    }
    return rope_backward_execute(e, f);
}

void rope_backward_direct(error *e, StableIValue *stack) {
    rope_backward_frame f = {0};
    error_begin(e, "my_ops::rope_backward");
    tensor_take(&f.t.grad_q_out, stack[0]);
    tensor_take(&f.t.grad_k_out, stack[1]);
    tensor_take(&f.t.cos, stack[2]);
    tensor_take(&f.t.sin, stack[3]);
    f.call.interleaved = take_bool(stack[4]);
    take_mask(e, stack[5], "grad_mask", f.mask, 2);
    if (!e->set) {
        rope_backward_run(e, &f);
    }
    tensor_release(e, &f.t.grad_q_out);
    tensor_release(e, &f.t.grad_k_out);
    tensor_release(e, &f.t.cos);
    tensor_release(e, &f.t.sin);
    tensor_define(e, &f.t.grad_q);
    tensor_define(e, &f.t.grad_k);
    tensor_give(e, &f.t.grad_q, &stack[0]);
    tensor_give(e, &f.t.grad_k, &stack[1]);
}

void rope_backward_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    rope_backward_direct(&e, stack);
    error_raise(&e);
}
