/* my_ops::gather_rows(Tensor table, Tensor index) -> Tensor
 *
 * Rows of table picked by index.
 */
#include "gather_rows_call.h"

#include "host.h"
#include "operators.h"

typedef struct gather_rows_frame {
    struct {
        tensor table;
        tensor index;
        tensor y;
    } t; /* tensors */
    struct {
        given_output y;
    } o; /* outputs that the caller gives */
    struct {
        tensor index;
    } h; /* copies on the host of what rules on elements look at on a GPU */
    struct {
        dtype T;
        dtype I;
    } d; /* what the dtype variables stand for */
    gather_rows_call call;
} gather_rows_frame;

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
    case DTYPE_UINT8:
        return 4;
    case DTYPE_INT8:
        return 5;
    case DTYPE_INT16:
        return 6;
    case DTYPE_INT32:
        return 7;
    case DTYPE_INT64:
        return 8;
    case DTYPE_BOOL:
        return 9;
    case DTYPE_COMPLEX64:
        return 10;
    case DTYPE_COMPLEX128:
        return 11;
    default:
        return -1;
    }
}

/* The place of a dtype in the kernel tables below, -1 when I does not allow it. */
static int index_of_I(dtype d) {
    switch (d) {
    case DTYPE_INT32:
        return 0;
    case DTYPE_INT64:
        return 1;
    default:
        return -1;
    }
}

/* All that can be told without looking at elements; also gives the names of the spec their values. */
static bool gather_rows_check(error *e, gather_rows_frame *f) {
    gather_rows_call *const c = &f->call;
    if (!tensor_read(e, &f->t.table, "table") ||
        !tensor_read(e, &f->t.index, "index")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.table.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0,
          "table: expected dtype float64, float32, float16, bfloat16, uint8, int8, int16, int32, int64, bool, complex64 or complex128, got %s",
          dtype_name(f->t.table.dtype));
    f->d.I = f->t.index.dtype;
    CHECK(e, index_of_I(f->d.I) >= 0, "index: expected dtype int32 or int64, got %s", dtype_name(f->t.index.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.index, &f->t.table), "index: expected device %s (as table), got %s",
          device_text(e, &f->t.table), device_text(e, &f->t.index));
    /* shapes */
    CHECK(e, f->t.table.dim == 2, "table: expected 2 dimensions, got %" PRId64, f->t.table.dim);
    c->m = f->t.table.sizes[0];
    c->n = f->t.table.sizes[1];
    CHECK(e, f->t.index.dim == 1, "index: expected 1 dimension, got %" PRId64, f->t.index.dim);
    c->k = f->t.index.sizes[0];
    return true;
}

/* Rules on elements: of CPU tensors, and in checking mode of those of a GPU, for which that waits. */
static bool gather_rows_values(error *e, gather_rows_frame *f) {
    const gather_rows_call *const c = &f->call;
    /* 0 <= index < m */
    if (values_visible(&f->t.index)) {
        const tensor *const seen = values_seen(e, "index", &f->t.index, &f->h.index);
        const void *data;
        if (seen == NULL || !tensor_const_data(e, seen, &data)) {
            return false;
        }
        integer_range range = integer_range_all();
        integer_range_limit(&range, AT_LEAST, 0);
        integer_range_limit(&range, BELOW, c->m);
        const int64_t i = integers_outside(seen, data, ALL_COLUMNS, &range);
        CHECK(e, i < 0, "index: expected 0 <= index < m with m = %" PRId64 ", got index%s = %s", c->m,
              index_text(e, &f->t.index, i), element_text(e, seen, data, i));
    }
    return true;
}

