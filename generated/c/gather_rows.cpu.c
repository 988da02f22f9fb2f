/* my_ops::gather_rows(Tensor table, Tensor index) -> Tensor
 *
 * The CPU unit of gather_rows.
 * It is compiled once for each choice of dtypes and each instruction set; the build defines T_DTYPE, I_DTYPE and
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

typedef CPU_SCALAR(I_DTYPE) I_t;
typedef CPU_ACC(I_DTYPE) I_acc_t;

static inline I_acc_t load_I(const I_t *p) {
    return CPU_LOAD(I_DTYPE)(p);
}

static inline void store_I(I_t *p, I_acc_t value) {
    CPU_STORE(I_DTYPE)(p, value);
}

/* The first variable goes by these names too. */
#define CPU_DTYPE T_DTYPE
#define scalar_t T_t
#define acc_t T_acc_t
#define load load_T
#define store store_T

#include "vector.h"

#include "body.h"
#include "gather_rows_call.h"

typedef struct gather_rows_args {
    const scalar_t *table;
    const I_t *index;
    scalar_t *y;
    int64_t m;
    int64_t n;
    int64_t k;
    cpu_piece *piece__; /* for body_error */
} gather_rows_args;

#include "../../csrc/gather_rows.c"

static gather_rows_args gather_rows_args_from(const void *record, cpu_piece *piece) {
    const gather_rows_call *const call = record;
    return (gather_rows_args){
        .table = call->table,
        .index = call->index,
        .y = call->y,
        .m = call->m,
        .n = call->n,
        .k = call->k,
        .piece__ = piece,
    };
}

void CPU_SYMBOL(gather_rows)(const void *record, int64_t begin, int64_t end, cpu_piece *piece);

void CPU_SYMBOL(gather_rows)(const void *record, int64_t begin, int64_t end, cpu_piece *piece) {
    const gather_rows_args args = gather_rows_args_from(record, piece);
    gather_rows(&args, begin, end); /* csrc/gather_rows.c defines it */
}
