#include <string.h>

static acc_t chosen_backward_factor(const chosen_backward_args *a) {
    const acc_t factor = a->mode == chosen_backward_mode_tanh ? 2 : 1;
    const acc_t length = (acc_t)strlen(a->label) + (a->note_given ? (acc_t)strlen(a->note) : -1);
    const acc_t type = a->type == chosen_backward_type_Int ? 3 : a->type == chosen_backward_type_double ? 2 : 1;
    return (a->twice ? 2 * factor : factor) * (length + (a->type_given ? type : 0));
}

static void chosen_backward(const chosen_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t slope = a->mode == chosen_backward_mode_none ? 1 : 2 * load(a->x + i);
        store(a->grad_x + i, chosen_backward_factor(a) * slope * load(a->grad_y + i));
    }
}
