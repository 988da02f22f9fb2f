/* The square root of the sum of squares of all elements. Units of the first pass are parts of equal length, each of
 * which leaves a sum; the second one adds these. */

#include "list_runs.h"
#include "row_sum.h"

static void global_norm_parts(const global_norm_args *a, int64_t begin, int64_t end) {
    const int64_t length = (a->total + a->parts - 1) / a->parts;
    for (int64_t part = begin; part < end; part++) {
        const int64_t first = part * length < a->total ? part * length : a->total;
        const int64_t last = first + length < a->total ? first + length : a->total;
        acc_t sum = 0;
        list_run run = list_runs(a->s, first, last);
        while (list_next(&run))
            sum += row_sum(a->xs[run.tensor] + run.first, NULL, true, run.count);
        a->partial[part] = sum;
    }
}

static void global_norm_total(const global_norm_args *a, int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; unit++) {
        acc_t sum = 0;
        for (int64_t part = 0; part < a->parts; part++)
            sum += a->partial[part];
        *a->norm = acc_sqrt(sum);
    }
}
