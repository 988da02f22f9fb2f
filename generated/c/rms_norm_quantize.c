/* my_ops::rms_norm_quantize(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0, *, ScalarType dtype=int8) -> (Tensor, Tensor)
 *
 * rms_norm of x, each row in int8 or float8_e4m3fn by a scale of its own, as in quantize_per_token; what is normalised is not rounded in between.
 */
#include "rms_norm_quantize_call.h"

#include "host.h"
#include "operators.h"

typedef struct rms_norm_quantize_frame {
    struct {
        tensor x;
        tensor weight;
        tensor q;
        tensor scale;
    } t; /* tensors */
    struct {
        given_output q;
        given_output scale;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
        dtype Q;
    } d; /* what the dtype variables stand for */
    struct {
        dtype dtype;
    } a; /* arguments that kernels do not see as they came */
    rms_norm_quantize_call call;
} rms_norm_quantize_frame;

/* The place of a dtype in the kernel tables below, -1 when T does not allow it. */
static int index_of_T(dtype d) {
    switch (d) {
    case DTYPE_FLOAT32:
        return 0;
    case DTYPE_FLOAT16:
        return 1;
    case DTYPE_BFLOAT16:
        return 2;
    default:
        return -1;
    }
}

/* The place of a dtype in the kernel tables below, -1 when Q does not allow it. */
static int index_of_Q(dtype d) {
    switch (d) {
    case DTYPE_INT8:
        return 0;
    case DTYPE_FLOAT8_E4M3FN:
        return 1;
    default:
        return -1;
    }
}

