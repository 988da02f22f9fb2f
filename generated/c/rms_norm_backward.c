/* my_ops::rms_norm_backward(Tensor grad_y, Tensor x, Tensor? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * Gradients of rms_norm. Each block sums a fixed set of rows; a second pass adds the partial sums in a fixed order.
 */
#include "rms_norm_backward_call.h"

#include "host.h"
#include "operators.h"

typedef struct rms_norm_backward_frame {
    struct {
        tensor grad_y;
        tensor x;
        tensor weight;
        tensor rstd;
        tensor grad_x;
        tensor grad_weight;
        tensor partial;
    } t; /* tensors */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    bool mask[2]; /* which outputs are wanted */
    rms_norm_backward_call call;
} rms_norm_backward_frame;

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
static bool rms_norm_backward_check(error *e, rms_norm_backward_frame *f) {
    rms_norm_backward_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.grad_y, "grad_y") ||
        !tensor_read(e, &f->t.x, "x") ||
        !tensor_read(e, &f->t.weight, "weight") ||
        !tensor_read(e, &f->t.rstd, "rstd")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.grad_y.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "grad_y: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.grad_y.dtype));
    CHECK(e, f->t.x.dtype == f->d.T, "x: expected dtype %s (as grad_y), got %s", dtype_name(f->t.grad_y.dtype),
          dtype_name(f->t.x.dtype));
    CHECK(e, f->t.rstd.dtype == dtype_acc(f->d.T), "rstd: expected dtype %s (accumulation dtype of grad_y), got %s",
          dtype_name(dtype_acc(f->t.grad_y.dtype)), dtype_name(f->t.rstd.dtype));
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.dtype == f->d.T, "weight: expected dtype %s (as grad_y), got %s",
              dtype_name(f->t.grad_y.dtype), dtype_name(f->t.weight.dtype));
    }
    /* devices */
    CHECK(e, same_device(&f->t.x, &f->t.grad_y), "x: expected device %s (as grad_y), got %s",
          device_text(e, &f->t.grad_y), device_text(e, &f->t.x));
    if (given(&f->t.weight)) {
        CHECK(e, same_device(&f->t.weight, &f->t.grad_y), "weight: expected device %s (as grad_y), got %s",
              device_text(e, &f->t.grad_y), device_text(e, &f->t.weight));
    }
    CHECK(e, same_device(&f->t.rstd, &f->t.grad_y), "rstd: expected device %s (as grad_y), got %s",
          device_text(e, &f->t.grad_y), device_text(e, &f->t.rstd));
    /* shapes */
    CHECK(e, f->t.grad_y.dim >= 1, "grad_y: expected at least 1 dimension, got %" PRId64, f->t.grad_y.dim);
    c->rows = product_i64(&overflow, f->t.grad_y.sizes, f->t.grad_y.dim - 1);
    CHECK(e, !overflow, "grad_y: the product of rows does not fit 64-bit integers");
    c->n = f->t.grad_y.sizes[f->t.grad_y.dim - 1];
    CHECK(e, f->t.x.dim >= 1, "x: expected at least 1 dimension, got %" PRId64, f->t.x.dim);
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.dim == 1, "weight: expected 1 dimension, got %" PRId64, f->t.weight.dim);
    }
    CHECK(e, same_sizes(f->t.x.sizes, f->t.x.dim - 1, f->t.grad_y.sizes, f->t.grad_y.dim - 1) &&
             f->t.x.sizes[f->t.x.dim - 1] == c->n,
          "x: expected shape [*rows, n] with rows = %s (from grad_y), n = %" PRId64 " (from grad_y), got %s",
          sizes_text(e, f->t.grad_y.sizes, f->t.grad_y.dim - 1), c->n, shape_text(e, &f->t.x));
    if (given(&f->t.weight)) {
        CHECK(e, f->t.weight.sizes[0] == c->n, "weight: expected shape [n] with n = %" PRId64 " (from grad_y), got %s",
              c->n, shape_text(e, &f->t.weight));
    }
    CHECK(e, same_sizes(f->t.rstd.sizes, f->t.rstd.dim, f->t.grad_y.sizes, f->t.grad_y.dim - 1),
          "rstd: expected shape [*rows] with rows = %s (from grad_y), got %s",
          sizes_text(e, f->t.grad_y.sizes, f->t.grad_y.dim - 1), shape_text(e, &f->t.rstd));
    /* dims */
    c->span = mod_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16) == 0
                  ? mul_i64(&overflow, c->n, dtype_size(f->d.T))
                  : add_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16);
    CHECK(e, !overflow,
          "span = n * sizeof(T) if n * sizeof(T) %% 16 == 0 else n * sizeof(T) + 16 does not fit 64-bit integers or divides by zero");
    c->whole = mod_i64(&overflow, mul_i64(&overflow, c->n, dtype_size(f->d.T)), 16) == 0 ? 1 : 0;
    CHECK(e, !overflow, "whole = 1 if n * sizeof(T) %% 16 == 0 else 0 does not fit 64-bit integers or divides by zero");
    c->slab = mul_i64(&overflow, max_i64(1, floordiv_i64(&overflow, 320, max_i64(1, c->n))), max_i64(1, c->n));
    CHECK(e, !overflow, "slab = max(1, 320 // max(1, n)) * max(1, n) does not fit 64-bit integers or divides by zero");
    c->slab_rows = mul_i64(&overflow, floordiv_i64(&overflow, c->slab, max_i64(1, c->n)),
                           floordiv_i64(&overflow, 16, dtype_size(f->d.T)));
    CHECK(e, !overflow,
          "slab_rows = slab // max(1, n) * (16 // sizeof(T)) does not fit 64-bit integers or divides by zero");
    c->columns = round_up_i64(&overflow, c->n, 4);
    CHECK(e, !overflow, "columns = round_up(n, 4) does not fit 64-bit integers or divides by zero");
    return true;
}

