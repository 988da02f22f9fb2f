/* my_ops::gelu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)
 *
 * The CPU unit of gelu_mul_backward_backward.
 * It is compiled once for each choice of dtypes and each instruction set; the build defines T_DTYPE and
 * CPU_SYMBOL(kernel), the name of a kernel of this choice. */
#include "scalar.h"

typedef CPU_SCALAR(T_DTYPE) T_t;
typedef CPU_ACC(T_DTYPE) T_acc_t;

static inline T_acc_t load_T(const T_t *p) {
    return CPU_LOAD(T_DTYPE)(p);
}

static inline void store_T(T_t *p, T_acc_t value) {
    CPU_STORE(T_DTYPE)(p, value);
}

/* The first variable goes by these names too. */
#define CPU_DTYPE T_DTYPE
#define scalar_t T_t
#define acc_t T_acc_t
#define load load_T
#define store store_T

#include "vector.h"

#include "body.h"
#include "gelu_mul_backward_backward_call.h"

typedef struct gelu_mul_backward_backward_args {
    const scalar_t *grad_grad_gate;
    const scalar_t *grad_grad_up;
    const scalar_t *grad_y;
    const scalar_t *gate;
    const scalar_t *up;
    scalar_t *grad_grad_y;
    scalar_t *grad_gate;
    scalar_t *grad_up;
    int32_t approximate;
    const elementwise_layout *layout__;
    int64_t shape;
    const int64_t (*stride__)[ELEMENTWISE_DIMS];
    cpu_piece *piece__; /* for body_error */
} gelu_mul_backward_backward_args;

/* Where a row begins in each operand, and how far apart its elements are. */
typedef struct gelu_mul_backward_backward__data {
    const scalar_t *grad_grad_gate;
    const scalar_t *grad_grad_up;
    const scalar_t *grad_y;
    const scalar_t *gate;
    const scalar_t *up;
    scalar_t *grad_grad_y;
    scalar_t *grad_gate;
    scalar_t *grad_up;
} gelu_mul_backward_backward__data;

typedef struct gelu_mul_backward_backward__step {
    int64_t grad_grad_gate;
    int64_t grad_grad_up;
    int64_t grad_y;
    int64_t gate;
    int64_t up;
    int64_t grad_grad_y;
    int64_t grad_gate;
    int64_t grad_up;
} gelu_mul_backward_backward__step;

/* Tiles of operands that are only read. */
typedef struct gelu_mul_backward_backward__buffers {
    scalar_t grad_grad_gate[ELEMENTWISE_BUFFER(5) / sizeof(scalar_t)];
    scalar_t grad_grad_up[ELEMENTWISE_BUFFER(5) / sizeof(scalar_t)];
    scalar_t grad_y[ELEMENTWISE_BUFFER(5) / sizeof(scalar_t)];
    scalar_t gate[ELEMENTWISE_BUFFER(5) / sizeof(scalar_t)];
    scalar_t up[ELEMENTWISE_BUFFER(5) / sizeof(scalar_t)];
} gelu_mul_backward_backward__buffers;

/* How it is computed: expressions.h. */
#define BITS_float64 64
#define BITS_float32 32
#define BITS_float16 32
#define BITS_bfloat16 32
#define ELEMENTWISE_BITS CPU_PASTE(BITS, _, T_DTYPE)
#include "expressions.h"

typedef struct gelu_mul_backward_backward__in {
    cpu_lanes grad_grad_up;
    cpu_lanes gate;
    cpu_lanes grad_grad_gate;
    cpu_lanes up;
    cpu_lanes grad_y;
} gelu_mul_backward_backward__in;

typedef struct gelu_mul_backward_backward__out {
    cpu_lanes grad_grad_y;
    cpu_lanes grad_gate;
    cpu_lanes grad_up;
} gelu_mul_backward_backward__out;

CPU_INLINE gelu_mul_backward_backward__in gelu_mul_backward_backward__load(gelu_mul_backward_backward__data d, gelu_mul_backward_backward__step s, int64_t i, int64_t count) {
    (void)d, (void)s, (void)i, (void)count;
    return (gelu_mul_backward_backward__in){
        .grad_grad_up = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.grad_grad_up + i * s.grad_grad_up, s.grad_grad_up, count),
        .gate = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.gate + i * s.gate, s.gate, count),
        .grad_grad_gate = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.grad_grad_gate + i * s.grad_grad_gate, s.grad_grad_gate, count),
        .up = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.up + i * s.up, s.up, count),
        .grad_y = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.grad_y + i * s.grad_y, s.grad_y, count),
    };
}

