/* my_ops::gelu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)
 *
 * Gradient of gelu_mul_backward, derived from its lines.
 */
#include "gelu_mul_backward_backward_call.h"

#include "host.h"
#include "operators.h"

typedef struct gelu_mul_backward_backward_frame {
    struct {
        tensor grad_grad_gate;
        tensor grad_grad_up;
        tensor grad_y;
        tensor gate;
        tensor up;
        tensor grad_grad_y;
        tensor grad_gate;
        tensor grad_up;
    } t; /* tensors */
    struct {
        dtype T;
    } d; /* what the dtype variables stand for */
    struct {
        string approximate;
    } a; /* arguments that kernels do not see as they came */
    bool mask[3]; /* which outputs are wanted */
    gelu_mul_backward_backward_call call;
} gelu_mul_backward_backward_frame;

static const char *const gelu_mul_backward_backward__approximate_words[] = {
    "none",
    "tanh",
};

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
static bool gelu_mul_backward_backward_check(error *e, gelu_mul_backward_backward_frame *f) {
    gelu_mul_backward_backward_call *const c = &f->call;
    bool overflow = false;
    if (!tensor_read(e, &f->t.grad_grad_gate, "grad_grad_gate") ||
        !tensor_read(e, &f->t.grad_grad_up, "grad_grad_up") ||
        !tensor_read(e, &f->t.grad_y, "grad_y") ||
        !tensor_read(e, &f->t.gate, "gate") ||
        !tensor_read(e, &f->t.up, "up")) {
        return false;
    }
    /* dtypes */
    f->d.T = f->t.grad_grad_gate.dtype;
    CHECK(e, index_of_T(f->d.T) >= 0, "grad_grad_gate: expected dtype float64, float32, float16 or bfloat16, got %s",
          dtype_name(f->t.grad_grad_gate.dtype));
    CHECK(e, f->t.grad_grad_up.dtype == f->d.T, "grad_grad_up: expected dtype %s (as grad_grad_gate), got %s",
          dtype_name(f->t.grad_grad_gate.dtype), dtype_name(f->t.grad_grad_up.dtype));
    CHECK(e, f->t.grad_y.dtype == f->d.T, "grad_y: expected dtype %s (as grad_grad_gate), got %s",
          dtype_name(f->t.grad_grad_gate.dtype), dtype_name(f->t.grad_y.dtype));
    CHECK(e, f->t.gate.dtype == f->d.T, "gate: expected dtype %s (as grad_grad_gate), got %s",
          dtype_name(f->t.grad_grad_gate.dtype), dtype_name(f->t.gate.dtype));
    CHECK(e, f->t.up.dtype == f->d.T, "up: expected dtype %s (as grad_grad_gate), got %s",
          dtype_name(f->t.grad_grad_gate.dtype), dtype_name(f->t.up.dtype));
    /* devices */
    CHECK(e, same_device(&f->t.grad_grad_up, &f->t.grad_grad_gate),
          "grad_grad_up: expected device %s (as grad_grad_gate), got %s", device_text(e, &f->t.grad_grad_gate),
          device_text(e, &f->t.grad_grad_up));
    CHECK(e, same_device(&f->t.grad_y, &f->t.grad_grad_gate), "grad_y: expected device %s (as grad_grad_gate), got %s",
          device_text(e, &f->t.grad_grad_gate), device_text(e, &f->t.grad_y));
    CHECK(e, same_device(&f->t.gate, &f->t.grad_grad_gate), "gate: expected device %s (as grad_grad_gate), got %s",
          device_text(e, &f->t.grad_grad_gate), device_text(e, &f->t.gate));
    CHECK(e, same_device(&f->t.up, &f->t.grad_grad_gate), "up: expected device %s (as grad_grad_gate), got %s",
          device_text(e, &f->t.grad_grad_gate), device_text(e, &f->t.up));
    /* arguments */
    c->approximate = text_choice(&f->a.approximate, gelu_mul_backward_backward__approximate_words, 2);
    CHECK(e, c->approximate >= 0, "approximate: expected none or tanh, got %s", text_quoted(e, &f->a.approximate));
    /* shapes */
    c->shape = product_i64(&overflow, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim);
    CHECK(e, !overflow, "grad_grad_gate: the product of shape does not fit 64-bit integers");
    CHECK(e, same_sizes(f->t.grad_grad_up.sizes, f->t.grad_grad_up.dim, f->t.grad_grad_gate.sizes,
                        f->t.grad_grad_gate.dim),
          "grad_grad_up: expected shape [*shape] with shape = %s (from grad_grad_gate), got %s",
          sizes_text(e, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim), shape_text(e, &f->t.grad_grad_up));
    CHECK(e, same_sizes(f->t.grad_y.sizes, f->t.grad_y.dim, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim),
          "grad_y: expected shape [*shape] with shape = %s (from grad_grad_gate), got %s",
          sizes_text(e, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim), shape_text(e, &f->t.grad_y));
    CHECK(e, same_sizes(f->t.gate.sizes, f->t.gate.dim, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim),
          "gate: expected shape [*shape] with shape = %s (from grad_grad_gate), got %s",
          sizes_text(e, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim), shape_text(e, &f->t.gate));
    CHECK(e, same_sizes(f->t.up.sizes, f->t.up.dim, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim),
          "up: expected shape [*shape] with shape = %s (from grad_grad_gate), got %s",
          sizes_text(e, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim), shape_text(e, &f->t.up));
    return true;
}

