#include "runtime/dtype.h"

static void converted(const converted_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store_Q(a->y + i, (Q_acc_t)load(a->x + i));
        a->z[i] = (R_acc_t)load(a->x + i) + (a->hint == DTYPE_INT8 ? 1 : 0) + (a->other_given ? 10 : 0);
    }
}