CPU_INLINE void gelu_mul_backward_backward__store(gelu_mul_backward_backward__data d, gelu_mul_backward_backward__step s, int64_t i, int64_t count, const gelu_mul_backward_backward__out *out) {
    (void)s, (void)count;
    if (d.grad_grad_y != NULL) {
        CPU_PASTE(cpu_lanes_store_, T_DTYPE, )(d.grad_grad_y + i * s.grad_grad_y, s.grad_grad_y, out->grad_grad_y, count);
    }
    if (d.grad_gate != NULL) {
        CPU_PASTE(cpu_lanes_store_, T_DTYPE, )(d.grad_gate + i * s.grad_gate, s.grad_gate, out->grad_gate, count);
    }
    if (d.grad_up != NULL) {
        CPU_PASTE(cpu_lanes_store_, T_DTYPE, )(d.grad_up + i * s.grad_up, s.grad_up, out->grad_up, count);
    }
}

/* grad_grad_y: derived */
/* grad_gate: derived */
/* grad_up: derived */
CPU_INLINE void gelu_mul_backward_backward__lines(const gelu_mul_backward_backward_args *a, const gelu_mul_backward_backward__in *in, gelu_mul_backward_backward__out *out) {
    (void)a, (void)in;
    const cpu_lanes t3 = (cpu_real_t)0.5 * in->gate;
    const bool t5 = a->approximate == gelu_mul_backward_backward_approximate_none;
    const cpu_lanes t7 = in->gate * (cpu_real_t)0.7071067811865476;
    const cpu_lanes t11 = in->gate * in->gate;
    const cpu_lanes t12 = in->gate * t11;
    const cpu_lanes t13 = (cpu_real_t)0.044715 * t12;
    const cpu_lanes t14 = in->gate + t13;
    const cpu_lanes t15 = (cpu_real_t)0.7978845608028654 * t14;
    const cpu_lanes t16 = cpu_lanes_tanh(t15);
    cpu_lanes t17;
    if (t5) {
        const cpu_lanes t8 = cpu_lanes_erf(t7);
        t17 = t8;
    } else {
        t17 = t16;
    }
    const cpu_lanes t18 = (cpu_real_t)1.0 + t17;
    const cpu_lanes t22 = in->grad_grad_gate * (cpu_real_t)0.5;
    const cpu_lanes t23 = t22 * t18;
    const cpu_lanes t24 = in->grad_grad_gate * (cpu_real_t)0.7071067811865476;
    const cpu_lanes t25 = t7 * t7;
    const cpu_lanes t26 = -t25;
    const cpu_lanes t27 = cpu_lanes_exp(t26);
    const cpu_lanes t32 = (cpu_real_t)3.0 * t11;
    const cpu_lanes t33 = in->grad_grad_gate * t32;
    const cpu_lanes t34 = t33 * (cpu_real_t)0.044715;
    const cpu_lanes t35 = in->grad_grad_gate + t34;
    const cpu_lanes t36 = t35 * (cpu_real_t)0.7978845608028654;
    const cpu_lanes t37 = t16 * t16;
    const cpu_lanes t38 = (cpu_real_t)1.0 - t37;
    cpu_lanes t40;
    if (t5) {
        const cpu_lanes t28 = t24 * t27;
        const cpu_lanes t30 = t28 * (cpu_real_t)1.1283791670955126;
        t40 = t30;
    } else {
        const cpu_lanes t39 = t36 * t38;
        t40 = t39;
    }
    const cpu_lanes t41 = t40 * t3;
    const cpu_lanes t42 = t23 + t41;
    out->grad_grad_y = cpu_splat(0);
    if (a->grad_grad_y != NULL) {
        const cpu_lanes t19 = t3 * t18;
        const cpu_lanes t20 = in->grad_grad_up * t19;
        const cpu_lanes t44 = t42 * in->up;
        const cpu_lanes t45 = t20 + t44;
        out->grad_grad_y = t45;
    }
    out->grad_gate = cpu_splat(0);
    if (a->grad_gate != NULL) {
        const cpu_lanes t47 = in->grad_grad_up * in->grad_y;
        const cpu_lanes t48 = t47 * t3;
        const cpu_lanes t49 = in->grad_y * in->up;
        const cpu_lanes t50 = t22 * t49;
        const cpu_lanes t51 = t48 + t50;
        const cpu_lanes t54 = t49 * t3;
        cpu_lanes t82;
        if (t5) {
            const cpu_lanes t52 = (cpu_real_t)1.1283791670955126 * t51;
            const cpu_lanes t53 = t52 * t27;
            const cpu_lanes t55 = (cpu_real_t)1.1283791670955126 * t54;
            const cpu_lanes t56 = t24 * t55;
            const cpu_lanes t57 = t56 * t27;
            const cpu_lanes t58 = -t57;
            const cpu_lanes t59 = t58 * t7;
            const cpu_lanes t60 = t53 + t59;
            const cpu_lanes t61 = t60 + t59;
            const cpu_lanes t62 = t61 * (cpu_real_t)0.7071067811865476;
            t82 = t62;
        } else {
            const cpu_lanes t63 = t54 * t38;
            const cpu_lanes t64 = t63 * (cpu_real_t)0.7978845608028654;
            const cpu_lanes t65 = t64 * (cpu_real_t)0.044715;
            const cpu_lanes t66 = in->grad_grad_gate * t65;
            const cpu_lanes t67 = t66 * (cpu_real_t)3.0;
            const cpu_lanes t69 = (cpu_real_t)2.0 * in->gate;
            const cpu_lanes t70 = t67 * t69;
            const cpu_lanes t71 = t36 * t54;
            const cpu_lanes t72 = -t71;
            const cpu_lanes t73 = t72 * t16;
            const cpu_lanes t74 = t51 + t73;
            const cpu_lanes t75 = t74 + t73;
            const cpu_lanes t76 = t75 * t38;
            const cpu_lanes t77 = t76 * (cpu_real_t)0.7978845608028654;
            const cpu_lanes t78 = t70 + t77;
            const cpu_lanes t79 = t77 * (cpu_real_t)0.044715;
            const cpu_lanes t80 = t79 * t32;
            const cpu_lanes t81 = t78 + t80;
            t82 = t81;
        }
        const cpu_lanes t83 = t47 * t18;
        const cpu_lanes t84 = t40 * t49;
        const cpu_lanes t85 = t83 + t84;
        const cpu_lanes t86 = t85 * (cpu_real_t)0.5;
        const cpu_lanes t87 = t82 + t86;
        out->grad_gate = t87;
    }
    out->grad_up = cpu_splat(0);
    if (a->grad_up != NULL) {
        const cpu_lanes t88 = t42 * in->grad_y;
        out->grad_up = t88;
    }
}