/* The outputs that are wanted. */
static bool gelu_mul_backward_backward_allocate(error *e, gelu_mul_backward_backward_frame *f) {
    if (f->mask[0]) {
        if (!tensor_empty_like(e, &f->t.grad_grad_y, &f->t.grad_grad_gate, f->d.T, f->t.grad_grad_gate.device)) {
            return false;
        }
    }
    if (f->mask[1]) {
        if (!tensor_empty_like(e, &f->t.grad_gate, &f->t.grad_grad_gate, f->d.T, f->t.grad_grad_gate.device)) {
            return false;
        }
    }
    if (f->mask[2]) {
        if (!tensor_empty_like(e, &f->t.grad_up, &f->t.grad_grad_gate, f->d.T, f->t.grad_grad_gate.device)) {
            return false;
        }
    }
    return true;
}

static bool gelu_mul_backward_backward_nothing_to_do(const gelu_mul_backward_backward_frame *f) {
    return f->t.grad_grad_y.numel == 0 && f->t.grad_gate.numel == 0 && f->t.grad_up.numel == 0;
}

static bool gelu_mul_backward_backward_pointers(error *e, gelu_mul_backward_backward_frame *f) {
    return tensor_const_data(e, &f->t.grad_grad_gate, &f->call.grad_grad_gate) &&
           tensor_const_data(e, &f->t.grad_grad_up, &f->call.grad_grad_up) &&
           tensor_const_data(e, &f->t.grad_y, &f->call.grad_y) &&
           tensor_const_data(e, &f->t.gate, &f->call.gate) &&
           tensor_const_data(e, &f->t.up, &f->call.up) &&
           tensor_mutable_data(e, &f->t.grad_grad_y, &f->call.grad_grad_y) &&
           tensor_mutable_data(e, &f->t.grad_gate, &f->call.grad_gate) &&
           tensor_mutable_data(e, &f->t.grad_up, &f->call.grad_up);
}