/* The outputs that are wanted. */
static bool gather_rows_allocate(error *e, gather_rows_frame *f) {
    const gather_rows_call *const c = &f->call;
    shape s;
    if (given(&f->o.y.tensor)) {
        s.dim = 0;
        if (!shape_add_dim(e, &s, c->k) ||
            !shape_add_dim(e, &s, c->n) ||
            !output_check(e, &f->o.y, &s, f->d.T, f->t.table.device)) {
            return false;
        }
    } else {
        s.dim = 0;
        if (!shape_add_dim(e, &s, c->k) ||
            !shape_add_dim(e, &s, c->n) ||
            !tensor_empty(e, &f->t.y, "y", &s, f->d.T, f->t.table.device)) {
            return false;
        }
    }
    if (given(&f->o.y.tensor)) {
        const named_tensors all[] = {
            named_tensor("table", &f->t.table),
            named_tensor("index", &f->t.index),
            named_output(&f->o.y),
        };
        if (!outputs_keep_apart(e, all, 2, 3)) {
            return false;
        }
        if (!output_place(&f->t.y, &f->o.y)) {
            s.dim = 0;
            if (!shape_add_dim(e, &s, c->k) ||
                !shape_add_dim(e, &s, c->n) ||
                !tensor_empty(e, &f->t.y, "y", &s, f->d.T, f->t.table.device)) {
                return false;
            }
        }
    }
    return true;
}

static bool gather_rows_nothing_to_do(const gather_rows_frame *f) {
    return f->t.y.numel == 0;
}

/* What has no value to start at is zero when a kernel has nothing to run on. */
static bool gather_rows_zero(error *e, const gather_rows_frame *f) {
    return tensor_zero(e, &f->t.y);
}

static bool gather_rows_pointers(error *e, gather_rows_frame *f) {
    return tensor_const_data(e, &f->t.table, &f->call.table) &&
           tensor_const_data(e, &f->t.index, &f->call.index) &&
           tensor_mutable_data(e, &f->t.y, &f->call.y);
}

CPU_DECLARE(gather_rows__float64_int32)
CPU_DECLARE(gather_rows__float64_int64)
CPU_DECLARE(gather_rows__float32_int32)
CPU_DECLARE(gather_rows__float32_int64)
CPU_DECLARE(gather_rows__float16_int32)
CPU_DECLARE(gather_rows__float16_int64)
CPU_DECLARE(gather_rows__bfloat16_int32)
CPU_DECLARE(gather_rows__bfloat16_int64)
CPU_DECLARE(gather_rows__uint8_int32)
CPU_DECLARE(gather_rows__uint8_int64)
CPU_DECLARE(gather_rows__int8_int32)
CPU_DECLARE(gather_rows__int8_int64)
CPU_DECLARE(gather_rows__int16_int32)
CPU_DECLARE(gather_rows__int16_int64)
CPU_DECLARE(gather_rows__int32_int32)
CPU_DECLARE(gather_rows__int32_int64)
CPU_DECLARE(gather_rows__int64_int32)
CPU_DECLARE(gather_rows__int64_int64)
CPU_DECLARE(gather_rows__bool_int32)
CPU_DECLARE(gather_rows__bool_int64)
CPU_DECLARE(gather_rows__complex64_int32)
CPU_DECLARE(gather_rows__complex64_int64)
CPU_DECLARE(gather_rows__complex128_int32)
CPU_DECLARE(gather_rows__complex128_int64)

static bool gather_rows_cpu(error *e, gather_rows_frame *f) {
    static const cpu_kernels gather_rows_kernels[12][2] = {
        {
            CPU_KERNELS(gather_rows__float64_int32),
            CPU_KERNELS(gather_rows__float64_int64),
        },
        {
            CPU_KERNELS(gather_rows__float32_int32),
            CPU_KERNELS(gather_rows__float32_int64),
        },
        {
            CPU_KERNELS(gather_rows__float16_int32),
            CPU_KERNELS(gather_rows__float16_int64),
        },
        {
            CPU_KERNELS(gather_rows__bfloat16_int32),
            CPU_KERNELS(gather_rows__bfloat16_int64),
        },
        {
            CPU_KERNELS(gather_rows__uint8_int32),
            CPU_KERNELS(gather_rows__uint8_int64),
        },
        {
            CPU_KERNELS(gather_rows__int8_int32),
            CPU_KERNELS(gather_rows__int8_int64),
        },
        {
            CPU_KERNELS(gather_rows__int16_int32),
            CPU_KERNELS(gather_rows__int16_int64),
        },
        {
            CPU_KERNELS(gather_rows__int32_int32),
            CPU_KERNELS(gather_rows__int32_int64),
        },
        {
            CPU_KERNELS(gather_rows__int64_int32),
            CPU_KERNELS(gather_rows__int64_int64),
        },
        {
            CPU_KERNELS(gather_rows__bool_int32),
            CPU_KERNELS(gather_rows__bool_int64),
        },
        {
            CPU_KERNELS(gather_rows__complex64_int32),
            CPU_KERNELS(gather_rows__complex64_int64),
        },
        {
            CPU_KERNELS(gather_rows__complex128_int32),
            CPU_KERNELS(gather_rows__complex128_int64),
        },
    };
    cpu_plan plans[1] = {0};
    if (!gather_rows_pointers(e, f)) {
        return false;
    }
    const gather_rows_call *const c = &f->call;
    const int64_t bytes = tensor_bytes(&f->t.table) +
                          tensor_bytes(&f->t.index) +
                          tensor_bytes(&f->t.y);
    const int T_index = index_of_T(f->d.T);
    const int I_index = index_of_I(f->d.I);
    plans[0] = (cpu_plan){&gather_rows_kernels[T_index][I_index], c->k};
    if (cpu_any_empty(plans, 1) && !gather_rows_zero(e, f)) {
        return false;
    }
    return cpu_run(e, plans, 1, c, bytes);
}