/* Where operands are `count` steps further on. */
CPU_INLINE gelu_mul_backward_backward__data gelu_mul_backward_backward__moved(gelu_mul_backward_backward__data d, gelu_mul_backward_backward__step s, int64_t count) {
    return (gelu_mul_backward_backward__data){
        .grad_grad_gate = d.grad_grad_gate + count * s.grad_grad_gate,
        .grad_grad_up = d.grad_grad_up + count * s.grad_grad_up,
        .grad_y = d.grad_y + count * s.grad_y,
        .gate = d.gate + count * s.gate,
        .up = d.up + count * s.up,
        .grad_grad_y = d.grad_grad_y == NULL ? NULL : d.grad_grad_y + count * s.grad_grad_y,
        .grad_gate = d.grad_gate == NULL ? NULL : d.grad_gate + count * s.grad_gate,
        .grad_up = d.grad_up == NULL ? NULL : d.grad_up + count * s.grad_up,
    };
}

/* `count` elements, CPU_LANES at most, from element `i` of a row on. */
CPU_INLINE void gelu_mul_backward_backward__part(const gelu_mul_backward_backward_args *a, gelu_mul_backward_backward__data d, gelu_mul_backward_backward__step s, int64_t i, int64_t count) {
    const gelu_mul_backward_backward__in in = gelu_mul_backward_backward__load(d, s, i, count);
    gelu_mul_backward_backward__out out;
    gelu_mul_backward_backward__lines(a, &in, &out);
    gelu_mul_backward_backward__store(d, s, i, count, &out);
}

