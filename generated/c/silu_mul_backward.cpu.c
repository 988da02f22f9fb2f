/* my_ops::silu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * The CPU unit of silu_mul_backward.
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
#include "silu_mul_backward_call.h"

typedef struct silu_mul_backward_args {
    const scalar_t *grad_y;
    const scalar_t *gate;
    const scalar_t *up;
    scalar_t *grad_gate;
    scalar_t *grad_up;
    int64_t shape;
    const elementwise_layout *layout__;
    const int64_t (*stride__)[ELEMENTWISE_DIMS];
    cpu_piece *piece__; /* for body_error */
} silu_mul_backward_args;

/* Where a row begins in each operand, and how far apart its elements are. */
typedef struct silu_mul_backward__data {
    const scalar_t *grad_y;
    const scalar_t *gate;
    const scalar_t *up;
    scalar_t *grad_gate;
    scalar_t *grad_up;
} silu_mul_backward__data;
typedef struct silu_mul_backward__step {
    int64_t grad_y;
    int64_t gate;
    int64_t up;
    int64_t grad_gate;
    int64_t grad_up;
} silu_mul_backward__step;
/* Tiles of operands that are only read. */
typedef struct silu_mul_backward__buffers {
    scalar_t grad_y[ELEMENTWISE_BUFFER(3) / sizeof(scalar_t)];
    scalar_t gate[ELEMENTWISE_BUFFER(3) / sizeof(scalar_t)];
    scalar_t up[ELEMENTWISE_BUFFER(3) / sizeof(scalar_t)];
} silu_mul_backward__buffers;

/* How it is computed: expressions.h. */
#define BITS_float64 64
#define BITS_float32 32
#define BITS_float16 32
#define BITS_bfloat16 32
#define ELEMENTWISE_BITS CPU_PASTE(BITS, _, T_DTYPE)
#include "expressions.h"

typedef struct silu_mul_backward__in {
    cpu_lanes grad_y;
    cpu_lanes up;
    cpu_lanes gate;
} silu_mul_backward__in;
typedef struct silu_mul_backward__out {
    cpu_lanes grad_gate;
    cpu_lanes grad_up;
} silu_mul_backward__out;

CPU_INLINE silu_mul_backward__in silu_mul_backward__load(silu_mul_backward__data d, silu_mul_backward__step s, int64_t i, int64_t count) {
    (void)d, (void)s, (void)i, (void)count;
    return (silu_mul_backward__in){
        .grad_y = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.grad_y + i * s.grad_y, s.grad_y, count),
        .up = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.up + i * s.up, s.up, count),
        .gate = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.gate + i * s.gate, s.gate, count),
    };
}
CPU_INLINE void silu_mul_backward__store(silu_mul_backward__data d, silu_mul_backward__step s, int64_t i, int64_t count, const silu_mul_backward__out *out) {
    (void)s, (void)count;
    if (d.grad_gate != NULL)
        CPU_PASTE(cpu_lanes_store_, T_DTYPE, )(d.grad_gate + i * s.grad_gate, s.grad_gate, out->grad_gate, count);
    if (d.grad_up != NULL)
        CPU_PASTE(cpu_lanes_store_, T_DTYPE, )(d.grad_up + i * s.grad_up, s.grad_up, out->grad_up, count);
}

/* grad_gate: derived */
/* grad_up: derived */
CPU_INLINE void silu_mul_backward__lines(const silu_mul_backward_args *a, const silu_mul_backward__in *in, silu_mul_backward__out *out) {
    (void)a, (void)in;
    const cpu_lanes t4 = cpu_lanes_sigmoid(in->gate);
    out->grad_gate = cpu_splat(0);
    if (a->grad_gate != NULL) {
        const cpu_lanes t2 = in->grad_y * in->up;
        const cpu_lanes t5 = t2 * t4;
        const cpu_lanes t6 = t2 * in->gate;
        const cpu_lanes t8 = (cpu_real_t)1.0 - t4;
        const cpu_lanes t9 = t4 * t8;
        const cpu_lanes t10 = t6 * t9;
        const cpu_lanes t11 = t5 + t10;
        out->grad_gate = t11;
    }
    out->grad_up = cpu_splat(0);
    if (a->grad_up != NULL) {
        const cpu_lanes t12 = in->gate * t4;
        const cpu_lanes t13 = in->grad_y * t12;
        out->grad_up = t13;
    }
}

/* `count` elements, CPU_LANES at most, from element `i` of a row on. */
CPU_INLINE void silu_mul_backward__part(const silu_mul_backward_args *a, silu_mul_backward__data d, silu_mul_backward__step s, int64_t i, int64_t count) {
    const silu_mul_backward__in in = silu_mul_backward__load(d, s, i, count);
    silu_mul_backward__out out;
    silu_mul_backward__lines(a, &in, &out);
    silu_mul_backward__store(d, s, i, count, &out);
}

