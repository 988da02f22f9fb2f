/* my_ops::quantize_per_token(Tensor x, *, ScalarType dtype=int8) -> (Tensor, Tensor)
 *
 * Each row of x in int8 or float8_e4m3fn, by a scale of its own: scale is max(abs(x)) / L with L = 127 or 448, and q is x * (L / max(abs(x))), rounded, all in float32. q * scale is x again, nearly.
 */
#include "quantize_per_token_call.h"

#include "host.h"
#include "operators.h"

typedef struct quantize_per_token_frame {
    struct {
        tensor x;
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
    quantize_per_token_call call;
} quantize_per_token_frame;

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
static bool quantize_per_token_check(error *e, quantize_per_token_frame *f) {
    quantize_per_token_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.x, "x")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.x.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "x: expected dtype float32, float16 or bfloat16, got %s",
          dtype_name(f->t.x.dtype));
    f->d.Q = f->a.dtype;
    CHECK(e, index_of_Q(f->d.Q) >= 0, "dtype: expected int8 or float8_e4m3fn, got %s", dtype_name(f->a.dtype));
    /* shapes */
    CHECK(e, f->t.x.dim >= 1, "x: expected at least 1 dimension, got %" PRId64, f->t.x.dim);
    c->rows = product_i64(&overflow, f->t.x.sizes, f->t.x.dim - 1);
    CHECK(e, !overflow, "x: the product of rows does not fit 64-bit integers");
    c->n = f->t.x.sizes[f->t.x.dim - 1];
    /* dims */
    c->span = mul_i64(&overflow, c->n, dtype_size(f->d.T));
    CHECK(e, !overflow, "span = n * sizeof(T) does not fit 64-bit integers");
    c->lanes = min_i64(32, next_pow2_i64(&overflow, max_i64(1, ceil_div_i64(&overflow, c->span, 16))));
    CHECK(e, !overflow,
          "lanes = min(32, next_pow2(max(1, ceil_div(span, 16)))) does not fit 64-bit integers or divides by zero");
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

