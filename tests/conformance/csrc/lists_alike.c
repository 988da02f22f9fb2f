#include "rows.h"

static void lists_alike(const lists_alike_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const int64_t m = a->m[i], n = a->n[i];
        for (int64_t j = 0; j < a->s[i] * m * n; j++) {
            const acc_t x = load(a->xs[i] + element_offset(j, a->xs_dim[i], a->xs_size[i], a->xs_stride[i]));
            store(a->ys[i] + element_offset(j, a->ys_dim[i], a->ys_size[i], a->ys_stride[i]), 3 * x);
        }
        for (int64_t j = 0; j < m * n; j++) {
            acc_t sum = 0;
            for (int64_t l = j; l < a->s[i] * m * n; l += m * n)
                sum += load(a->xs[i] + element_offset(l, a->xs_dim[i], a->xs_size[i], a->xs_stride[i]));
            for (int64_t l = 0; l < a->k; l++)
                store(a->zs[i] + j * a->k + l, sum); /* rows of k elements, as they lie in memory */
        }
    }
}
