/* my_ops::silu_mul(Tensor gate, Tensor up) -> Tensor
 *
 * The CPU unit of silu_mul.
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
#include "silu_mul_call.h"

typedef struct silu_mul_args {
    const scalar_t *gate;
    const scalar_t *up;
    scalar_t *y;
    const elementwise_layout *layout__;
    int64_t shape;
    const int64_t (*stride__)[ELEMENTWISE_DIMS];
    cpu_piece *piece__; /* for body_error */
} silu_mul_args;

/* Where a row begins in each operand, and how far apart its elements are. */
typedef struct silu_mul__data {
    const scalar_t *gate;
    const scalar_t *up;
    scalar_t *y;
} silu_mul__data;

typedef struct silu_mul__step {
    int64_t gate;
    int64_t up;
    int64_t y;
} silu_mul__step;

/* Tiles of operands that are only read. */
typedef struct silu_mul__buffers {
    scalar_t gate[ELEMENTWISE_BUFFER(2) / sizeof(scalar_t)];
    scalar_t up[ELEMENTWISE_BUFFER(2) / sizeof(scalar_t)];
} silu_mul__buffers;

/* How it is computed: expressions.h. */
#define BITS_float64 64
#define BITS_float32 32
#define BITS_float16 32
#define BITS_bfloat16 32
#define ELEMENTWISE_BITS CPU_PASTE(BITS, _, T_DTYPE)
#include "expressions.h"

typedef struct silu_mul__in {
    cpu_lanes gate;
    cpu_lanes up;
} silu_mul__in;

typedef struct silu_mul__out {
    cpu_lanes y;
} silu_mul__out;

CPU_INLINE silu_mul__in silu_mul__load(silu_mul__data d, silu_mul__step s, int64_t i, int64_t count) {
    (void)d, (void)s, (void)i, (void)count;
    return (silu_mul__in){
        .gate = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.gate + i * s.gate, s.gate, count),
        .up = CPU_PASTE(cpu_lanes_load_, T_DTYPE, )(d.up + i * s.up, s.up, count),
    };
}

CPU_INLINE void silu_mul__store(silu_mul__data d, silu_mul__step s, int64_t i, int64_t count, const silu_mul__out *out) {
    (void)s, (void)count;
    CPU_PASTE(cpu_lanes_store_, T_DTYPE, )(d.y + i * s.y, s.y, out->y, count);
}

/* y: gate * sigmoid(gate) * up */
CPU_INLINE void silu_mul__lines(const silu_mul_args *a, const silu_mul__in *in, silu_mul__out *out) {
    (void)a, (void)in;
    const cpu_lanes t1 = cpu_lanes_sigmoid(in->gate);
    const cpu_lanes t2 = in->gate * t1;
    const cpu_lanes t4 = t2 * in->up;
    out->y = t4;
}

/* Where operands are `count` steps further on. */
CPU_INLINE silu_mul__data silu_mul__moved(silu_mul__data d, silu_mul__step s, int64_t count) {
    return (silu_mul__data){
        .gate = d.gate + count * s.gate,
        .up = d.up + count * s.up,
        .y = d.y + count * s.y,
    };
}

/* `count` elements, CPU_LANES at most, from element `i` of a row on. */
CPU_INLINE void silu_mul__part(const silu_mul_args *a, silu_mul__data d, silu_mul__step s, int64_t i, int64_t count) {
    const silu_mul__in in = silu_mul__load(d, s, i, count);
    silu_mul__out out;
    silu_mul__lines(a, &in, &out);
    silu_mul__store(d, s, i, count, &out);
}

/* `rows` rows of `n` elements with the steps `s`, one row `next` behind another. The copy of the arguments is one that
 * no store can change: what depends on them alone is computed once. */
CPU_OUTLINE void silu_mul__strided_rows(
    const silu_mul_args *args, silu_mul__data d,
    silu_mul__step s, silu_mul__step next, int64_t n, int64_t rows) {
    const silu_mul_args copy = *args, *const a = &copy;
    for (int64_t k = 0; k < rows; k++) {
        const silu_mul__data at = silu_mul__moved(d, next, k);
        int64_t i = 0;
        for (; i + CPU_LANES <= n; i += CPU_LANES) {
            silu_mul__part(a, at, s, i, CPU_LANES);
        }
        if (i < n) {
            silu_mul__part(a, at, s, i, n - i);
        }
    }
}

CPU_INLINE bool silu_mul__is_dense(silu_mul__step s) {
    return (s.gate == 1 || (ELEMENTWISE_BITS != 0 && s.gate == 0)) &&
           (s.up == 1 || (ELEMENTWISE_BITS != 0 && s.up == 0)) &&
           s.y == 1;
}

#if ELEMENTWISE_BITS != 0
/* Rows in pairs of vectors: operands have the step 1, or 0 if they are only read, and absent ones 0, too. Steps that
 * are constants where this is called are tested by no loop. */
CPU_INLINE void silu_mul__paired_rows(
    const silu_mul_args *a, silu_mul__data d,
    silu_mul__step s, silu_mul__step next, int64_t n, int64_t rows, bool stream) {
    (void)s, (void)stream;
    vector_pair_t pair_gate = vector_same_pair(NULL);
    vector_pair_t pair_up = vector_same_pair(NULL);
    for (int64_t k = 0; k < rows; k++) {
        const silu_mul__data at = silu_mul__moved(d, next, k);
        silu_mul__in first, second;
        silu_mul__out out_first, out_second;
        int64_t i = 0;
        if (s.gate == 0) {
            pair_gate = vector_same_pair(at.gate);
        }
        if (s.up == 0) {
            pair_up = vector_same_pair(at.up);
        }
        for (; i + 2 * CPU_LANES <= n; i += 2 * CPU_LANES) {
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
            silu_mul__lines(a, &first, &out_first);
            silu_mul__lines(a, &second, &out_second);
            vector_store_pair(at.y + i, out_first.y, out_second.y, stream);
        }
        for (; i < n; i += CPU_LANES) {
            const int64_t count = vector_count(n - i);
            first.gate = s.gate == 0 ? pair_gate.a : vector_load_part(at.gate + i, count);
            first.up = s.up == 0 ? pair_up.a : vector_load_part(at.up + i, count);
            silu_mul__lines(a, &first, &out_first);
            vector_store_part(at.y + i, out_first.y, count);
        }
    }
}
#endif

