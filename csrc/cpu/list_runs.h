/* All elements of a list of tensors, counted one tensor after the other:
 *
 *     list_run run = list_runs(a->s, first, last);
 *     while (list_next(&run))
 *         ...                   elements [run.first, run.first + run.count) of tensor run.tensor */
#ifndef CSRC_CPU_LIST_RUNS_H
#define CSRC_CPU_LIST_RUNS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const int64_t *sizes; /* of the tensors */
    int64_t tensor, first, count;
    int64_t left; /* elements of the runs that follow */
} list_run;

/* Of elements [first, last) of all, which the list has. */
static inline list_run list_runs(const int64_t *sizes, int64_t first, int64_t last) {
    list_run run = {.sizes = sizes, .first = first, .left = last - first};
    while (run.left > 0 && run.first >= sizes[run.tensor])
        run.first -= sizes[run.tensor++];
    return run;
}

static inline bool list_next(list_run *run) {
    if (run->left <= 0)
        return false;
    run->first += run->count;
    while (run->first >= run->sizes[run->tensor]) {
        run->tensor++;
        run->first = 0;
    }
    const int64_t rest = run->sizes[run->tensor] - run->first;
    run->count = rest < run->left ? rest : run->left;
    run->left -= run->count;
    return true;
}

#endif