/* Elements [i, n) of a row. */
CPU_INLINE void silu_mul_backward__rest(const silu_mul_backward_args *a, silu_mul_backward__data d, silu_mul_backward__step s, int64_t i, int64_t n) {
    for (; i + CPU_LANES <= n; i += CPU_LANES)
        silu_mul_backward__part(a, d, s, i, CPU_LANES);
    if (i < n)
        silu_mul_backward__part(a, d, s, i, n - i);
}

static void silu_mul_backward__strided_row(const silu_mul_backward_args *a, silu_mul_backward__data d, silu_mul_backward__step s, int64_t i, int64_t n) {
    silu_mul_backward__rest(a, d, s, i, n);
}

/* A row along which operands have the steps `s`: 1, or 0 where one is only read and the same for the whole row. */
CPU_INLINE void silu_mul_backward__row(const silu_mul_backward_args *a, silu_mul_backward__data d, silu_mul_backward__step s, int64_t n, bool stream) {
    int64_t i = 0;
#if ELEMENTWISE_BITS != 0
    const vector_pair_t same_grad_y = s.grad_y == 0 ? vector_same_pair(d.grad_y) : (vector_pair_t){0};
    const vector_pair_t same_gate = s.gate == 0 ? vector_same_pair(d.gate) : (vector_pair_t){0};
    const vector_pair_t same_up = s.up == 0 ? vector_same_pair(d.up) : (vector_pair_t){0};
    const int64_t head = stream ? vector_stream_head(d.grad_gate, n) : 0;
    silu_mul_backward__strided_row(a, d, s, 0, head);
    for (i = head; i + 2 * CPU_LANES <= n; i += 2 * CPU_LANES) {
        silu_mul_backward__in first, second;
        silu_mul_backward__out out_first, out_second;
        vector_pair_t pair_grad_y = same_grad_y;
        if (s.grad_y != 0) {
            pair_grad_y = vector_load_pair(d.grad_y + i);
            vector_prefetch_pair(d.grad_y + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
        }
        first.grad_y = pair_grad_y.a;
        second.grad_y = pair_grad_y.b;
        vector_pair_t pair_gate = same_gate;
        if (s.gate != 0) {
            pair_gate = vector_load_pair(d.gate + i);
            vector_prefetch_pair(d.gate + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
        }
        first.gate = pair_gate.a;
        second.gate = pair_gate.b;
        vector_pair_t pair_up = same_up;
        if (s.up != 0) {
            pair_up = vector_load_pair(d.up + i);
            vector_prefetch_pair(d.up + (i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i));
        }
        first.up = pair_up.a;
        second.up = pair_up.b;
        silu_mul_backward__lines(a, &first, &out_first);
        silu_mul_backward__lines(a, &second, &out_second);
        if (d.grad_gate != NULL)
            vector_store_pair(d.grad_gate + i, out_first.grad_gate, out_second.grad_gate, stream);
        if (d.grad_up != NULL)
            vector_store_pair(d.grad_up + i, out_first.grad_up, out_second.grad_up, stream);
    }
#endif
    (void)stream;
    silu_mul_backward__rest(a, d, s, i, n);
}
static void silu_mul_backward__unit_row(const silu_mul_backward_args *a, silu_mul_backward__data d, int64_t n, bool stream) {
    const silu_mul_backward__step s = {
        .grad_y = 1,
        .gate = 1,
        .up = 1,
        .grad_gate = 1,
        .grad_up = 1,
    };
    silu_mul_backward__row(a, d, s, n, stream);
}
static void silu_mul_backward__broadcast_row(const silu_mul_backward_args *a, silu_mul_backward__data d, silu_mul_backward__step s, int64_t n, bool stream) {
    silu_mul_backward__row(a, d, s, n, stream);
}
CPU_INLINE bool silu_mul_backward__is_broadcast(silu_mul_backward__step s) {
    return (s.grad_y == 0 || s.grad_y == 1) && (s.gate == 0 || s.gate == 1) && (s.up == 0 || s.up == 1) && s.grad_gate == 1 && s.grad_up == 1;
}
CPU_INLINE bool silu_mul_backward__is_unit(silu_mul_backward__step s) {
    return s.grad_y == 1 && s.gate == 1 && s.up == 1 && s.grad_gate == 1 && s.grad_up == 1;
}

/* Units are elements where there is one dim, tiles otherwise. */
static void silu_mul_backward(const silu_mul_backward_args *a, int64_t begin, int64_t end) {
    const elementwise_layout *const layout = a->layout__;
    const silu_mul_backward__step s = {
        .grad_y = a->stride__[0][0],
        .gate = a->stride__[1][0],
        .up = a->stride__[2][0],
        .grad_gate = a->stride__[3][0],
        .grad_up = a->stride__[4][0],
    };
    silu_mul_backward__data d = {
        .grad_y = a->grad_y,
        .gate = a->gate,
        .up = a->up,
        .grad_gate = a->grad_gate,
        .grad_up = a->grad_up,
    };
    if (layout->dims == 1) {
        d.grad_y = d.grad_y + begin * s.grad_y;
        d.gate = d.gate + begin * s.gate;
        d.up = d.up + begin * s.up;
        d.grad_gate = d.grad_gate == NULL ? NULL : d.grad_gate + begin * s.grad_gate;
        d.grad_up = d.grad_up == NULL ? NULL : d.grad_up + begin * s.grad_up;
        const bool stream = silu_mul_backward__is_broadcast(s) && a->grad_gate != NULL && a->grad_up != NULL && cpu_aligned_alike(a->grad_gate, a->grad_up) && vector_streams(a->grad_gate, layout->elements);
        if (layout->unit)
            silu_mul_backward__unit_row(a, d, end - begin, stream);
        else if (silu_mul_backward__is_broadcast(s))
            silu_mul_backward__broadcast_row(a, d, s, end - begin, stream);
        else
            silu_mul_backward__strided_row(a, d, s, 0, end - begin);
        if (stream)
            vector_stream_end();
        return;
    }
    const silu_mul_backward__step down = {
        .grad_y = a->stride__[0][1],
        .gate = a->stride__[1][1],
        .up = a->stride__[2][1],
        .grad_gate = a->stride__[3][1],
        .grad_up = a->stride__[4][1],
    };
    silu_mul_backward__buffers buffers;
    silu_mul_backward__data packed = {0};
    cpu_tile packed_tile = {0};
    for (int64_t unit = begin; unit < end; unit++) {
        const cpu_tile tile = cpu_tile_at(layout, unit);
        silu_mul_backward__data row = {
            .grad_y = d.grad_y + cpu_tile_offset(layout, &tile, a->stride__[0]),
            .gate = d.gate + cpu_tile_offset(layout, &tile, a->stride__[1]),
            .up = d.up + cpu_tile_offset(layout, &tile, a->stride__[2]),
            .grad_gate = d.grad_gate == NULL ? NULL : d.grad_gate + cpu_tile_offset(layout, &tile, a->stride__[3]),
            .grad_up = d.grad_up == NULL ? NULL : d.grad_up + cpu_tile_offset(layout, &tile, a->stride__[4]),
        };
        silu_mul_backward__step across = s, next = down;
        if (row.grad_y != NULL && cpu_is_packed(layout, a->stride__[0])) {
            if (row.grad_y != packed.grad_y || !cpu_tile_covers(&packed_tile, &tile))
                cpu_pack(buffers.grad_y, row.grad_y, sizeof *row.grad_y, layout, &tile, a->stride__[0]);
            packed.grad_y = row.grad_y;
            row.grad_y = buffers.grad_y;
            across.grad_y = 1;
            next.grad_y = cpu_packed_row(layout);
        }
        if (row.gate != NULL && cpu_is_packed(layout, a->stride__[1])) {
            if (row.gate != packed.gate || !cpu_tile_covers(&packed_tile, &tile))
                cpu_pack(buffers.gate, row.gate, sizeof *row.gate, layout, &tile, a->stride__[1]);
            packed.gate = row.gate;
            row.gate = buffers.gate;
            across.gate = 1;
            next.gate = cpu_packed_row(layout);
        }
        if (row.up != NULL && cpu_is_packed(layout, a->stride__[2])) {
            if (row.up != packed.up || !cpu_tile_covers(&packed_tile, &tile))
                cpu_pack(buffers.up, row.up, sizeof *row.up, layout, &tile, a->stride__[2]);
            packed.up = row.up;
            row.up = buffers.up;
            across.up = 1;
            next.up = cpu_packed_row(layout);
        }
        packed_tile = tile;
        const bool joined = layout->order == ELEMENTWISE_PACKED;
        for (int64_t k = 0; k < (joined ? 1 : tile.rows); k++) {
            if (silu_mul_backward__is_unit(across))
                silu_mul_backward__unit_row(a, row, joined ? tile.row * tile.rows : tile.row, false);
            else if (silu_mul_backward__is_broadcast(across))
                silu_mul_backward__broadcast_row(a, row, across, tile.row, false);
            else
                silu_mul_backward__strided_row(a, row, across, 0, tile.row);
            row.grad_y = row.grad_y + next.grad_y;
            row.gate = row.gate + next.gate;
            row.up = row.up + next.up;
            row.grad_gate = row.grad_gate == NULL ? NULL : row.grad_gate + next.grad_gate;
            row.grad_up = row.grad_up == NULL ? NULL : row.grad_up + next.grad_up;
        }
    }
}

static silu_mul_backward_args silu_mul_backward_args_from(const void *record, cpu_piece *piece) {
    const silu_mul_backward_call *const call = record;
    return (silu_mul_backward_args){
        .grad_y = call->grad_y,
        .gate = call->gate,
        .up = call->up,
        .grad_gate = call->grad_gate,
        .grad_up = call->grad_up,
        .shape = call->shape,
        .layout__ = &call->layout__,
        .stride__ = call->stride__,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(silu_mul_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(silu_mul_backward)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const silu_mul_backward_args args = silu_mul_backward_args_from(record, piece);
    silu_mul_backward(&args, begin, end);
}