/* The same where operands have the step 1, or 0 if they are only read; what is streamed starts aligned. Most calls are
 * `plain`, with steps that are all 1. */
CPU_OUTLINE void silu_mul__dense_rows(
    const silu_mul_args *args, silu_mul__data d,
    silu_mul__step s, silu_mul__step next, int64_t n, int64_t rows, bool stream) {
    const silu_mul_args copy = *args, *const a = &copy;
    const silu_mul__step one = {
        .gate = 1,
        .up = 1,
        .y = 1,
    };
    (void)s, (void)stream;
#if ELEMENTWISE_BITS != 0
    bool plain = !stream;
    plain = plain && s.gate == 1;
    plain = plain && s.up == 1;
    if (plain) {
        silu_mul__paired_rows(a, d, one, next, n, rows, false);
    } else {
        silu_mul__paired_rows(a, d, s, next, n, rows, stream);
    }
#else
    for (int64_t k = 0; k < rows; k++) {
        const silu_mul__data at = silu_mul__moved(d, next, k);
        int64_t i = 0;
        for (; i + CPU_LANES <= n; i += CPU_LANES) {
            silu_mul__part(a, at, one, i, CPU_LANES);
        }
        if (i < n) {
            silu_mul__part(a, at, one, i, n - i);
        }
    }
#endif
}

/* Units are elements where there is one dim, tiles otherwise. */
static void silu_mul(const silu_mul_args *a, int64_t begin, int64_t end) {
    const elementwise_layout *const layout = a->layout__;
    const silu_mul__step s = {
        .gate = a->stride__[0][0],
        .up = a->stride__[1][0],
        .y = a->stride__[2][0],
    };
    const silu_mul__data d = {
        .gate = a->gate,
        .up = a->up,
        .y = a->y,
    };
    if (layout->dims == 1) {
        silu_mul__data at = silu_mul__moved(d, s, begin);
        if (!silu_mul__is_dense(s)) {
            silu_mul__strided_rows(a, at, s, s, end - begin, 1);
            return;
        }
        if (vector_streams(a->y, layout->elements)) {
            const int64_t head = vector_stream_head(at.y, end - begin);
            silu_mul__strided_rows(a, at, s, s, head, 1);
            silu_mul__dense_rows(a, silu_mul__moved(at, s, head), s, s, end - begin - head, 1, true);
            vector_stream_end();
            return;
        }
        silu_mul__dense_rows(a, at, s, s, end - begin, 1, false);
        return;
    }
    const silu_mul__step down = {
        .gate = a->stride__[0][1],
        .up = a->stride__[1][1],
        .y = a->stride__[2][1],
    };
    silu_mul__buffers buffers;
    silu_mul__data packed = {0};
    cpu_tile packed_tile = {0};
    cpu_tile tile = cpu_tile_at(layout, begin);
    for (int64_t unit = begin; unit < end; unit++, cpu_tile_advance(layout, &tile)) {
        silu_mul__data row = {
            .gate = d.gate + cpu_tile_offset(layout, &tile, a->stride__[0]),
            .up = d.up + cpu_tile_offset(layout, &tile, a->stride__[1]),
            .y = d.y + cpu_tile_offset(layout, &tile, a->stride__[2]),
        };
        silu_mul__step across = s, next = down;
        if (row.gate != NULL && cpu_is_packed(layout, a->stride__[0])) {
            if (row.gate != packed.gate || !cpu_tile_covers(&packed_tile, &tile)) {
                cpu_pack(buffers.gate, row.gate, sizeof *row.gate, layout, &tile,
                         a->stride__[0]);
            }
            packed.gate = row.gate;
            row.gate = buffers.gate;
            across.gate = 1;
            next.gate = cpu_packed_row(layout);
        }
        if (row.up != NULL && cpu_is_packed(layout, a->stride__[1])) {
            if (row.up != packed.up || !cpu_tile_covers(&packed_tile, &tile)) {
                cpu_pack(buffers.up, row.up, sizeof *row.up, layout, &tile,
                         a->stride__[1]);
            }
            packed.up = row.up;
            row.up = buffers.up;
            across.up = 1;
            next.up = cpu_packed_row(layout);
        }
        packed_tile = tile;
        const bool joined = layout->order == ELEMENTWISE_PACKED;
        const int64_t n = joined ? tile.row * tile.rows : tile.row, rows = joined ? 1 : tile.rows;
        if (silu_mul__is_dense(across)) {
            silu_mul__dense_rows(a, row, across, next, n, rows, false);
        } else {
            silu_mul__strided_rows(a, row, across, next, n, rows);
        }
    }
}

static silu_mul_args silu_mul_args_from(const void *record, cpu_piece *piece) {
    const silu_mul_call *const call = record;
    return (silu_mul_args){
        .gate = call->gate,
        .up = call->up,
        .y = call->y,
        .layout__ = &call->layout__,
        .shape = call->shape,
        .stride__ = call->stride__,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(silu_mul)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(silu_mul)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const silu_mul_args args = silu_mul_args_from(record, piece);
    silu_mul(&args, begin, end);
}
