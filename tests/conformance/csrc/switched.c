#include <string.h>

static void switched(const switched_args *a, int64_t begin, int64_t end) {
    acc_t added = (acc_t)strlen(a->label) + (a->note != NULL ? (acc_t)strlen(a->note) : -1);
    for (int64_t i = 0; i < a->shifts_count; i++) {
        added += (acc_t)a->shifts[i];
    }
    for (int64_t i = 0; i < a->fs_count; i++) {
        added += (acc_t)a->fs[i];
    }
    added += a->fs_given ? 1 : 0;
    added += a->k_given ? (acc_t)(100 * a->k) : 0;
    added += a->causal ? 1000 : 0;
    added += a->mode == switched_mode_double ? 5000 : 0;
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        store(a->y + i, load(a->x + i) * (acc_t)a->width + added);
    }
}