/* The outputs that are wanted. */
static bool rms_norm_backward_allocate(error *e, rms_norm_backward_frame *f) {
    const rms_norm_backward_call *const c = &f->call;
    shape s;
    if (f->mask[0]) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.grad_y.sizes, f->t.grad_y.dim - 1) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.grad_x, "grad_x", &s, f->d.T, f->t.grad_y.device)) {
            return false;
        }
    }
    if (f->mask[1]) {
        s.dim = 0;
        if (!shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.grad_weight, "grad_weight", &s, f->d.T, f->t.grad_y.device)) {
            return false;
        }
    }
    return true;
}

static bool rms_norm_backward_nothing_to_do(const rms_norm_backward_frame *f) {
    return f->t.grad_x.numel == 0 && f->t.grad_weight.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool rms_norm_backward_zero(error *e, const rms_norm_backward_frame *f) {
    return tensor_zero(e, &f->t.grad_x) &&
           tensor_zero(e, &f->t.grad_weight);
}

/* What depends on the hardware: sizes that only launches know, and scratch. */
static bool rms_norm_backward_prepare(error *e, rms_norm_backward_frame *f, int64_t arch, int64_t max_shared,
                                      int64_t sm_count) {
    rms_norm_backward_call *const c = &f->call;
    shape s;
    bool overflow = false;
    c->few = arch > 0 &&
             (c->whole == 1
                  ? c->span <= 16384 && c->rows <= max_i64(256, floordiv_i64(&overflow, c->span, 32))
                  : c->n <= 1000000 && c->rows <= 512)
                 ? 1
                 : 0;
    c->runs = c->few == 0 && c->whole == 0 && mul_i64(&overflow, c->n, dtype_size(f->d.T)) > 16 && c->n <= 512 &&
              arch > 0
                  ? 1
                  : 0;
    c->run_blocks = min_i64(ceil_div_i64(&overflow, c->rows, mul_i64(&overflow, 2, c->slab_rows)),
                            mul_i64(&overflow, sm_count,
                                    max_i64(1, floordiv_i64(&overflow, 640, round_up_i64(&overflow, c->slab, 32)))));
    c->limit = min_i64(1024,
                       mul_i64(&overflow,
                               floordiv_i64(&overflow,
                                            floordiv_i64(&overflow, sub_i64(&overflow, max_shared, 8192), 160), 32),
                               32));
    c->vectors = c->few == 1
                     ? 0
                     : (c->whole == 1 && dtype_size(f->d.T) <= 4 &&
                        c->span <= mul_i64(&overflow, arch >= 90 ? 32 : 16, c->limit)
                            ? 1
                            : (c->span <= mul_i64(&overflow, arch >= 90 ? 256 : 32, c->limit) ? 2 : 0));
    c->cluster = arch < 90 || c->vectors == 0
                     ? 1
                     : (c->vectors == 1 && c->span > 8192 && c->span <= 10240
                            ? 2
                            : next_pow2_i64(&overflow,
                                            ceil_div_i64(&overflow, c->span,
                                                         mul_i64(&overflow, mul_i64(&overflow, 16, c->vectors),
                                                                 c->limit))));
    c->threads = c->span <= mul_i64(&overflow, 512, c->vectors)
                     ? next_pow2_i64(&overflow,
                                     max_i64(1,
                                             ceil_div_i64(&overflow, c->span,
                                                          mul_i64(&overflow, 16, max_i64(1, c->vectors)))))
                     : round_up_i64(&overflow,
                                    ceil_div_i64(&overflow, c->span,
                                                 mul_i64(&overflow, mul_i64(&overflow, 16, max_i64(1, c->vectors)),
                                                         c->cluster)),
                                    32);
    c->resident = max_i64(8,
                          c->cluster == 1
                              ? sm_count
                              : (c->cluster == 2
                                     ? floordiv_i64(&overflow, mul_i64(&overflow, sm_count, c->threads <= 320 ? 3 : 1),
                                                    2)
                                     : floordiv_i64(&overflow,
                                                    floordiv_i64(&overflow, mul_i64(&overflow, sm_count, 7), 8),
                                                    c->cluster)));
    c->groups = c->cluster > 1
                    ? 1
                    : max_i64(1,
                              min_i64(min_i64(floordiv_i64(&overflow,
                                                           c->threads <= 32 ? min_i64(c->limit, 896) : c->limit,
                                                           c->threads),
                                              c->threads <= 32 ? 1024 : 15),
                                      ceil_div_i64(&overflow, c->rows, c->resident)));
    c->blocks = c->runs == 1
                    ? c->run_blocks
                    : ceil_div_i64(&overflow, c->rows,
                                   mul_i64(&overflow, c->groups,
                                           max_i64(1,
                                                   ceil_div_i64(&overflow, c->rows,
                                                                mul_i64(&overflow, c->groups, c->resident)))));
    c->step = max_i64(1,
                      c->whole == 1 || mul_i64(&overflow, c->blocks, c->groups) < 8
                          ? mul_i64(&overflow, c->blocks, c->groups)
                          : mul_i64(&overflow, floordiv_i64(&overflow, mul_i64(&overflow, c->blocks, c->groups), 8),
                                    8));
    c->rounds = ceil_div_i64(&overflow, c->rows, c->step);
    c->partial_size[0] = c->blocks;
    c->partial_size[1] = c->columns;
    CHECK(e, !overflow, "the sizes of launch and scratch: a number leaves 64 bits or is divided by zero");
    s.dim = 0;
    if (!shape_add(e, &s, c->partial_size, 2) ||
        !tensor_empty(e, &f->t.partial, "partial", &s, dtype_acc(f->d.T), f->t.grad_y.device)) {
        return false;
    }
    return true;
}

static bool rms_norm_backward_pointers(error *e, rms_norm_backward_frame *f) {
    return tensor_const_data(e, &f->t.grad_y, &f->call.grad_y) &&
           tensor_const_data(e, &f->t.x, &f->call.x) &&
           tensor_const_data(e, &f->t.weight, &f->call.weight) &&
           tensor_const_data(e, &f->t.rstd, &f->call.rstd) &&
           tensor_mutable_data(e, &f->t.grad_x, &f->call.grad_x) &&
           tensor_mutable_data(e, &f->t.grad_weight, &f->call.grad_weight) &&
           tensor_mutable_data(e, &f->t.partial, &f->call.partial);
}

CPU_DECLARE(rms_norm_backward_rows__float64)
CPU_DECLARE(rms_norm_backward_rows__float32)
CPU_DECLARE(rms_norm_backward_rows__float16)
CPU_DECLARE(rms_norm_backward_rows__bfloat16)
CPU_DECLARE(rms_norm_backward_columns__float64)
CPU_DECLARE(rms_norm_backward_columns__float32)
CPU_DECLARE(rms_norm_backward_columns__float16)
CPU_DECLARE(rms_norm_backward_columns__bfloat16)

static bool rms_norm_backward_cpu(error *e, rms_norm_backward_frame *f) {
    static const cpu_kernels rms_norm_backward_rows_kernels[4] = {
        CPU_KERNELS(rms_norm_backward_rows__float64),
        CPU_KERNELS(rms_norm_backward_rows__float32),
        CPU_KERNELS(rms_norm_backward_rows__float16),
        CPU_KERNELS(rms_norm_backward_rows__bfloat16),
    };
    static const cpu_kernels rms_norm_backward_columns_kernels[4] = {
        CPU_KERNELS(rms_norm_backward_columns__float64),
        CPU_KERNELS(rms_norm_backward_columns__float32),
        CPU_KERNELS(rms_norm_backward_columns__float16),
        CPU_KERNELS(rms_norm_backward_columns__bfloat16),
    };
    cpu_plan plans[2] = {0};
    if (!rms_norm_backward_prepare(e, f, 0, 0, 32) ||
        !rms_norm_backward_pointers(e, f)) {
        return false;
    }
    const rms_norm_backward_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.grad_y) +
                          tensor_bytes(&f->t.x) +
                          tensor_bytes(&f->t.weight) +
                          tensor_bytes(&f->t.rstd) +
                          tensor_bytes(&f->t.grad_x) +
                          tensor_bytes(&f->t.grad_weight) +
                          tensor_bytes(&f->t.partial);
    const int T_index = index_of_T(f->d.T);
    plans[0] = (cpu_plan){&rms_norm_backward_rows_kernels[T_index], c->blocks};
    {
        bool overflow = false;
        if (f->mask[1] && c->few == 0) {
            plans[1] = (cpu_plan){&rms_norm_backward_columns_kernels[T_index], ceil_div_i64(&overflow, c->n, 32)};
        }
        CHECK(e, !overflow, "units of rms_norm_backward_columns: a number leaves 64 bits or is divided by zero");
    }
    if (cpu_any_empty(plans, 2) && !rms_norm_backward_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 2, c, bytes);
}