/* The sizes that the loops run over, and the strides of each operand in them. */
static bool gelu_mul_backward_backward_space(error *e, gelu_mul_backward_backward_frame *f, elementwise_space *space) {
    gelu_mul_backward_backward_call *const c = &f->call;
    const elementwise_operand operands[] = {
        {.t = &f->t.grad_grad_gate, .data = &c->grad_grad_gate},
        {.t = &f->t.grad_grad_up, .data = &c->grad_grad_up},
        {.t = &f->t.grad_y, .data = &c->grad_y},
        {.t = &f->t.gate, .data = &c->gate},
        {.t = &f->t.up, .data = &c->up},
        {.t = &f->t.grad_grad_y, .data = &c->grad_grad_y},
        {.t = &f->t.grad_gate, .data = &c->grad_gate},
        {.t = &f->t.grad_up, .data = &c->grad_up},
    };
    shape s = {.dim = 0};
    if (!shape_add(e, &s, f->t.grad_grad_gate.sizes, f->t.grad_grad_gate.dim)) {
        return false;
    }
    elementwise_begin(space, &s, operands, 8, 5, &c->layout__, c->stride__);
    return true;
}

CPU_DECLARE(gelu_mul_backward_backward__float64)
CPU_DECLARE(gelu_mul_backward_backward__float32)
CPU_DECLARE(gelu_mul_backward_backward__float16)
CPU_DECLARE(gelu_mul_backward_backward__bfloat16)

static bool gelu_mul_backward_backward_cpu(error *e, gelu_mul_backward_backward_frame *f) {
    static const cpu_kernels kernels[4] = {
        CPU_KERNELS(gelu_mul_backward_backward__float64),
        CPU_KERNELS(gelu_mul_backward_backward__float32),
        CPU_KERNELS(gelu_mul_backward_backward__float16),
        CPU_KERNELS(gelu_mul_backward_backward__bfloat16),
    };
    elementwise_space space;
    if (!gelu_mul_backward_backward_pointers(e, f) ||
        !gelu_mul_backward_backward_space(e, f, &space)) {
        return false;
    }
    const gelu_mul_backward_backward_call *const c = &f->call;
    const int64_t bytes =
        tensor_bytes(&f->t.grad_grad_gate) +
        tensor_bytes(&f->t.grad_grad_up) +
        tensor_bytes(&f->t.grad_y) +
        tensor_bytes(&f->t.gate) +
        tensor_bytes(&f->t.up) +
        tensor_bytes(&f->t.grad_grad_y) +
        tensor_bytes(&f->t.grad_gate) +
        tensor_bytes(&f->t.grad_up);
    const int T_index = index_of_T(f->d.T);
    do {
        const cpu_plan plan = {&kernels[T_index], elementwise_units(&c->layout__)};
        if (!cpu_run(e, &plan, 1, c, bytes)) {
            return false;
        }
    } while (elementwise_next(&space));
    return true;
}

extern const unsigned char gelu_mul_backward_backward_fatbin_0[];

_Static_assert(sizeof(gelu_mul_backward_backward_call) <= CUDA_ARGUMENT_BYTES, "a launch is handed the call record itself");

static cuda_module module = {.image = gelu_mul_backward_backward_fatbin_0};

