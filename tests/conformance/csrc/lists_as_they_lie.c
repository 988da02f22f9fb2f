#include "rows.h"

static void lists_as_they_lie(const lists_as_they_lie_args *a, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        acc_t sum = 0, part = 0; /* in parts, since rounding adds up where elements are equal */
        for (int64_t j = 0; j < a->s[i]; j++) {
            sum += j % 256 == 0 ? part : 0;
            part = j % 256 == 0 ? 0 : part;
            part += load(a->xs[i] + element_offset(j, a->xs_dim[i], a->xs_size[i], a->xs_stride[i]));
        }
        a->y[i] = sum + part;
    }
    for (int64_t i = 0; i < a->ys_count && begin < end; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < a->m[i] * a->n[i]; j++) {
            sum += load(a->ys[i] + j / a->n[i] * a->ys_stride[i][0] + j % a->n[i]);
        }
        a->y[a->xs_count + i] = sum;
    }
    for (int64_t i = 0; i < a->zs_count && begin < end; i++) {
        for (int64_t j = 0; j < a->t[i] * a->k[i]; j++) {
            const int64_t row = j / a->k[i], column = j % a->k[i];
            const acc_t z = load(a->zs[i] + row * a->zs_stride[i][0] + column);
            scalar_t *const w = a->ws[i] + row * a->ws_stride[i][0] + column;
            scalar_t *const v = a->vs[i] + element_offset(j, a->vs_dim[i], a->vs_size[i], a->vs_stride[i]);
            store(w, load(w) + z);
            store(v, load(v) - z);
        }
    }
}