/* `rows` rows of `n` elements with the steps `s`, one row `next` behind another. The copy of the arguments is one that
 * no store can change: what depends on them alone is computed once. */
CPU_OUTLINE void gelu_mul_backward_backward__strided_rows(
    const gelu_mul_backward_backward_args *args, gelu_mul_backward_backward__data d,
    gelu_mul_backward_backward__step s, gelu_mul_backward_backward__step next, int64_t n, int64_t rows) {
    const gelu_mul_backward_backward_args copy = *args, *const a = &copy;
    for (int64_t k = 0; k < rows; k++) {
        const gelu_mul_backward_backward__data at = gelu_mul_backward_backward__moved(d, next, k);
        int64_t i = 0;
        for (; i + CPU_LANES <= n; i += CPU_LANES) {
            gelu_mul_backward_backward__part(a, at, s, i, CPU_LANES);
        }
        if (i < n) {
            gelu_mul_backward_backward__part(a, at, s, i, n - i);
        }
    }
}

CPU_INLINE bool gelu_mul_backward_backward__is_dense(gelu_mul_backward_backward__step s) {
    return (s.grad_grad_gate == 1 || (ELEMENTWISE_BITS != 0 && s.grad_grad_gate == 0)) &&
           (s.grad_grad_up == 1 || (ELEMENTWISE_BITS != 0 && s.grad_grad_up == 0)) &&
           (s.grad_y == 1 || (ELEMENTWISE_BITS != 0 && s.grad_y == 0)) &&
           (s.gate == 1 || (ELEMENTWISE_BITS != 0 && s.gate == 0)) &&
           (s.up == 1 || (ELEMENTWISE_BITS != 0 && s.up == 0)) &&
           s.grad_grad_y == 1 &&
           s.grad_gate == 1 &&
           s.grad_up == 1;
}

#if ELEMENTWISE_BITS != 0
/* Rows in pairs of vectors: operands have the step 1, or 0 if they are only read, and absent ones 0, too. Steps that
 * are constants where this is called are tested by no loop. */