static bool gelu_mul_backward_backward_cuda(error *e, gelu_mul_backward_backward_frame *f, const cuda_scope *scope) {
    static cuda_kernel kernels[ELEMENTWISE_KERNELS][4] = {
        [ELEMENTWISE_FLAT] = {
            {.name = "gelu_mul_backward_backward__float64__flat", .module = &module},
            {.name = "gelu_mul_backward_backward__float32__flat", .module = &module},
            {.name = "gelu_mul_backward_backward__float16__flat", .module = &module},
            {.name = "gelu_mul_backward_backward__bfloat16__flat", .module = &module},
        },
        [ELEMENTWISE_VECTORS] = {
            {.name = "gelu_mul_backward_backward__float64__vectors", .module = &module},
            {.name = "gelu_mul_backward_backward__float32__vectors", .module = &module},
            {.name = "gelu_mul_backward_backward__float16__vectors", .module = &module},
            {.name = "gelu_mul_backward_backward__bfloat16__vectors", .module = &module},
        },
        [ELEMENTWISE_CROSSED] = {
            {.name = "gelu_mul_backward_backward__float64__crossed", .module = &module},
            {.name = "gelu_mul_backward_backward__float32__crossed", .module = &module},
            {.name = "gelu_mul_backward_backward__float16__crossed", .module = &module},
            {.name = "gelu_mul_backward_backward__bfloat16__crossed", .module = &module},
        },
        [ELEMENTWISE_NARROW] = {
            {.name = "gelu_mul_backward_backward__float64__narrow", .module = &module},
            {.name = "gelu_mul_backward_backward__float32__narrow", .module = &module},
            {.name = "gelu_mul_backward_backward__float16__narrow", .module = &module},
            {.name = "gelu_mul_backward_backward__bfloat16__narrow", .module = &module},
        },
        [ELEMENTWISE_WIDE] = {
            {.name = "gelu_mul_backward_backward__float64__wide", .module = &module},
            {.name = "gelu_mul_backward_backward__float32__wide", .module = &module},
            {.name = "gelu_mul_backward_backward__float16__wide", .module = &module},
            {.name = "gelu_mul_backward_backward__bfloat16__wide", .module = &module},
        },
    };
    elementwise_space space;
    if (!gelu_mul_backward_backward_pointers(e, f) ||
        !gelu_mul_backward_backward_space(e, f, &space)) {
        return false;
    }
    gelu_mul_backward_backward_call *const c = &f->call;
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
static bool gelu_mul_backward_backward_execute(error *e, gelu_mul_backward_backward_frame *f) {
    if (on_cuda(&f->t.grad_grad_gate)) {
        cuda_scope scope;
        if (!cuda_enter(e, f->t.grad_grad_gate.device.index, &scope)) {
            return false;
        }
        const bool ok = gelu_mul_backward_backward_cuda(e, f, &scope);
        cuda_leave(e, &scope);
        return ok;
    }
    return gelu_mul_backward_backward_cpu(e, f);
}

static bool gelu_mul_backward_backward_run(error *e, gelu_mul_backward_backward_frame *f) {
    if (!gelu_mul_backward_backward_check(e, f)) {
        return false;
    }
    if (!gelu_mul_backward_backward_allocate(e, f)) {
        return false;
    }
    if (gelu_mul_backward_backward_nothing_to_do(f)) {
        return true;
    }
    return gelu_mul_backward_backward_execute(e, f);
}

void gelu_mul_backward_backward_direct(error *e, StableIValue *stack) {
    gelu_mul_backward_backward_frame f = {0};
    error_begin(e, "my_ops::gelu_mul_backward_backward");
    tensor_take(&f.t.grad_grad_gate, stack[0]);
    tensor_take(&f.t.grad_grad_up, stack[1]);
    tensor_take(&f.t.grad_y, stack[2]);
    tensor_take(&f.t.gate, stack[3]);
    tensor_take(&f.t.up, stack[4]);
    take_text(e, stack[5], &f.a.approximate);
    take_mask(e, stack[6], "grad_mask", f.mask, 3);
    if (!e->set) {
        gelu_mul_backward_backward_run(e, &f);
    }
    tensor_release(e, &f.t.grad_grad_gate);
    tensor_release(e, &f.t.grad_grad_up);
    tensor_release(e, &f.t.grad_y);
    tensor_release(e, &f.t.gate);
    tensor_release(e, &f.t.up);
    tensor_define(e, &f.t.grad_grad_y);
    tensor_define(e, &f.t.grad_gate);
    tensor_define(e, &f.t.grad_up);
    tensor_give(e, &f.t.grad_grad_y, &stack[0]);
    tensor_give(e, &f.t.grad_gate, &stack[1]);
    tensor_give(e, &f.t.grad_up, &stack[2]);
}

void gelu_mul_backward_backward_boxed(StableIValue *stack, uint64_t num_args, uint64_t num_outputs) {
    (void)num_args;
    (void)num_outputs;
    error e;
    gelu_mul_backward_backward_direct(&e, stack);
    error_raise(&e);
}