/* All that can be told without looking at elements; also gives the names of the spec their values. */
static bool rms_norm_quantize_check(error *e, rms_norm_quantize_frame *f) {
    rms_norm_quantize_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.x, "x") ||
        !tensor_read(e, &f->t.weight, "weight")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.x.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "x: expected dtype float32, float16 or bfloat16, got %s",
          dtype_name(f->t.x.dtype));
    f->d.Q = f->a.dtype;
    CHECK(e, index_of_Q(f->d.Q) >= 0, "dtype: expected int8 or float8_e4m3fn, got %s", dtype_name(f->a.dtype));
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.dtype == f->d.T, "weight: expected dtype %s (as x), got %s", dtype_name(f->t.x.dtype),
              dtype_name(f->t.weight.dtype));
    }
    /* devices */
    if (given(&f->t.weight)) {
        CHECK(e, same_device(&f->t.weight, &f->t.x), "weight: expected device %s (as x), got %s", device_text(e, &f->t.x),
              device_text(e, &f->t.weight));
    }
    /* shapes */
    CHECK(e, f->t.x.dim >= 1, "x: expected at least 1 dimension, got %" PRId64, f->t.x.dim);
    c->rows = product_i64(&overflow, f->t.x.sizes, f->t.x.dim - 1);
    CHECK(e, !overflow, "x: the product of rows does not fit 64-bit integers");
    c->n = f->t.x.sizes[f->t.x.dim - 1];
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.dim == 1, "weight: expected 1 dimension, got %" PRId64, f->t.weight.dim);
        CHECK(e, f->t.weight.sizes[0] == c->n, "weight: expected shape [n] with n = %" PRId64 " (from x), got %s", c->n,
              shape_text(e, &f->t.weight));
    }
    /* checks */
    CHECK(e, c->n > 0, "expected n > 0, got n = %" PRId64, c->n);
    CHECK(e, c->eps >= 0.0, "expected eps >= 0, got eps = %s", float_text(e, c->eps));
    /* dims */
    c->span = mul_i64(&overflow, c->n, dtype_size(f->d.T));
    CHECK(e, !overflow, "span = n * sizeof(T) does not fit 64-bit integers");
    c->lanes = min_i64(32, next_pow2_i64(&overflow, ceil_div_i64(&overflow, c->span, 16)));
    CHECK(e, !overflow,
          "lanes = min(32, next_pow2(ceil_div(span, 16))) does not fit 64-bit integers or divides by zero");
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
static bool rms_norm_quantize_allocate(error *e, rms_norm_quantize_frame *f) {
    const rms_norm_quantize_call *const c = &f->call;
    shape s;
    if (given(&f->o.q.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !output_check(e, &f->o.q, &s, f->d.Q, f->t.x.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.q, "q", &s, f->d.Q, f->t.x.device)) {
            return false;
        }
    }
    if (given(&f->o.scale.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !output_check(e, &f->o.scale, &s, DTYPE_FLOAT32, f->t.x.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
            !tensor_empty(e, &f->t.scale, "scale", &s, DTYPE_FLOAT32, f->t.x.device)) {
            return false;
        }
    }
    if (given(&f->o.q.tensor)) {
        const named_tensors all[] = {
            named_tensor("x", &f->t.x),
            named_tensor("weight", &f->t.weight),
            named_output(&f->o.q),
            named_output(&f->o.scale),
        };
        if (!outputs_keep_apart(e, all, 2, 4)) {
            return false;
        }
        if (!output_place(&f->t.q, &f->o.q)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
                !shape_add_dim(e, &s, c->n) ||
                !tensor_empty(e, &f->t.q, "q", &s, f->d.Q, f->t.x.device)) {
                return false;
            }
        }
        if (!output_place(&f->t.scale, &f->o.scale)) {
            s.dim = 0;
            if (!shape_add(e, &s, f->t.x.sizes, f->t.x.dim - 1) ||
                !tensor_empty(e, &f->t.scale, "scale", &s, DTYPE_FLOAT32, f->t.x.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool rms_norm_quantize_nothing_to_do(const rms_norm_quantize_frame *f) {
    return f->t.q.numel == 0 && f->t.scale.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool rms_norm_quantize_zero(error *e, const rms_norm_quantize_frame *f) {
    return tensor_zero(e, &f->t.q) &&
           tensor_zero(e, &f->t.scale);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool rms_norm_quantize_prepare(error *e, rms_norm_quantize_frame *f, int64_t arch, int64_t sm_count) {
    rms_norm_quantize_call *const c = &f->call;
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

static bool rms_norm_quantize_pointers(error *e, rms_norm_quantize_frame *f) {
    return tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_const_data(e, &f->t.weight, &f->call.weight) &&
           tensor_mutable_data(e, &f->t.q, &f->call.q) &&
           tensor_mutable_data(e, &f->t.scale, &f->call.scale);
}

CPU_DECLARE(rms_norm_quantize__float32_int8)
CPU_DECLARE(rms_norm_quantize__float32_float8_e4m3fn)
CPU_DECLARE(rms_norm_quantize__float16_int8)
CPU_DECLARE(rms_norm_quantize__float16_float8_e4m3fn)
CPU_DECLARE(rms_norm_quantize__bfloat16_int8)
CPU_DECLARE(rms_norm_quantize__bfloat16_float8_e4m3fn)

static bool rms_norm_quantize_cpu(error *e, rms_norm_quantize_frame *f) {
    static const cpu_kernels rms_norm_quantize_kernels[3][2] = {
        {
            CPU_KERNELS(rms_norm_quantize__float32_int8),
            CPU_KERNELS(rms_norm_quantize__float32_float8_e4m3fn),
        },
        {
            CPU_KERNELS(rms_norm_quantize__float16_int8),
            CPU_KERNELS(rms_norm_quantize__float16_float8_e4m3fn),
        },
        {
            CPU_KERNELS(rms_norm_quantize__bfloat16_int8),
            CPU_KERNELS(rms_norm_quantize__bfloat16_float8_e4m3fn),
        },
    };
    cpu_plan plans[1] = {0};
    if (!rms_norm_quantize_prepare(e, f, 0, 32) ||
        !rms_norm_quantize_pointers(e, f)) {
        return false;
    }
    const rms_norm_quantize_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.weight) +
                          tensor_bytes(&f->t.q) +
                          tensor_bytes(&f->t.scale);
    const int T_index = index_of_T(f->d.T);
    const int Q_index = index_of_Q(f->d.Q);
    plans[0] = (cpu_plan){&rms_norm_quantize_kernels[T_index][Q_index], c->rows};
    if (cpu_any_empty(plans, 1) && !rms_norm_quantize_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char rms_norm_quantize_fatbin_0[];
extern const unsigned char rms_norm_quantize_fatbin_1[];
extern const unsigned char rms_norm_quantize_fatbin_2[];
extern const unsigned char rms_norm_quantize_fatbin_3[];

static cuda_module modules[] = {
    {.image = rms_norm_quantize_fatbin_0},
    {.image = rms_norm_quantize_fatbin_1},
    {.image = rms_norm_quantize_fatbin_2},
    {.image = rms_norm_quantize_fatbin_3},
};

/* The first launch shape of the spec whose condition holds. */
static bool rms_norm_quantize_plan(error *e, const rms_norm_quantize_frame *f, const cuda_scope *scope,
                                   cuda_plan *plan) {
    static cuda_kernel kernels[10][3][2] = {
        {
            {
                {.name = "rms_norm_quantize__float32_int8__0", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__0", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__0", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__0", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__0", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__0", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__1", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__1", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__1", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__1", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__1", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__1", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__2", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__2", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__2", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__2", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__2", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__2", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__3", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__3", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__3", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__3", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__3", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__3", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__4", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__4", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__4", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__4", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__4", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__4", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__5", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__5", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__5", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__5", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__5", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__5", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__6", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__6", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__6", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__6", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__6", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__6", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__7", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__7", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__7", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__7", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__7", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__7", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__8", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__8", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__8", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__8", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__8", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__8", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "rms_norm_quantize__float32_int8__9", .module = &modules[0]},
                {.name = "rms_norm_quantize__float32_float8_e4m3fn__9", .module = &modules[1]},
            },
            {
                {.name = "rms_norm_quantize__float16_int8__9", .module = &modules[2]},
                {.name = "rms_norm_quantize__float16_float8_e4m3fn__9", .module = &modules[3]},
            },
            {
                {.name = "rms_norm_quantize__bfloat16_int8__9", .module = &modules[0]},
                {.name = "rms_norm_quantize__bfloat16_float8_e4m3fn__9", .module = &modules[1]},
            },
        },
    };
    const rms_norm_quantize_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    const int Q_index = index_of_Q(f->d.Q);
    bool overflow = false;
    if (c->span <= 16384 &&
        mul_i64(&overflow, c->rows, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)) <=
        mul_i64(&overflow, 2048, scope->sm_count) &&
        (c->span > 1024 || c->rows <= mul_i64(&overflow, 2, scope->sm_count)) &&
        (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) && (aligned_to(c->weight, 16)) &&
        (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[0][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32), 1, 1},
        };
    } else if (c->span <= 512 && mul_i64(&overflow, c->rows, c->lanes) <= mul_i64(&overflow, 2048, scope->sm_count) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) && (aligned_to(c->weight, 16)) &&
               (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[1][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, c->short_block, c->lanes)), 1, 1},
            .block = {c->short_block, 1, 1},
        };
    } else if (c->span <= 512 && (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
               (aligned_to(c->weight, 16)) && (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[2][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, floordiv_i64(&overflow, 256, c->lanes), 4)), 1,
                     1},
            .block = {256, 1, 1},
        };
    } else if (c->span <= 1024 && mul_i64(&overflow, c->rows, c->lanes) <= mul_i64(&overflow, 2048, scope->sm_count) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) && (aligned_to(c->weight, 16)) &&
               (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[3][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, c->short_block, c->lanes)), 1, 1},
            .block = {c->short_block, 1, 1},
        };
    } else if (c->span <= 1024 && (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
               (aligned_to(c->weight, 16)) && (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[4][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, floordiv_i64(&overflow, 256, c->lanes), 2)), 1,
                     1},
            .block = {256, 1, 1},
        };
    } else if (c->span <= mul_i64(&overflow, 32768, c->cluster) && c->cluster <= 8 &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) && (aligned_to(c->weight, 16)) &&
               (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[5][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, mul_i64(&overflow, 64, c->cluster)), 32),
                      1, 1},
            .cluster = {c->cluster, 1, 1},
        };
    } else if (mul_i64(&overflow, c->n, dtype_size(f->d.T)) >= 16 && c->n <= 512 &&
               c->rows >= mul_i64(&overflow, 64, scope->sm_count)) {
        plan->kernel = &kernels[6][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->runs,
                                  max_i64(1,
                                          min_i64(4,
                                                  floordiv_i64(&overflow, c->runs,
                                                               mul_i64(&overflow, 16, scope->sm_count))))),
                     1, 1},
            .block = {min_i64(512, round_up_i64(&overflow, c->slab, 32)), 1, 1},
            .shared = mul_i64(&overflow, 8, add_i64(&overflow, c->slab, mul_i64(&overflow, 2, c->slab_rows))),
        };
    } else if (c->n <= 512) {
        plan->kernel = &kernels[7][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, 8), 1, 1},
            .block = {256, 1, 1},
        };
    } else if (c->n <= mul_i64(&overflow, 8192, c->cluster) && c->cluster <= 8) {
        plan->kernel = &kernels[8][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->rows, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, ceil_div_i64(&overflow, c->n, mul_i64(&overflow, 16, c->cluster)), 32), 1,
                      1},
            .cluster = {c->cluster, 1, 1},
        };
    } else {
        plan->kernel = &kernels[9][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {1024, 1, 1},
        };
    }
    CHECK(e, !overflow, "launch of rms_norm_quantize: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool rms_norm_quantize_cuda(error *e, rms_norm_quantize_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!rms_norm_quantize_prepare(e, f, scope->arch, scope->sm_count) ||
        !rms_norm_quantize_pointers(e, f) ||
        !rms_norm_quantize_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !rms_norm_quantize_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool rms_norm_quantize_execute(error *e, rms_norm_quantize_frame *f) {
    if (on_cuda(&f->t.x)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.x.device.index, &scope)) {
            return false;
        }
        const bool ok = rms_norm_quantize_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return rms_norm_quantize_cpu(e, f);
}