extern const unsigned char rms_norm_backward_fatbin_0[];
extern const unsigned char rms_norm_backward_fatbin_1[];

static cuda_module modules[] = {
    {.image = rms_norm_backward_fatbin_0},
    {.image = rms_norm_backward_fatbin_1},
};

/* The first launch shape of the spec whose condition holds. */
static bool rms_norm_backward_rows_plan(error *e, const rms_norm_backward_frame *f, const cuda_scope *scope,
                                        cuda_plan *plan) {
    static cuda_kernel kernels[6][4] = {
        {
            {0},
            {.name = "rms_norm_backward_rows__float32__0", .module = &modules[0]},
            {.name = "rms_norm_backward_rows__float16__0", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__bfloat16__0", .module = &modules[0]},
        },
        {
            {0},
            {.name = "rms_norm_backward_rows__float32__1", .module = &modules[0]},
            {.name = "rms_norm_backward_rows__float16__1", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__bfloat16__1", .module = &modules[0]},
        },
        {
            {0},
            {.name = "rms_norm_backward_rows__float32__2", .module = &modules[0]},
            {.name = "rms_norm_backward_rows__float16__2", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__bfloat16__2", .module = &modules[0]},
        },
        {
            {.name = "rms_norm_backward_rows__float64__3", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__float32__3", .module = &modules[0]},
            {.name = "rms_norm_backward_rows__float16__3", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__bfloat16__3", .module = &modules[0]},
        },
        {
            {.name = "rms_norm_backward_rows__float64__4", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__float32__4", .module = &modules[0]},
            {.name = "rms_norm_backward_rows__float16__4", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__bfloat16__4", .module = &modules[0]},
        },
        {
            {.name = "rms_norm_backward_rows__float64__5", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__float32__5", .module = &modules[0]},
            {.name = "rms_norm_backward_rows__float16__5", .module = &modules[1]},
            {.name = "rms_norm_backward_rows__bfloat16__5", .module = &modules[0]},
        },
    };
    (void)scope;
    const rms_norm_backward_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    if (c->few == 1 && dtype_size(f->d.T) <= 4 &&
        (aligned_to(c->grad_y, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->x, 16) &&
         aligned_to(c->weight, 16) && aligned_to(c->rstd, 16) && aligned_to(c->grad_x, 16) &&
         aligned_to(c->grad_weight, 16))) {
        plan->kernel = &kernels[0][T_index];
        plan->launch = (cuda_launch){
            .grid = {add_i64(&overflow, c->rows,
                             ceil_div_i64(&overflow, c->n, floordiv_i64(&overflow, 128, dtype_size(f->d.T)))),
                     1, 1},
            .block = {max_i64(256, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)), 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->vectors == 1 &&
               (aligned_to(c->grad_y, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->x, 16) &&
                aligned_to(c->weight, 16) && aligned_to(c->rstd, 16) && aligned_to(c->grad_x, 16) &&
                aligned_to(c->grad_weight, 16))) {
        plan->kernel = &kernels[1][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->blocks, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, mul_i64(&overflow, c->threads, c->groups), 32), 1, 1},
            .shared = mul_i64(&overflow, 80, round_up_i64(&overflow, mul_i64(&overflow, c->threads, c->groups), 32)),
            .cluster = {c->cluster, 1, 1},
        };
    } else if (dtype_size(f->d.T) <= 4 && c->vectors == 2 &&
               (aligned_to(c->grad_y, 16) && c->n * dtype_size(f->d.T) % 16 == 0 && aligned_to(c->x, 16) &&
                aligned_to(c->weight, 16) && aligned_to(c->rstd, 16) && aligned_to(c->grad_x, 16) &&
                aligned_to(c->grad_weight, 16))) {
        plan->kernel = &kernels[2][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->blocks, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, mul_i64(&overflow, c->threads, c->groups), 32), 1, 1},
            .shared = mul_i64(&overflow, 160, round_up_i64(&overflow, mul_i64(&overflow, c->threads, c->groups), 32)),
            .cluster = {c->cluster, 1, 1},
        };
    } else if (c->runs == 1) {
        plan->kernel = &kernels[3][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->blocks, 1, 1},
            .block = {min_i64(512, round_up_i64(&overflow, c->slab, 32)), 1, 1},
            .shared = max_i64(mul_i64(&overflow, mul_i64(&overflow, 2, max_i64(4, dtype_size(f->d.T))),
                                      add_i64(&overflow, c->slab, mul_i64(&overflow, 2, c->slab_rows))),
                              mul_i64(&overflow,
                                      mul_i64(&overflow, c->slab, floordiv_i64(&overflow, 16, dtype_size(f->d.T))),
                                      max_i64(4, dtype_size(f->d.T)))),
        };
    } else if (c->vectors > 0) {
        plan->kernel = &kernels[4][T_index];
        plan->launch = (cuda_launch){
            .grid = {mul_i64(&overflow, c->blocks, c->cluster), 1, 1},
            .block = {round_up_i64(&overflow, mul_i64(&overflow, c->threads, c->groups), 32), 1, 1},
            .shared = mul_i64(&overflow, 160, round_up_i64(&overflow, mul_i64(&overflow, c->threads, c->groups), 32)),
            .cluster = {c->cluster, 1, 1},
        };
    } else {
        plan->kernel = &kernels[5][T_index];
        plan->launch = (cuda_launch){
            .grid = {c->few == 1 ? add_i64(&overflow, c->rows, ceil_div_i64(&overflow, c->n, 32)) : c->blocks, 1, 1},
            .block = {c->few == 1
                          ? min_i64(1024,
                                    max_i64(512, round_up_i64(&overflow, ceil_div_i64(&overflow, c->span, 16), 32)))
                          : 1024,
                      1, 1},
        };
    }
    CHECK(e, !overflow, "launch of rms_norm_backward_rows: a number leaves 64 bits or is divided by zero");
    return true;
}

/* The first launch shape of the spec whose condition holds. */
static bool rms_norm_backward_columns_plan(error *e, const rms_norm_backward_frame *f, const cuda_scope *scope,
                                           cuda_plan *plan) {
    static cuda_kernel kernels[1][4] = {
        {
            {.name = "rms_norm_backward_columns__float64__0", .module = &modules[1]},
            {.name = "rms_norm_backward_columns__float32__0", .module = &modules[0]},
            {.name = "rms_norm_backward_columns__float16__0", .module = &modules[1]},
            {.name = "rms_norm_backward_columns__bfloat16__0", .module = &modules[0]},
        },
    };
    (void)scope;
    const rms_norm_backward_call *const c = &f->call;
    if (!(f->mask[1] && c->few == 0)) {
        return true;
    }
    const int T_index = index_of_T(f->d.T);
    bool overflow = false;
    plan->kernel = &kernels[0][T_index];
    plan->launch = (cuda_launch){
        .grid = {ceil_div_i64(&overflow, c->n, 32), 1, 1},
        .block = {256, 1, 1},
    };
    CHECK(e, !overflow, "launch of rms_norm_backward_columns: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool rms_norm_backward_cuda(error *e, rms_norm_backward_frame *f, const cuda_scope *scope) {
    cuda_plan plans[2] = {0};
    if (!rms_norm_backward_prepare(e, f, scope->arch, scope->max_shared, scope->sm_count) ||
        !rms_norm_backward_pointers(e, f) ||
        !rms_norm_backward_rows_plan(e, f, scope, &plans[0]) ||
        !rms_norm_backward_columns_plan(e, f, scope, &plans[1])) {
        return false;
    }
    if (cuda_any_empty(plans, 2) && !rms_norm_backward_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 2, &f->call);
}

/* On the device of the tensors. */
static bool rms_norm_backward_execute(error *e, rms_norm_backward_frame *f) {
    if (on_cuda(&f->t.grad_y)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.grad_y.device.index, &scope)) {
            return false;
        }
        const bool ok = rms_norm_backward_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return rms_norm_backward_cpu(e, f);
}

static bool rms_norm_backward_run(error *e, rms_norm_backward_frame *f) {
    if (!rms_norm_backward_check(e, f)) {
        return false;
    }
    if (!rms_norm_backward_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.grad_y) ||
        !tensor_make_contiguous(e, &f->t.x) ||
        !tensor_make_contiguous(e, &f->t.weight) ||
        !tensor_make_contiguous(e, &f->t.rstd)) {
        return false;
    }
    if (rms_norm_backward_nothing_to_do(f)) {
        return true;
    }
    return rms_norm_backward_execute(e, f);
}

void rms_norm_backward_direct(error *e, StableIValue *stack) {
    rms_norm_backward_frame f = {0};
    error_begin(e, "my_ops::rms_norm_backward");
    tensor_take(&f.t.grad_y, stack[0]);
    tensor_take(&f.t.x, stack[1]);
    if (take_optional(&stack[2])) {
        tensor_take(&f.t.weight, stack[2]);
    }
    tensor_take(&f.t.rstd, stack[3]);
    f.call.offset = take_float(stack[4]);
    take_mask(e, stack[5], "grad_mask", f.mask, 2);
    if (!e->set) {
        rms_norm_backward_run(e, &f);
    }
    tensor_release(e, &f.t.grad_y);
    tensor_release(e, &f.t.x);
    tensor_release(e, &f.t.weight);
    tensor_release(e, &f.t.rstd);
    tensor_release(e, &f.t.partial);
    tensor_define(e, &f.t.grad_x);
    tensor_define(e, &f.t.grad_weight);
    tensor_give(e, &f.t.grad_x, &stack[0]);
    tensor_give(e, &f.t.grad_weight, &stack[1]);
}

void rms_norm_backward_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    rms_norm_backward_direct(&e, stack);
    error_raise(&e);
}
