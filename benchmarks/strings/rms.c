#include <math.h>

static void rms(const rms_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *x = a->x + row * a->n;
        acc_t sum = 0;
        for (int64_t i = 0; i < a->n; i++) {
            sum += load(x + i) * load(x + i);
        }
        const acc_t rstd = 1 / sqrtf(sum / (acc_t)a->n + a->eps);
        for (int64_t i = 0; i < a->n; i++) {
            store(a->y + row * a->n + i, load(x + i) * rstd);
        }
        if (a->rstd != NULL) {
            a->rstd[row] = rstd;
        }
    }
}
