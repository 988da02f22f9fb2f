/* my_ops::silu_mul(Tensor gate, Tensor up) -> Tensor
 *
 * silu(gate) * up, the gated activation of SwiGLU.
 */
#include "silu_mul_call.h"

#include "host.h"
#include "operators.h"

typedef struct silu_mul_frame {
    struct {
        tensor gate;
        tensor up;
        tensor y;
    } t; /* tensors */
    struct {
        given_output y;
    } o; /* outputs that the caller gives */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    silu_mul_call call;
} silu_mul_frame;

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
static bool silu_mul_check(error *e, silu_mul_frame *f) {
    silu_mul_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.gate, "gate") ||
        !tensor_read(e, &f->t.up, "up")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.gate.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "gate: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.gate.dtype));
    CHECK(e, f->t.up.dtype == f->d.T, "up: expected dtype %s (as gate), got %s", dtype_name(f->t.gate.dtype),
          dtype_name(f->t.up.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.up, &f->t.gate), "up: expected device %s (as gate), got %s", device_text(e, &f->t.gate),
          device_text(e, &f->t.up));
    /* shapes */
    c->shape = product_i64(&overflow, f->t.gate.sizes, f->t.gate.dim);
    CHECK(e, !overflow, "gate: the product of shape does not fit 64-bit integers");
    CHECK(e, same_sizes(f->t.up.sizes, f->t.up.dim, f->t.gate.sizes, f->t.gate.dim),
          "up: expected shape [*shape] with shape = %s (from gate), got %s",
          sizes_text(e, f->t.gate.sizes, f->t.gate.dim), shape_text(e, &f->t.up));
    return true;
}

/* The outputs that are wanted. */
static bool silu_mul_allocate(error *e, silu_mul_frame *f) {
    shape s;
    if (given(&f->o.y.tensor)) {
        s.dim = 0;
        if (!shape_add(e, &s, f->t.gate.sizes, f->t.gate.dim) ||
            !output_check(e, &f->o.y, &s, f->d.T, f->t.gate.device)) {
            return false;
        }
    } else {
        if (!tensor_empty_like(e, &f->t.y, &f->t.gate, f->d.T, f->t.gate.device)) {
            return false;
        }
    }
    if (given(&f->o.y.tensor)) {
        const named_tensors all[] = {
            named_tensor("gate", &f->t.gate),
            named_tensor("up", &f->t.up),
            named_output(&f->o.y),
        };
        if (!outputs_keep_apart(e, all, 2, 3)) {
            return false;
        }
        if (!tensor_empty_like(e, &f->t.y, &f->t.gate, f->d.T, f->t.gate.device)) {
            return false;
        }
    }
    return true;
}

static bool silu_mul_nothing_to_do(const silu_mul_frame *f) {
    return f->t.y.numel == 0;
}

static bool silu_mul_pointers(error *e, silu_mul_frame *f) {
    return tensor_const_data(e, &f->t.gate, &f->call.gate) &&
           tensor_const_data(e, &f->t.up, &f->call.up) &&
           tensor_mutable_data(e, &f->t.y, &f->call.y);
}

/* The sizes that the loops run over, and the strides of each operand in them. */
static bool silu_mul_space(error *e, silu_mul_frame *f, elementwise_space *space) {
    silu_mul_call *const c = &f->call;
    const elementwise_operand operands[] = {
        {.t = &f->t.gate, .data = &c->gate},
        {.t = &f->t.up, .data = &c->up},
        {.t = &f->t.y, .data = &c->y},
    };
    shape s = {.dim = 0};
    if (!shape_add(e, &s, f->t.gate.sizes, f->t.gate.dim)) {
        return false;
    }
    elementwise_begin(space, &s, operands, 3, 2, &c->layout__, c->stride__);
    return true;
}

CPU_DECLARE(silu_mul__float64)
CPU_DECLARE(silu_mul__float32)
CPU_DECLARE(silu_mul__float16)
CPU_DECLARE(silu_mul__bfloat16)

static bool silu_mul_cpu(error *e, silu_mul_frame *f) {
    static const cpu_kernels kernels[4] = {
        CPU_KERNELS(silu_mul__float64),
        CPU_KERNELS(silu_mul__float32),
        CPU_KERNELS(silu_mul__float16),
        CPU_KERNELS(silu_mul__bfloat16),
    };
    elementwise_space space;
    if (!silu_mul_pointers(e, f) ||
        !silu_mul_space(e, f, &space)) {
        return false;
    }
    const silu_mul_call *const c = &f->call;
    const int64_t bytes =
        tensor_bytes(&f->t.gate) +
        tensor_bytes(&f->t.up) +
        tensor_bytes(&f->t.y);
    const int T_index = index_of_T(f->d.T);
    do {
        const cpu_plan plan = {&kernels[T_index], elementwise_units(&c->layout__)};
        if (!cpu_run(e, &plan, 1, c, bytes)) {
            return false;
        }
    } while (elementwise_next(&space));
    return true;
}

