#include <string.h>

/* The lengths of the strings count, and whether one is missing, so that a wrong one is seen. */
static acc_t chosen_factor(const chosen_args *a) {
    const acc_t factor = a->mode == chosen_mode_tanh ? 2 : 1;
    const acc_t length = (acc_t)strlen(a->label) + (a->note != NULL ? (acc_t)strlen(a->note) : -1);
    const acc_t type = a->type == chosen_type_Int ? 3 : a->type == chosen_type_double ? 2 : 1;
    return (a->twice ? 2 * factor : factor) * (length + (a->type_given ? type : 0));
}

static void chosen(const chosen_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t x = load(a->x + i);
        store(a->y + i, chosen_factor(a) * (a->mode == chosen_mode_none ? x : x * x) + (a->plain ? 1 : 0));
    }
}