extern const unsigned char gather_rows_fatbin_0[];
extern const unsigned char gather_rows_fatbin_1[];
extern const unsigned char gather_rows_fatbin_2[];
extern const unsigned char gather_rows_fatbin_3[];

static cuda_module modules[] = {
    {.image = gather_rows_fatbin_0},
    {.image = gather_rows_fatbin_1},
    {.image = gather_rows_fatbin_2},
    {.image = gather_rows_fatbin_3},
};

/* The first launch shape of the spec whose condition holds. */
static bool gather_rows_plan(error *e, const gather_rows_frame *f, const cuda_scope *scope, cuda_plan *plan) {
    static cuda_kernel kernels[2][12][2] = {
        {
            {
                {.name = "gather_rows__float64_int32__0", .module = &modules[0]},
                {.name = "gather_rows__float64_int64__0", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__float32_int32__0", .module = &modules[2]},
                {.name = "gather_rows__float32_int64__0", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__float16_int32__0", .module = &modules[0]},
                {.name = "gather_rows__float16_int64__0", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__bfloat16_int32__0", .module = &modules[2]},
                {.name = "gather_rows__bfloat16_int64__0", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__uint8_int32__0", .module = &modules[0]},
                {.name = "gather_rows__uint8_int64__0", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__int8_int32__0", .module = &modules[2]},
                {.name = "gather_rows__int8_int64__0", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__int16_int32__0", .module = &modules[0]},
                {.name = "gather_rows__int16_int64__0", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__int32_int32__0", .module = &modules[2]},
                {.name = "gather_rows__int32_int64__0", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__int64_int32__0", .module = &modules[0]},
                {.name = "gather_rows__int64_int64__0", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__bool_int32__0", .module = &modules[2]},
                {.name = "gather_rows__bool_int64__0", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__complex64_int32__0", .module = &modules[0]},
                {.name = "gather_rows__complex64_int64__0", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__complex128_int32__0", .module = &modules[2]},
                {.name = "gather_rows__complex128_int64__0", .module = &modules[3]},
            },
        },
        {
            {
                {.name = "gather_rows__float64_int32__1", .module = &modules[0]},
                {.name = "gather_rows__float64_int64__1", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__float32_int32__1", .module = &modules[2]},
                {.name = "gather_rows__float32_int64__1", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__float16_int32__1", .module = &modules[0]},
                {.name = "gather_rows__float16_int64__1", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__bfloat16_int32__1", .module = &modules[2]},
                {.name = "gather_rows__bfloat16_int64__1", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__uint8_int32__1", .module = &modules[0]},
                {.name = "gather_rows__uint8_int64__1", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__int8_int32__1", .module = &modules[2]},
                {.name = "gather_rows__int8_int64__1", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__int16_int32__1", .module = &modules[0]},
                {.name = "gather_rows__int16_int64__1", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__int32_int32__1", .module = &modules[2]},
                {.name = "gather_rows__int32_int64__1", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__int64_int32__1", .module = &modules[0]},
                {.name = "gather_rows__int64_int64__1", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__bool_int32__1", .module = &modules[2]},
                {.name = "gather_rows__bool_int64__1", .module = &modules[3]},
            },
            {
                {.name = "gather_rows__complex64_int32__1", .module = &modules[0]},
                {.name = "gather_rows__complex64_int64__1", .module = &modules[1]},
            },
            {
                {.name = "gather_rows__complex128_int32__1", .module = &modules[2]},
                {.name = "gather_rows__complex128_int64__1", .module = &modules[3]},
            },
        },
    };
    (void)scope;
    const gather_rows_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    const int I_index = index_of_I(f->d.I);
    bool overflow = false;
    if ((aligned_to(c->table, 16) && c->n * dtype_size(f->d.T) % 16 == 0) &&
        (aligned_to(c->y, 16) && c->n * dtype_size(f->d.T) % 16 == 0)) {
        plan->kernel = &kernels[0][T_index][I_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, mul_i64(&overflow, mul_i64(&overflow, c->k, c->n), dtype_size(f->d.T)),
                                  8192),
                     1, 1},
            .block = {256, 1, 1},
        };
    } else {
        plan->kernel = &kernels[1][T_index][I_index];
        plan->launch = (cuda_launch){
            .grid = {ceil_div_i64(&overflow, mul_i64(&overflow, mul_i64(&overflow, c->k, c->n), dtype_size(f->d.T)),
                                  8192),
                     1, 1},
            .block = {256, 1, 1},
        };
    }
    CHECK(e, !overflow, "launch of gather_rows: a number leaves 64 bits or is divided by zero");
    return true;
}

static bool gather_rows_cuda(error *e, gather_rows_frame *f, const cuda_scope *scope) {
    cuda_plan plans[1] = {0};
    if (!gather_rows_pointers(e, f) ||
        !gather_rows_plan(e, f, scope, &plans[0])) {
        return false;
    }
    if (cuda_any_empty(plans, 1) && !gather_rows_zero(e, f)) {
        return false;
    }
    return cuda_run(e, scope, plans, 1, &f->call);
}

/* On the device of the tensors. */
static bool gather_rows_execute(error *e, gather_rows_frame *f) {
    if (on_cuda(&f->t.table)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.table.device.index, &scope)) {
            return false;
        }
        const bool ok = gather_rows_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return gather_rows_cpu(e, f);
}

static bool gather_rows_run(error *e, gather_rows_frame *f) {
    if (!gather_rows_check(e, f)) {
        return false;
    }
    if (!gather_rows_values(e, f)) {
        return false;
    }
    if (!gather_rows_allocate(e, f)) {
        return false;
    }
    if (!tensor_make_contiguous(e, &f->t.table) ||
        !tensor_make_contiguous(e, &f->t.index)) {
        return false;
    }
    if (gather_rows_nothing_to_do(f)) {
        return true;
    }
    return gather_rows_execute(e, f) &&
           output_return(e, &f->t.y, &f->o.y);
}

void gather_rows_direct(error *e, StableIValue *stack) {
    gather_rows_frame f = {0};
    error_begin(e, "my_ops::gather_rows");
    tensor_take(&f.t.table, stack[0]);
    tensor_take(&f.t.index, stack[1]);
    gather_rows_run(e, &f);
    tensor_release(e, &f.t.table);
    tensor_release(e, &f.t.index);
    tensor_release(e, &f.h.index);
    tensor_give(e, &f.t.y, &stack[0]);
}

void gather_rows_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    gather_rows_direct(&e, stack);
    error_raise(&e);
}

void gather_rows__out_direct(error *e, StableIValue *stack) {
    gather_rows_frame f = {0};
    error_begin(e, "my_ops::gather_rows");
    tensor_take(&f.t.table, stack[0]);
    tensor_take(&f.t.index, stack[1]);
    output_take(&f.o.y, stack[2], "out");
    gather_rows_run(e, &f);
    tensor_release(e, &f.t.table);
    tensor_release(e, &f.t.index);
    tensor_release(e, &f.h.index);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.o.y.tensor);
}