extern const unsigned char silu_mul_fatbin_0[];

_Static_assert(sizeof(silu_mul_call) <= CUDA_ARGUMENT_BYTES, "a launch is handed the call record itself");

static cuda_module module = {.image = silu_mul_fatbin_0};

static bool silu_mul_cuda(error *e, silu_mul_frame *f, const cuda_scope *scope) {
    static cuda_kernel kernels[ELEMENTWISE_KERNELS][4] = {
        [ELEMENTWISE_FLAT] = {
            {.name = "silu_mul__float64__flat", .module = &module},
            {.name = "silu_mul__float32__flat", .module = &module},
            {.name = "silu_mul__float16__flat", .module = &module},
            {.name = "silu_mul__bfloat16__flat", .module = &module},
        },
        [ELEMENTWISE_VECTORS] = {
            {.name = "silu_mul__float64__vectors", .module = &module},
            {.name = "silu_mul__float32__vectors", .module = &module},
            {.name = "silu_mul__float16__vectors", .module = &module},
            {.name = "silu_mul__bfloat16__vectors", .module = &module},
        },
        [ELEMENTWISE_CROSSED] = {
            {.name = "silu_mul__float64__crossed", .module = &module},
            {.name = "silu_mul__float32__crossed", .module = &module},
            {.name = "silu_mul__float16__crossed", .module = &module},
            {.name = "silu_mul__bfloat16__crossed", .module = &module},
        },
        [ELEMENTWISE_NARROW] = {
            {.name = "silu_mul__float64__narrow", .module = &module},
            {.name = "silu_mul__float32__narrow", .module = &module},
            {.name = "silu_mul__float16__narrow", .module = &module},
            {.name = "silu_mul__bfloat16__narrow", .module = &module},
        },
        [ELEMENTWISE_WIDE] = {
            {.name = "silu_mul__float64__wide", .module = &module},
            {.name = "silu_mul__float32__wide", .module = &module},
            {.name = "silu_mul__float16__wide", .module = &module},
            {.name = "silu_mul__bfloat16__wide", .module = &module},
        },
    };
    elementwise_space space;
    if (!silu_mul_pointers(e, f) ||
        !silu_mul_space(e, f, &space)) {
        return false;
    }
    silu_mul_call *const c = &f->call;
    const int T_index = index_of_T(f->d.T);
    do {
        cuda_plan plan;
        const int kernel = elementwise_launch(&space, &c->layout__, c->stride__, 16 / dtype_size(f->d.T), &plan.launch);
        plan.kernel = &kernels[kernel][T_index];
        if (!cuda_run(e, scope, &plan, 1, c)) {
            return false;
        }
    } while (elementwise_next(&space));
    return true;
}

/* On the device of the tensors. */
static bool silu_mul_execute(error *e, silu_mul_frame *f) {
    if (on_cuda(&f->t.gate)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.gate.device.index, &scope)) {
            return false;
        }
        const bool ok = silu_mul_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return silu_mul_cpu(e, f);
}

static bool silu_mul_run(error *e, silu_mul_frame *f) {
    if (!silu_mul_check(e, f)) {
        return false;
    }
    if (!silu_mul_allocate(e, f)) {
        return false;
    }
    if (silu_mul_nothing_to_do(f)) {
        return true;
    }
    return silu_mul_execute(e, f) &&
           output_return(e, &f->t.y, &f->o.y);
}

void silu_mul_direct(error *e, StableIValue *stack) {
    silu_mul_frame f = {0};
    error_begin(e, "my_ops::silu_mul");
    tensor_take(&f.t.gate, stack[0]);
    tensor_take(&f.t.up, stack[1]);
    silu_mul_run(e, &f);
    tensor_release(e, &f.t.gate);
    tensor_release(e, &f.t.up);
    tensor_give(e, &f.t.y, &stack[0]);
}

void silu_mul_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    silu_mul_direct(&e, stack);
    error_raise(&e);
}

void silu_mul__out_direct(error *e, StableIValue *stack) {
    silu_mul_frame f = {0};
    error_begin(e, "my_ops::silu_mul");
    tensor_take(&f.t.gate, stack[0]);
    tensor_take(&f.t.up, stack[1]);
    output_take(&f.o.y, stack[2], "out");
    silu_mul_run(e, &f);
    tensor_release(e, &f.t.gate);
    tensor_release(e, &f.t.up);
    tensor_release(e, &f.t.y);
    tensor_release(e, &f.o.y.tensor);
}