CPU_INLINE void gelu_mul_backward_backward__paired_rows(
    const gelu_mul_backward_backward_args *a, gelu_mul_backward_backward__data d,
    gelu_mul_backward_backward__step s, gelu_mul_backward_backward__step next, int64_t n, int64_t rows, bool stream) {
    (void)s, (void)stream;
    vector_pair_t pair_grad_grad_gate = vector_same_pair(NULL);
    vector_pair_t pair_grad_grad_up = vector_same_pair(NULL);
    vector_pair_t pair_grad_y = vector_same_pair(NULL);
    vector_pair_t pair_gate = vector_same_pair(NULL);
    vector_pair_t pair_up = vector_same_pair(NULL);
    for (int64_t k = 0; k < rows; k++) {
        const gelu_mul_backward_backward__data at = gelu_mul_backward_backward__moved(d, next, k);
        gelu_mul_backward_backward__in first, second;
        gelu_mul_backward_backward__out out_first, out_second;
        int64_t i = 0;
        if (s.grad_grad_gate == 0) {
            pair_grad_grad_gate = vector_same_pair(at.grad_grad_gate);
        }
        if (s.grad_grad_up == 0) {
            pair_grad_grad_up = vector_same_pair(at.grad_grad_up);
        }
        if (s.grad_y == 0) {
            pair_grad_y = vector_same_pair(at.grad_y);
        }
        if (s.gate == 0) {
            pair_gate = vector_same_pair(at.gate);
        }
        if (s.up == 0) {
            pair_up = vector_same_pair(at.up);
        }
        for (; i + 2 * CPU_LANES <= n; i += 2 * CPU_LANES) {
            if (s.grad_grad_gate != 0) {
                pair_grad_grad_gate = vector_load_pair(at.grad_grad_gate + i);
                if (stream) {
                    vector_prefetch_pair(at.grad_grad_gate + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
                }
            }
            first.grad_grad_gate = pair_grad_grad_gate.a;
            second.grad_grad_gate = pair_grad_grad_gate.b;
            if (s.grad_grad_up != 0) {
                pair_grad_grad_up = vector_load_pair(at.grad_grad_up + i);
                if (stream) {
                    vector_prefetch_pair(at.grad_grad_up + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
                }
            }
            first.grad_grad_up = pair_grad_grad_up.a;
            second.grad_grad_up = pair_grad_grad_up.b;
            if (s.grad_y != 0) {
                pair_grad_y = vector_load_pair(at.grad_y + i);
                if (stream) {
                    vector_prefetch_pair(at.grad_y + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
                }
            }
            first.grad_y = pair_grad_y.a;
            second.grad_y = pair_grad_y.b;
            if (s.gate != 0) {
                pair_gate = vector_load_pair(at.gate + i);
                if (stream) {
                    vector_prefetch_pair(at.gate + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
                }
            }
            first.gate = pair_gate.a;
            second.gate = pair_gate.b;
            if (s.up != 0) {
                pair_up = vector_load_pair(at.up + i);
                if (stream) {
                    vector_prefetch_pair(at.up + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
                }
            }
            first.up = pair_up.a;
            second.up = pair_up.b;
            gelu_mul_backward_backward__lines(a, &first, &out_first);
            gelu_mul_backward_backward__lines(a, &second, &out_second);
            if (at.grad_grad_y != NULL) {
                vector_store_pair(at.grad_grad_y + i, out_first.grad_grad_y, out_second.grad_grad_y, stream);
            }
            if (at.grad_gate != NULL) {
                vector_store_pair(at.grad_gate + i, out_first.grad_gate, out_second.grad_gate, stream);
            }
            if (at.grad_up != NULL) {
                vector_store_pair(at.grad_up + i, out_first.grad_up, out_second.grad_up, stream);
            }
        }
        for (; i < n; i += CPU_LANES) {
            const int64_t count = vector_count(n - i);
            first.grad_grad_gate = s.grad_grad_gate == 0 ? pair_grad_grad_gate.a : vector_load_part(at.grad_grad_gate + i, count);
            first.grad_grad_up = s.grad_grad_up == 0 ? pair_grad_grad_up.a : vector_load_part(at.grad_grad_up + i, count);
            first.grad_y = s.grad_y == 0 ? pair_grad_y.a : vector_load_part(at.grad_y + i, count);
            first.gate = s.gate == 0 ? pair_gate.a : vector_load_part(at.gate + i, count);
            first.up = s.up == 0 ? pair_up.a : vector_load_part(at.up + i, count);
            gelu_mul_backward_backward__lines(a, &first, &out_first);
            if (at.grad_grad_y != NULL) {
                vector_store_part(at.grad_grad_y + i, out_first.grad_grad_y, count);
            }
            if (at.grad_gate != NULL) {
                vector_store_part(at.grad_gate + i, out_first.grad_gate, count);
            }
            if (at.grad_up != NULL) {
                vector_store_part(at.grad_up + i, out_first.grad_up, count);
            }
        }
    }
}
#endif

/* The same where operands have the step 1, or 0 if they are only read; what is streamed starts aligned. Most calls are
 * `plain`, with steps that are all 1. */
CPU_OUTLINE void gelu_mul_backward_backward__dense_rows(
    const gelu_mul_backward_backward_args *args, gelu_mul_backward_backward__data d,
    gelu_mul_backward_backward__step s, gelu_mul_backward_backward__step next, int64_t n, int64_t rows, bool stream) {
    const gelu_mul_backward_backward_args copy = *args, *const a = &copy;
    const gelu_mul_backward_backward__step one = {
        .grad_grad_gate = 1,
        .grad_grad_up = 1,
        .grad_y = 1,
        .gate = 1,
        .up = 1,
        .grad_grad_y = 1,
        .grad_gate = 1,
        .grad_up = 1,
    };
    (void)s, (void)stream;
#if ELEMENTWISE_BITS != 0
    bool plain = !stream;
    plain = plain && s.grad_grad_gate == 1;
    plain = plain && s.grad_grad_up == 1;
    plain = plain && s.grad_y == 1;
    plain = plain && s.gate == 1;
    plain = plain && s.up == 1;
    if (plain) {
        gelu_mul_backward_backward__paired_rows(a, d, one, next, n, rows, false);
    } else {
        gelu_mul_backward_backward__paired_rows(a, d, s, next, n, rows, stream);
    }
#else
    for (int64_t k = 0; k < rows; k++) {
        const gelu_mul_backward_backward__data at = gelu_mul_backward_backward__moved(d, next, k);
        int64_t i = 0;
        for (; i + CPU_LANES <= n; i += CPU_LANES) {
            gelu_mul_backward_backward__part(a, at, one, i, CPU_LANES);
        }
        if (i < n) {
            gelu_mul_backward_backward__part(a, at, one, i, n - i);
        }
    }
#endif
}

/* Units are elements where there is one dim, tiles otherwise. */
static void gelu_mul_backward_backward(const gelu_mul_backward_backward_args *a, int64_t begin, int64_t end) {
    const elementwise_layout *const layout = a->layout__;
    const gelu_mul_backward_backward__step s = {
        .grad_grad_gate = a->stride__[0][0],
        .grad_grad_up = a->stride__[1][0],
        .grad_y = a->stride__[2][0],
        .gate = a->stride__[3][0],
        .up = a->stride__[4][0],
        .grad_grad_y = a->stride__[5][0],
        .grad_gate = a->stride__[6][0],
        .grad_up = a->stride__[7][0],
    };
    const gelu_mul_backward_backward__data d = {
        .grad_grad_gate = a->grad_grad_gate,
        .grad_grad_up = a->grad_grad_up,
        .grad_y = a->grad_y,
        .gate = a->gate,
        .up = a->up,
        .grad_grad_y = a->grad_grad_y,
        .grad_gate = a->grad_gate,
        .grad_up = a->grad_up,
    };
    if (layout->dims == 1) {
        gelu_mul_backward_backward__data at = gelu_mul_backward_backward__moved(d, s, begin);
        if (!gelu_mul_backward_backward__is_dense(s)) {
            gelu_mul_backward_backward__strided_rows(a, at, s, s, end - begin, 1);
            return;
        }
        if (a->grad_grad_y != NULL && a->grad_gate != NULL && a->grad_up != NULL && cpu_aligned_alike(a->grad_grad_y, a->grad_gate) && cpu_aligned_alike(a->grad_grad_y, a->grad_up) && vector_streams(a->grad_grad_y, layout->elements)) {
            const int64_t head = vector_stream_head(at.grad_grad_y, end - begin);
            gelu_mul_backward_backward__strided_rows(a, at, s, s, head, 1);
            gelu_mul_backward_backward__dense_rows(a, gelu_mul_backward_backward__moved(at, s, head), s, s, end - begin - head, 1, true);
            vector_stream_end();
            return;
        }
        gelu_mul_backward_backward__dense_rows(a, at, s, s, end - begin, 1, false);
        return;
    }
    const gelu_mul_backward_backward__step down = {
        .grad_grad_gate = a->stride__[0][1],
        .grad_grad_up = a->stride__[1][1],
        .grad_y = a->stride__[2][1],
        .gate = a->stride__[3][1],
        .up = a->stride__[4][1],
        .grad_grad_y = a->stride__[5][1],
        .grad_gate = a->stride__[6][1],
        .grad_up = a->stride__[7][1],
    };
    gelu_mul_backward_backward__buffers buffers;
    gelu_mul_backward_backward__data packed = {0};
    cpu_tile packed_tile = {0};
    cpu_tile tile = cpu_tile_at(layout, begin);
    for (int64_t unit = begin; unit < end; unit++, cpu_tile_advance(layout, &tile)) {
        gelu_mul_backward_backward__data row = {
            .grad_grad_gate = d.grad_grad_gate + cpu_tile_offset(layout, &tile, a->stride__[0]),
            .grad_grad_up = d.grad_grad_up + cpu_tile_offset(layout, &tile, a->stride__[1]),
            .grad_y = d.grad_y + cpu_tile_offset(layout, &tile, a->stride__[2]),
            .gate = d.gate + cpu_tile_offset(layout, &tile, a->stride__[3]),
            .up = d.up + cpu_tile_offset(layout, &tile, a->stride__[4]),
            .grad_grad_y = d.grad_grad_y == NULL ? NULL : d.grad_grad_y + cpu_tile_offset(layout, &tile, a->stride__[5]),
            .grad_gate = d.grad_gate == NULL ? NULL : d.grad_gate + cpu_tile_offset(layout, &tile, a->stride__[6]),
            .grad_up = d.grad_up == NULL ? NULL : d.grad_up + cpu_tile_offset(layout, &tile, a->stride__[7]),
        };
        gelu_mul_backward_backward__step across = s, next = down;
        if (row.grad_grad_gate != NULL && cpu_is_packed(layout, a->stride__[0])) {
            if (row.grad_grad_gate != packed.grad_grad_gate || !cpu_tile_covers(&packed_tile, &tile)) {
                cpu_pack(buffers.grad_grad_gate, row.grad_grad_gate, sizeof *row.grad_grad_gate, layout, &tile,
                         a->stride__[0]);
            }
            packed.grad_grad_gate = row.grad_grad_gate;
            row.grad_grad_gate = buffers.grad_grad_gate;
            across.grad_grad_gate = 1;
            next.grad_grad_gate = cpu_packed_row(layout);
        }
        if (row.grad_grad_up != NULL && cpu_is_packed(layout, a->stride__[1])) {
            if (row.grad_grad_up != packed.grad_grad_up || !cpu_tile_covers(&packed_tile, &tile)) {
                cpu_pack(buffers.grad_grad_up, row.grad_grad_up, sizeof *row.grad_grad_up, layout, &tile,
                         a->stride__[1]);
            }
            packed.grad_grad_up = row.grad_grad_up;
            row.grad_grad_up = buffers.grad_grad_up;
            across.grad_grad_up = 1;
            next.grad_grad_up = cpu_packed_row(layout);
        }
        if (row.grad_y != NULL && cpu_is_packed(layout, a->stride__[2])) {
            if (row.grad_y != packed.grad_y || !cpu_tile_covers(&packed_tile, &tile)) {
                cpu_pack(buffers.grad_y, row.grad_y, sizeof *row.grad_y, layout, &tile,
                         a->stride__[2]);
            }
            packed.grad_y = row.grad_y;
            row.grad_y = buffers.grad_y;
            across.grad_y = 1;
            next.grad_y = cpu_packed_row(layout);
        }
        if (row.gate != NULL && cpu_is_packed(layout, a->stride__[3])) {
            if (row.gate != packed.gate || !cpu_tile_covers(&packed_tile, &tile)) {
                cpu_pack(buffers.gate, row.gate, sizeof *row.gate, layout, &tile,
                         a->stride__[3]);
            }
            packed.gate = row.gate;
            row.gate = buffers.gate;
            across.gate = 1;
            next.gate = cpu_packed_row(layout);
        }
        if (row.up != NULL && cpu_is_packed(layout, a->stride__[4])) {
            if (row.up != packed.up || !cpu_tile_covers(&packed_tile, &tile)) {
                cpu_pack(buffers.up, row.up, sizeof *row.up, layout, &tile,
                         a->stride__[4]);
            }
            packed.up = row.up;
            row.up = buffers.up;
            across.up = 1;
            next.up = cpu_packed_row(layout);
        }
        packed_tile = tile;
        const bool joined = layout->order == ELEMENTWISE_PACKED;
        const int64_t n = joined ? tile.row * tile.rows : tile.row, rows = joined ? 1 : tile.rows;
        if (gelu_mul_backward_backward__is_dense(across)) {
            gelu_mul_backward_backward__dense_rows(a, row, across, next, n, rows, false);
        } else {
            gelu_mul_backward_backward__strided_rows(a, row, across, next, n, rows);
        }
    }
}

static gelu_mul_backward_backward_args gelu_mul_backward_backward_args_from(const void *record, cpu_piece *piece) {
    const gelu_mul_backward_backward_call *const call = record;
    return (gelu_mul_backward_backward_args){
        .grad_grad_gate = call->grad_grad_gate,
        .grad_grad_up = call->grad_grad_up,
        .grad_y = call->grad_y,
        .gate = call->gate,
        .up = call->up,
        .grad_grad_y = call->grad_grad_y,
        .grad_gate = call->grad_gate,
        .grad_up = call->grad_up,
        .approximate = call->approximate,
        .layout__ = &call->layout__,
        .shape = call->shape,
        .stride__ = call->stride__,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(gelu_mul_backward_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(gelu_mul_backward_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const gelu_mul_backward_backward_args args = gelu_mul_backward_backward_args_from(record, piece);
    gelu_mul_backward_backward(&args, begin, end);
}
