/* my_ops::rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)
 *
 * Rotary position embedding. Turns each pair of columns (x1, x2) of the heads of q and k into (x1 * cos - x2 * sin, x2 * cos + x1 * sin). Pair j is columns j and j + r, or 2 * j and 2 * j + 1 where interleaved; columns from 2 * r on stay as they are. q and k may be views into one packed tensor.
 */
#include "rope_call.h"

#include "host.h"
#include "operators.h"

typedef struct rope_frame {
    struct {
        tensor q;
        tensor k;
        tensor cos;
        tensor sin;
        tensor q_out;
        tensor k_out;
    } t; /* tensors */
    struct {
        given_output q_out;
        given_output k_out;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
        dtype C;
    } d; /* what the dtype variables stand for */
    rope_call call;
} rope_frame;

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
static bool rope_check(error *e, rope_frame *f) {
    rope_call *const c = &f->call;
    bool overflow = false;
    bool holds;
    if (!tensor_read(e, &f->t.q, "q") ||
        !tensor_read(e, &f->t.k, "k") ||
        !tensor_read(e, &f->t.cos, "cos") ||
        !tensor_read(e, &f->t.sin, "sin")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.q.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "q: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.q.dtype));
    CHECK(e, f->t.k.dtype == f->d.T, "k: expected dtype %s (as q), got %s", dtype_name(f->t.q.dtype),
          dtype_name(f->t.k.dtype));
    f->d.C = f->t.cos.dtype;
    CHECK(e, f->d.C == f->d.T || f->d.C == DTYPE_FLOAT32, "cos: expected dtype %s (T) or float32, got %s",
          dtype_name(f->d.T), dtype_name(f->t.cos.dtype));
    CHECK(e, f->t.sin.dtype == f->d.C, "sin: expected dtype %s (as cos), got %s", dtype_name(f->t.cos.dtype),
          dtype_name(f->t.sin.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.k, &f->t.q), "k: expected device %s (as q), got %s", device_text(e, &f->t.q),
          device_text(e, &f->t.k));
    CHECK(e, same_device(&f->t.cos, &f->t.q), "cos: expected device %s (as q), got %s", device_text(e, &f->t.q),
          device_text(e, &f->t.cos));
    CHECK(e, same_device(&f->t.sin, &f->t.q), "sin: expected device %s (as q), got %s", device_text(e, &f->t.q),
          device_text(e, &f->t.sin));
    /* shapes */
    CHECK(e, f->t.q.dim == 4, "q: expected 4 dimensions, got %" PRId64, f->t.q.dim);
    c->b = f->t.q.sizes[0];
    c->s = f->t.q.sizes[1];
    c->h = f->t.q.sizes[2];
    c->d = f->t.q.sizes[3];
    CHECK(e, f->t.k.dim == 4, "k: expected 4 dimensions, got %" PRId64, f->t.k.dim);
    c->hk = f->t.k.sizes[2];
    CHECK(e, f->t.cos.dim >= 2, "cos: expected at least 2 dimensions, got %" PRId64, f->t.cos.dim);
    c->cb = product_i64(&overflow, f->t.cos.sizes, f->t.cos.dim - 2);
    CHECK(e, !overflow, "cos: the product of cb does not fit 64-bit integers");
    c->r = f->t.cos.sizes[f->t.cos.dim - 1];
    CHECK(e, f->t.sin.dim >= 2, "sin: expected at least 2 dimensions, got %" PRId64, f->t.sin.dim);
    CHECK(e, f->t.k.sizes[0] == c->b && f->t.k.sizes[1] == c->s && f->t.k.sizes[3] == c->d,
          "k: expected shape [b, s, hk, d] with b = %" PRId64 " (from q), s = %" PRId64 " (from q), d = %" PRId64 " (from q), got %s",
          c->b, c->s, c->d, shape_text(e, &f->t.k));
    CHECK(e, f->t.cos.sizes[f->t.cos.dim - 2] == c->s,
          "cos: expected shape [*cb, s, r] with s = %" PRId64 " (from q), got %s", c->s, shape_text(e, &f->t.cos));
    CHECK(e, same_sizes(f->t.sin.sizes, f->t.sin.dim - 2, f->t.cos.sizes, f->t.cos.dim - 2) &&
             f->t.sin.sizes[f->t.sin.dim - 2] == c->s && f->t.sin.sizes[f->t.sin.dim - 1] == c->r,
          "sin: expected shape [*cb, s, r] with cb = %s (from cos), s = %" PRId64 " (from q), r = %" PRId64 " (from cos), got %s",
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
static bool rope_allocate(error *e, rope_frame *f) {
    const rope_call *const c = &f->call;
    shape s;
    if (given(&f->o.q_out.tensor)) {
        s.dim = 0;
        if (!shape_add_dim(e, &s, c->b) ||
            !shape_add_dim(e, &s, c->s) ||
            !shape_add_dim(e, &s, c->h) ||
            !shape_add_dim(e, &s, c->d) ||
            !output_check(e, &f->o.q_out, &s, f->d.T, f->t.q.device)) {
            return false;
        }
    } else {
        if (!tensor_empty_like(e, &f->t.q_out, &f->t.q, f->d.T, f->t.q.device)) {
            return false;
        }
    }
    if (given(&f->o.k_out.tensor)) {
        s.dim = 0;
        if (!shape_add_dim(e, &s, c->b) ||
            !shape_add_dim(e, &s, c->s) ||
            !shape_add_dim(e, &s, c->hk) ||
            !shape_add_dim(e, &s, c->d) ||
            !output_check(e, &f->o.k_out, &s, f->d.T, f->t.q.device)) {
            return false;
        }
    } else {
        if (!tensor_empty_like(e, &f->t.k_out, &f->t.k, f->d.T, f->t.q.device)) {
            return false;
        }
    }
    if (given(&f->o.q_out.tensor)) {
        const named_tensors all[] = {
            named_tensor("q", &f->t.q),
            named_tensor("k", &f->t.k),
            named_tensor("cos", &f->t.cos),
            named_tensor("sin", &f->t.sin),
            named_output(&f->o.q_out),
            named_output(&f->o.k_out),
        };
        if (!outputs_keep_apart(e, all, 4, 6)) {
            return false;
        }
        if (!tensor_empty_like(e, &f->t.q_out, &f->t.q, f->d.T, f->t.q.device)) {
            return false;
        }
        if (!tensor_empty_like(e, &f->t.k_out, &f->t.k, f->d.T, f->t.q.device)) {
            return false;
        }
    }
    return true;
}

static bool rope_nothing_to_do(const rope_frame *f) {
    return f->t.q_out.numel == 0 && f->t.k_out.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool rope_zero(error *e, const rope_frame *f) {
    return tensor_zero(e, &f->t.q_out) &&
           tensor_zero(e, &f->t.k_out);
}

static bool rope_pointers(error *e, rope_frame *f) {
    tensor_copy_strides(&f->t.q, f->call.q_stride);
    tensor_copy_strides(&f->t.k, f->call.k_stride);
    f->call.cos_stride[0] = tensor_row_stride(&f->t.cos);
    f->call.sin_stride[0] = tensor_row_stride(&f->t.sin);
    tensor_copy_strides(&f->t.q_out, f->call.q_out_stride);
    tensor_copy_strides(&f->t.k_out, f->call.k_out_stride);
    return tensor_const_data(e, &f->t.q, &f->call.q) &&
           tensor_const_data(e, &f->t.k, &f->call.k) &&
           tensor_const_data(e, &f->t.cos, &f->call.cos) &&
           tensor_const_data(e, &f->t.sin, &f->call.sin) &&
           tensor_mutable_data(e, &f->t.q_out, &f->call.q_out) &&
           tensor_mutable_data(e, &f->t.k_out, &f->call.k_out);
}

CPU_DECLARE(rope__float64_float64)
CPU_DECLARE(rope__float64_float32)
CPU_DECLARE(rope__float32_float32)
CPU_DECLARE(rope__float16_float32)
CPU_DECLARE(rope__float16_float16)
CPU_DECLARE(rope__bfloat16_float32)
CPU_DECLARE(rope__bfloat16_bfloat16)

static bool rope_cpu(error *e, rope_frame *f) {
    static const cpu_kernels rope_kernels[4][4] = {
        {
            CPU_KERNELS(rope__float64_float64),
            CPU_KERNELS(rope__float64_float32),
            {{0}},
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(rope__float32_float32),
            {{0}},
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(rope__float16_float32),
            CPU_KERNELS(rope__float16_float16),
            {{0}},
        },
        {
            {{0}},
            CPU_KERNELS(rope__bfloat16_float32),
            {{0}},
            CPU_KERNELS(rope__bfloat16_bfloat16),
        },
    };
    cpu_plan plans[1] = {0};
    if (!rope_pointers(e, f)) {
        return false;
    }
    const rope_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.q) +
                          tensor_bytes(&f->t.k) +
                          tensor_bytes(&f->t.cos) +
                          tensor_bytes(&f->t.sin) +
                          tensor_bytes(&f->t.q_out) +
                          tensor_bytes(&f->t.k_out);
    const int T_index = index_of_T(f->d.T);
    const int C_index = index_of_C(f->d.C);
    {
        bool overflow = false;
        plans[0] = (cpu_plan){&rope_kernels[T_index][C_index], mul_i64(&overflow, c->b, c->s)};
        CHECK(e, !overflow, "units of rope: a number leaves 64 bits or is divided by zero");
    }
    if (cpu_any_empty(plans, 1) && !rope_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char rope_fatbin_0[];
extern const unsigned char rope_fatbin_1[];
extern const unsigned char rope_fatbin_2[];

static cuda_module modules[] = {
    {.image = rope_fatbin_0},
    {.image = rope_fatbin_1},
    {.image = rope_fatbin_2},
};

/* The first launch shape of the spec whose condition holds. */
static bool rope_plan(error *e, const rope_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[6][4][4] = {
        {
            {
                {.name = "rope__float64_float64__0", .module = &modules[0]},
                {.name = "rope__float64_float32__0", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float32_float32__0", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float16_float32__0", .module = &modules[0]},
                {.name = "rope__float16_float16__0", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope__bfloat16_float32__0", .module = &modules[2]},
                {0},
                {.name = "rope__bfloat16_bfloat16__0", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope__float64_float64__1", .module = &modules[0]},
                {.name = "rope__float64_float32__1", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float32_float32__1", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float16_float32__1", .module = &modules[0]},
                {.name = "rope__float16_float16__1", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope__bfloat16_float32__1", .module = &modules[2]},
                {0},
                {.name = "rope__bfloat16_bfloat16__1", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope__float64_float64__2", .module = &modules[0]},
                {.name = "rope__float64_float32__2", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float32_float32__2", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float16_float32__2", .module = &modules[0]},
                {.name = "rope__float16_float16__2", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope__bfloat16_float32__2", .module = &modules[2]},
                {0},
                {.name = "rope__bfloat16_bfloat16__2", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope__float64_float64__3", .module = &modules[0]},
                {.name = "rope__float64_float32__3", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float32_float32__3", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float16_float32__3", .module = &modules[0]},
                {.name = "rope__float16_float16__3", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope__bfloat16_float32__3", .module = &modules[2]},
                {0},
                {.name = "rope__bfloat16_bfloat16__3", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope__float64_float64__4", .module = &modules[0]},
                {.name = "rope__float64_float32__4", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float32_float32__4", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float16_float32__4", .module = &modules[0]},
                {.name = "rope__float16_float16__4", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope__bfloat16_float32__4", .module = &modules[2]},
                {0},
                {.name = "rope__bfloat16_bfloat16__4", .module = &modules[0]},
            },
        },
        {
            {
                {.name = "rope__float64_float64__5", .module = &modules[0]},
                {.name = "rope__float64_float32__5", .module = &modules[1]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float32_float32__5", .module = &modules[2]},
                {0},
                {0},
            },
            {
                {0},
                {.name = "rope__float16_float32__5", .module = &modules[0]},
                {.name = "rope__float16_float16__5", .module = &modules[1]},
                {0},
            },
            {
                {0},
                {.name = "rope__bfloat16_float32__5", .module = &modules[2]},
                {0},
                {.name = "rope__bfloat16_bfloat16__5", .module = &modules[0]},
            },
        },
    };
    (void)scope;
    const rope_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    const int C_index = index_of_C(f->d.C);
    bool overflow = false;
    if (mod_i64(&overflow, c->r, floordiv_i64(&overflow, 16, dtype_size(f->d.T))) == 0 &&
        mod_i64(&overflow, c->d, floordiv_i64(&overflow, 16, dtype_size(f->d.T))) == 0 &&
        (aligned_to(c->q, 16) && strides_aligned(&f->t.q, 16) && aligned_to(c->k, 16) && strides_aligned(&f->t.k, 16) &&
         aligned_to(c->cos, 16) && stride_aligned(&f->t.cos, c->cos_stride[0], 16) && aligned_to(c->sin, 16) &&
         stride_aligned(&f->t.sin, c->sin_stride[0], 16) && aligned_to(c->q_out, 16) &&
         strides_aligned(&f->t.q_out, 16) && aligned_to(c->k_out, 16) && strides_aligned(&f->t.k_out, 16)) &&
        tensor_stride(&overflow, &f->t.q_out, 3) == 1 && tensor_stride(&overflow, &f->t.k_out, 3) == 1) {
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
               (aligned_to(c->q, 8) && strides_aligned(&f->t.q, 8) && aligned_to(c->k, 8) &&
                strides_aligned(&f->t.k, 8) && aligned_to(c->cos, 8) &&
                stride_aligned(&f->t.cos, c->cos_stride[0], 8) && aligned_to(c->sin, 8) &&
                stride_aligned(&f->t.sin, c->sin_stride[0], 8) && aligned_to(c->q_out, 8) &&
                strides_aligned(&f->t.q_out, 8) && aligned_to(c->k_out, 8) && strides_aligned(&f->t.k_out, 8)) &&
               tensor_stride(&overflow, &f->t.q_out, 3) == 1 && tensor_stride(&overflow, &f->t.k_out, 3) == 1) {
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
    CHECK(e, !overflow, "launch of rope: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool rope_cuda(error *e, rope_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!rope_pointers(e, f) ||
        !rope_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !rope_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool rope_execute(error *e, rope_frame *f) {
    if (on_cuda(&f->t.q)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.q.device.index, &scope)) {
            return false;
        }
        const bool ok = rope_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return rope_cpu(e, f);
}

static bool rope_run(error *e, rope_frame *f) {
    if (!rope_check(e, f)) {
        return false;
    }
    if (!rope_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_inner_contiguous(e, &f->t.q, 1) ||
        !tensor_make_inner_contiguous(e, &f->t.k, 1) ||
        !tensor_make_rows(e, &f->t.cos) ||
        !tensor_make_rows(e, &f->t.sin)) {
        return false;
    }
    if (rope_nothing_to_do(f)) {
        return true;
    }
    return rope_execute(e, f) &&
           output_return(e, &f->t.q_out, &f->o.q_out) &&
           output_return(e, &f->t.k_out, &f->o.k_out);
}

void rope_direct(error *e, StableIValue *stack) {
    rope_frame f = {0};
    error_begin(e, "my_ops::rope");
    tensor_take(&f.t.q, stack[0]);
    tensor_take(&f.t.k, stack[1]);
    tensor_take(&f.t.cos, stack[2]);
    tensor_take(&f.t.sin, stack[3]);
    f.call.interleaved = take_bool(stack[4]);
    rope_run(e, &f);
    tensor_release(e, &f.t.q);
    tensor_release(e, &f.t.k);
    tensor_release(e, &f.t.cos);
    tensor_release(e, &f.t.sin);
    tensor_give(e, &f.t.q_out, &stack[0]);
    tensor_give(e, &f.t.k_out, &stack[1]);
}

void rope_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    rope_direct(&e, stack);
    error_raise(&e);
}

void rope__inplace_direct(error *e, StableIValue *stack) {
    rope_frame f = {0};
    error_begin(e, "my_ops::rope");
    tensor_take(&f.t.q, stack[0]);
    tensor_take(&f.t.k, stack[1]);
    tensor_take(&f.t.cos, stack[2]);
    tensor_take(&f.t.sin, stack[3]);
    f.call.interleaved = take_bool(stack[4]);
    output_take_input(e, &f.o.q_out, &f.t.q, "q");
    output_take_input(e, &f.o.k_out, &f.t.k, "k");
    if (!e->set) {
        rope_run(e, &f);
    }
    tensor_release(e, &f.t.q);
    tensor_release(e, &f.t.k);
    tensor_release(e, &f.t.cos);
    tensor_release(e, &f.t.sin);
    tensor_release(e, &f.t.q_out);
    tensor_release(e, &f.o.q_out.tensor);
    tensor_release(e, &f.t.k_out);
    tensor_release(e, &f.o.k_out.tensor);
}

void rope__inplace_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    rope__inplace_direct(&e, stack);
    error_raise(&e);
}

void rope__out_direct(error *e, StableIValue *stack) {
    rope_frame f = {0};
    error_begin(e, "my_ops::rope");
    tensor_take(&f.t.q, stack[0]);
    tensor_take(&f.t.k, stack[1]);
    tensor_take(&f.t.cos, stack[2]);
    tensor_take(&f.t.sin, stack[3]);
    f.call.interleaved = take_bool(stack[4]);
    output_take(&f.o.q_out, stack[5], "q_out");
    output_take(&f.o.k_out, stack[6], "k_out");
    rope_run(e, &f);
    tensor_release(e, &f.t.q);
    tensor_release(e, &f.t.k);
    tensor_release(e, &f.t.cos);
    tensor_release(e, &f.t.sin);
    tensor_release(e, &f.t.q_out);
    tensor_release(e, &f.o.q_out.tensor);
    tensor_release(e, &f.t.k_out);
    tensor_release(e, &f.o.k_out.tensor);
}