static bool rms_norm_quantize_run(error *e, rms_norm_quantize_frame *f) {
    if (!rms_norm_quantize_check(e, f)) {
        return false;
    }
    if (!rms_norm_quantize_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.x) ||
        !tensor_make_contiguous(e, &f->t.weight)) {
        return false;
    }
    if (rms_norm_quantize_nothing_to_do(f)) {
        return true;
    }
    return rms_norm_quantize_execute(e, f) &&
           output_return(e, &f->t.q, &f->o.q) &&
           output_return(e, &f->t.scale, &f->o.scale);
}

void rms_norm_quantize_direct(error *e, StableIValue *stack) {
    rms_norm_quantize_frame f = {0};
    error_begin(e, "my_ops::rms_norm_quantize");
    tensor_take(&f.t.x, stack[0]);
    if (take_optional(&stack[1])) {
        tensor_take(&f.t.weight, stack[1]);
    }
    f.call.eps = take_float(stack[2]);
    f.call.offset = take_float(stack[3]);
    f.a.dtype = take_dtype(stack[4]);
    rms_norm_quantize_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.weight);
    tensor_give(e, &f.t.q, &stack[0]);
    tensor_give(e, &f.t.scale, &stack[1]);
}

void rms_norm_quantize_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    rms_norm_quantize_direct(&e, stack);
    error_raise(&e);
}

void rms_norm_quantize__out_direct(error *e, StableIValue *stack) {
    rms_norm_quantize_frame f = {0};
    error_begin(e, "my_ops::rms_norm_quantize");
    tensor_take(&f.t.x, stack[0]);
    if (take_optional(&stack[1])) {
        tensor_take(&f.t.weight, stack[1]);
    }
    f.call.eps = take_float(stack[2]);
    f.call.offset = take_float(stack[3]);
    f.a.dtype = take_dtype(stack[4]);
    output_take(&f.o.q, stack[5], "q");
    output_take(&f.o.scale, stack[6], "scale");
    rms_norm_quantize_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.weight);
    tensor_release(e, &f.t.q);
    tensor_release(e, &f.o.q.tensor);
    tensor_release(e, &f.t.scale);
    tensor_release(e, &f.o.scale.tensor);
}