/* The outputs that are wanted. */
static bool quantize_per_token_allocate(error *e, quantize_per_token_frame *f) {
    const quantize_per_token_call *const c = &f->call;
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
            named_output(&f->o.q),
            named_output(&f->o.scale),
        };
        if (!outputs_keep_apart(e, all, 1, 3)) {
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

static bool quantize_per_token_nothing_to_do(const quantize_per_token_frame *f) {
    return f->t.q.numel == 0 && f->t.scale.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool quantize_per_token_zero(error *e, const quantize_per_token_frame *f) {
    return tensor_zero(e, &f->t.q) &&
           tensor_zero(e, &f->t.scale);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool quantize_per_token_prepare(error *e, quantize_per_token_frame *f, int64_t arch, int64_t sm_count) {
    quantize_per_token_call *const c = &f->call;
    bool overflow = false;
    c->short_block = max_i64(32,
                             min_i64(256,
                                     next_pow2_i64(&overflow,
                                                   ceil_div_i64(&overflow, mul_i64(&overflow, c->rows, c->lanes),
                                                                sm_count))));
    c->cluster = arch < 90 || c->span <= 20480
                     ? 1
                     : min_i64(8,
                               next_pow2_i64(&overflow,
                                             ceil_div_i64(&overflow, c->span, c->span <= 131072 ? 16384 : 32768)));
    CHECK(e, !overflow, "the sizes of launch and scratch: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool quantize_per_token_pointers(error *e, quantize_per_token_frame *f) {
    return tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_mutable_data(e, &f->t.q, &f->call.q) &&
           tensor_mutable_data(e, &f->t.scale, &f->call.scale);
}

CPU_DECLARE(quantize_per_token__float32_int8)
CPU_DECLARE(quantize_per_token__float32_float8_e4m3fn)
CPU_DECLARE(quantize_per_token__float16_int8)
CPU_DECLARE(quantize_per_token__float16_float8_e4m3fn)
CPU_DECLARE(quantize_per_token__bfloat16_int8)
CPU_DECLARE(quantize_per_token__bfloat16_float8_e4m3fn)

static bool quantize_per_token_cpu(error *e, quantize_per_token_frame *f) {
    static const cpu_kernels quantize_per_token_kernels[3][2] = {
        {
            CPU_KERNELS(quantize_per_token__float32_int8),
            CPU_KERNELS(quantize_per_token__float32_float8_e4m3fn),
        },
        {
            CPU_KERNELS(quantize_per_token__float16_int8),
            CPU_KERNELS(quantize_per_token__float16_float8_e4m3fn),
        },
        {
            CPU_KERNELS(quantize_per_token__bfloat16_int8),
            CPU_KERNELS(quantize_per_token__bfloat16_float8_e4m3fn),
        },
    };
    cpu_plan plans[1] = {0};
    if (!quantize_per_token_prepare(e, f, 0, 32) ||
        !quantize_per_token_pointers(e, f)) {
        return false;
    }
    const quantize_per_token_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.q) +
                          tensor_bytes(&f->t.scale);
    const int T_index = index_of_T(f->d.T);
    const int Q_index = index_of_Q(f->d.Q);
    plans[0] = (cpu_plan){&quantize_per_token_kernels[T_index][Q_index], c->rows};
    if (cpu_any_empty(plans, 1) && !quantize_per_token_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char quantize_per_token_fatbin_0[];
extern const unsigned char quantize_per_token_fatbin_1[];
extern const unsigned char quantize_per_token_fatbin_2[];
extern const unsigned char quantize_per_token_fatbin_3[];

static cuda_module modules[] = {
    {.image = quantize_per_token_fatbin_0},
    {.image = quantize_per_token_fatbin_1},
    {.image = quantize_per_token_fatbin_2},
    {.image = quantize_per_token_fatbin_3},
};

/* The first launch shape of the spec whose condition holds. */
static bool quantize_per_token_plan(error *e, const quantize_per_token_frame *f, const cuda_scope *scope,
                                    cuda_plan *plan) {
    static cuda_kernel kernels[10][3][2] = {
        {
            {
                {.name = "quantize_per_token__float32_int8__0", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__0", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__0", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__0", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__0", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__0", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__1", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__1", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__1", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__1", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__1", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__1", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__2", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__2", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__2", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__2", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__2", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__2", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__3", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__3", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__3", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__3", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__3", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__3", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__4", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__4", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__4", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__4", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__4", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__4", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__5", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__5", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__5", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__5", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__5", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__5", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__6", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__6", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__6", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__6", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__6", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__6", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__7", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__7", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__7", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__7", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__7", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__7", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__8", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__8", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__8", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__8", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__8", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__8", .module = &modules[1]},
            },
        },
        {
            {
                {.name = "quantize_per_token__float32_int8__9", .module = &modules[0]},
                {.name = "quantize_per_token__float32_float8_e4m3fn__9", .module = &modules[1]},
            },
            {
                {.name = "quantize_per_token__float16_int8__9", .module = &modules[2]},
                {.name = "quantize_per_token__float16_float8_e4m3fn__9", .module = &modules[3]},
            },
            {
                {.name = "quantize_per_token__bfloat16_int8__9", .module = &modules[0]},
                {.name = "quantize_per_token__bfloat16_float8_e4m3fn__9", .module = &modules[1]},
            },
        },
    };
    const quantize_per_token_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    const int Q_index = index_of_Q(f->d.Q);
    bool overflow = false;
    if (c->span <= 16384 &&
        mul_i64(&overflow, c->rows, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)) <=
        mul_i64(&overflow, 2048, scope->sm_count) &&
        (c->span > 1024 || c->rows <= mul_i64(&overflow, 2, scope->sm_count)) &&
        (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
        (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[0][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {c->rows, 1, 1},
            .block = {max_i64(32, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)), 1, 1},
        };
    } else if (c->span <= 512 && mul_i64(&overflow, c->rows, c->lanes) <= mul_i64(&overflow, 2048, scope->sm_count) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
               (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[1][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, c->short_block, c->lanes)), 1, 1},
            .block = {c->short_block, 1, 1},
        };
    } else if (c->span <= 512 && (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
               (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[2][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, floordiv_i64(&overflow, 256, c->lanes), 4)), 1,
                     1},
            .block = {256, 1, 1},
        };
    } else if (c->span <= 1024 && mul_i64(&overflow, c->rows, c->lanes) <= mul_i64(&overflow, 2048, scope->sm_count) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
               (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[3][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, floordiv_i64(&overflow, c->short_block, c->lanes)), 1, 1},
            .block = {c->short_block, 1, 1},
        };
    } else if (c->span <= 1024 && (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
               (aligned_to(c->q, 8) && c->n * dtype_size(f->d.Q) % 8 == 0)) {
        plan->kernel = &kernels[4][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, floordiv_i64(&overflow, 256, c->lanes), 2)), 1,
                     1},
            .block = {256, 1, 1},
        };
    } else if (c->span <= mul_i64(&overflow, 65536, c->cluster) &&
               (aligned_to(c->x, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
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
            .shared = mul_i64(&overflow, 16, add_i64(&overflow, c->slab, mul_i64(&overflow, 2, c->slab_rows))),
        };
    } else if (c->n <= 512) {
        plan->kernel = &kernels[7][T_index][Q_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, c->rows, 8), 1, 1},
            .block = {256, 1, 1},
        };
    } else if (c->n <= mul_i64(&overflow, 16384, c->cluster)) {
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
    CHECK(e, !overflow, "launch of quantize_per_token: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool quantize_per_token_cuda(error *e, quantize_per_token_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!quantize_per_token_prepare(e, f, scope->arch, scope->sm_count) ||
        !quantize_per_token_pointers(e, f) ||
        !quantize_per_token_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !quantize_per_token_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool quantize_per_token_execute(error *e, quantize_per_token_frame *f) {
    if (on_cuda(&f->t.x)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.x.device.index, &scope)) {
            return false;
        }
        const bool ok = quantize_per_token_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return quantize_per_token_cpu(e, f);
}

static bool quantize_per_token_run(error *e, quantize_per_token_frame *f) {
    if (!quantize_per_token_check(e, f)) {
        return false;
    }
    if (!quantize_per_token_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.x)) {
        return false;
    }
    if (quantize_per_token_nothing_to_do(f)) {
        return true;
    }
    return quantize_per_token_execute(e, f) &&
           output_return(e, &f->t.q, &f->o.q) &&
           output_return(e, &f->t.scale, &f->o.scale);
}

void quantize_per_token_direct(error *e, StableIValue *stack) {
    quantize_per_token_frame f = {0};
    error_begin(e, "my_ops::quantize_per_token");
    tensor_take(&f.t.x, stack[0]);
    f.a.dtype = take_dtype(stack[1]);
    quantize_per_token_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_give(e, &f.t.q, &stack[0]);
    tensor_give(e, &f.t.scale, &stack[1]);
}

void quantize_per_token_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    quantize_per_token_direct(&e, stack);
    error_raise(&e);
}

void quantize_per_token__out_direct(error *e, StableIValue *stack) {
    quantize_per_token_frame f = {0};
    error_begin(e, "my_ops::quantize_per_token");
    tensor_take(&f.t.x, stack[0]);
    f.a.dtype = take_dtype(stack[1]);
    output_take(&f.o.q, stack[2], "q");
    output_take(&f.o.scale, stack[3], "scale");
    quantize_per_token_run(e, &f);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.q);
    tensor_release(e, &f.o.q.tensor);
    tensor_release(e, &f.t.scale);
    tensor_release(e, &f.o.scale.tensor);
}
