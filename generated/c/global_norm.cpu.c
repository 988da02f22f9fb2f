/* my_ops::global_norm(Tensor[] xs) -> Tensor
 *
 * The CPU unit of global_norm.
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
#include "global_norm_call.h"

typedef struct global_norm_args {
    const scalar_t *const *xs;
    int64_t xs_count;
    acc_t *norm;
    acc_t *partial;
    int64_t partial_size[1];
    const int64_t *s;
    int64_t total;
    int64_t parts;
    cpu_piece *piece__; /* for body_error */
} global_norm_args;

#include "../../csrc/global_norm.c"

static global_norm_args global_norm_args_from(const void *record, cpu_piece *piece) {
    const global_norm_call *const call = record;
    return (global_norm_args){
        .xs = (const scalar_t *const *)call->xs,
        .xs_count = call->xs_count,
        .norm = call->norm,
        .partial = call->partial,
        .partial_size = {call->partial_size[0]},
        .s = call->s,
        .total = call->total,
        .parts = call->parts,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(global_norm_parts)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(global_norm_parts)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const global_norm_args args = global_norm_args_from(record, piece);
    global_norm_parts(&args, begin, end); /* csrc/global_norm.c defines it */
}

void CPU_SYMBOL(global_norm_total)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(global_norm_total)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const global_norm_args args = global_norm_args_from(record, piece);
    global_norm_total(&args, begin, end); /* csrc/global_norm.c defines it */
}
