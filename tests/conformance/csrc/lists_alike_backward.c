#include "rows.h"

static void lists_alike_backward(const lists_alike_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        for (int64_t j = 0; j < a->s[i] * a->m[i] * a->n[i] && a->grad_xs[i] != NULL; j++) {
            const int64_t from = element_offset(j, a->grad_ys_dim[i], a->grad_ys_size[i], a->grad_ys_stride[i]);
            const int64_t to = element_offset(j, a->grad_xs_dim[i], a->grad_xs_size[i], a->grad_xs_stride[i]);
            acc_t sum = 3 * load(a->grad_ys[i] + from);
            const int64_t row = j / a->n[i] % a->m[i], column = j % a->n[i], *const z = a->grad_zs_stride[i];
            for (int64_t l = 0; l < a->k[i]; l++)
                sum += load(a->grad_zs[i] + row * z[0] + l * z[1] + column * z[2]);
            store(a->grad_xs[i] + to, sum);
        }
    }
}
