#include "values.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "cuda.h"

/* ---- Checking mode */

static atomic_bool checking;

void values_load(const char *variable) {
    const char *const text = getenv(variable);
    values_check(text != NULL && text[0] != '\0' && strcmp(text, "0") != 0);
}

bool values_check(bool on) { return atomic_exchange(&checking, on); }

bool values_visible(const tensor *t) {
    return given(t) && (!on_cuda(t) || atomic_load_explicit(&checking, memory_order_relaxed));
}

static bool may_wait(error *e, const char *name, int32_t device_index) {
    cuda_scope scope;
    if (!cuda_enter(e, device_index, &scope)) {
        return false;
    }
    bool capturing = false;
    cuda_is_capturing(e, &scope, &capturing);
    cuda_leave(e, &scope);
    CHECK(e, !capturing, "%s: its values are being checked, and the capture of a CUDA graph cannot wait for them",
          name);
    return !e->set;
}

const tensor *values_seen(error *e, const char *name, const tensor *t, tensor *copy) {
    if (!on_cuda(t)) {
        return t;
    }
    const device host = {.type = aoti_torch_device_type_cpu(), .index = -1};
    shape s = {.dim = 0};
    const bool made =
        given(copy) || (may_wait(e, name, t->device.index) && shape_add(e, &s, t->sizes, t->dim) &&
                        tensor_empty(e, copy, name, &s, t->dtype, host) && tensor_copy_elements(e, copy, t));
    return made ? copy : NULL;
}

/* ---- Ranges */

integer_range integer_range_all(void) { return (integer_range){.lower = INT64_MIN, .upper = INT64_MAX}; }

real_range real_range_all(void) { return (real_range){.lower = (double)-INFINITY, .upper = (double)INFINITY}; }

static void integer_range_clear(integer_range *range) { *range = (integer_range){.lower = 1, .upper = 0}; }

static void real_range_clear(real_range *range) { *range = (real_range){.lower = 1, .upper = 0}; }

void integer_range_limit(integer_range *range, comparison how, int64_t bound) {
    if ((how == BELOW && bound == INT64_MIN) || (how == ABOVE && bound == INT64_MAX)) {
        integer_range_clear(range);
        return;
    }
    if (how == OTHER_THAN) {
        range->hole[range->holes++] = bound;
        return;
    }
    if (how == BELOW || how == AT_MOST || how == EQUAL_TO) {
        range->upper = min_i64(range->upper, how == BELOW ? bound - 1 : bound);
    }
    if (how == ABOVE || how == AT_LEAST || how == EQUAL_TO) {
        range->lower = max_i64(range->lower, how == ABOVE ? bound + 1 : bound);
    }
}

void real_range_limit(real_range *range, comparison how, double bound) {
    if (isnan(bound) || (how == BELOW && bound == (double)-INFINITY) || (how == ABOVE && bound == (double)INFINITY)) {
        real_range_clear(range);
        return;
    }
    if (how == OTHER_THAN) {
        range->hole[range->holes++] = bound;
        return;
    }
    if (how == BELOW || how == AT_MOST || how == EQUAL_TO) {
        range->upper = fmin(range->upper, how == BELOW ? nextafter(bound, (double)-INFINITY) : bound);
    }
    if (how == ABOVE || how == AT_LEAST || how == EQUAL_TO) {
        range->lower = fmax(range->lower, how == ABOVE ? nextafter(bound, (double)INFINITY) : bound);
    }
}

void integer_range_add(integer_range *range, int64_t number) { range->beside[range->besides++] = number; }

void real_range_add(real_range *range, double number) { range->beside[range->besides++] = number; }

static bool integer_is_outside(const integer_range *range, int64_t element) {
    for (int i = 0; i < range->besides; i++) {
        if (element == range->beside[i]) {
            return false;
        }
    }
    return element < range->lower || element > range->upper || (range->holes > 0 && element == range->hole[0]) ||
           (range->holes > 1 && element == range->hole[1]);
}

static bool real_is_outside(const real_range *range, double element) {
    for (int i = 0; i < range->besides; i++) {
        if (element == range->beside[i]) {
            return false;
        }
    }
    return !(element >= range->lower && element <= range->upper) || (range->holes > 0 && element == range->hole[0]) ||
           (range->holes > 1 && element == range->hole[1]);
}

/* ---- Rules */

/* Whether any of these may be outside, without a branch or a comparison for each: of x - lower and upper - x one is
 * negative where x is outside. In 64 bits that wrap around it still is, as long as lower <= upper; where x is very far
 * from a limit it may be although x is inside, so this only says that it is worth looking. */
static bool may_be_outside(const int64_t *element, int64_t count, int64_t lower, int64_t upper) {
    uint64_t negative = 0;
    for (int64_t i = 0; i < count; i++) {
        negative |= ((uint64_t)element[i] - (uint64_t)lower) | ((uint64_t)upper - (uint64_t)element[i]);
    }
    return negative >> 63 != 0;
}

int64_t integers_outside(const tensor *t, const void *data, int64_t column, const integer_range *range) {
    const int64_t lower = range->lower, upper = range->upper;
    const bool look = lower > upper || range->holes > 0;
    int64_t element[CHUNK];
    walk w = walk_begin(t, data, column);
    int64_t count;
    for (int64_t done = 0; (count = walk_integers(&w, element)) > 0; done += count) {
        if (!look && !may_be_outside(element, count, lower, upper)) {
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            if (integer_is_outside(range, element[i])) {
                return walk_place(&w, done + i);
            }
        }
    }
    return -1;
}

int64_t reals_outside(const tensor *t, const void *data, int64_t column, const real_range *range) {
    const double lower = range->lower, upper = range->upper;
    double element[CHUNK];
    walk w = walk_begin(t, data, column);
    int64_t count;
    for (int64_t done = 0; (count = walk_reals(&w, element)) > 0; done += count) {
        int outside = 0;
        for (int64_t i = 0; i < count; i++) {
            outside |= !(element[i] >= lower) | !(element[i] <= upper); /* a NaN is neither */
        }
        for (int64_t i = 0; (outside != 0 || range->holes > 0) && i < count; i++) {
            if (real_is_outside(range, element[i])) {
                return walk_place(&w, done + i);
            }
        }
    }
    return -1;
}

int64_t integers_sum(bool *overflow, const tensor *t, const void *data, int64_t column) {
    int64_t element[CHUNK];
    walk w = walk_begin(t, data, column);
    int64_t count, sum = 0;
    while ((count = walk_integers(&w, element)) > 0) {
        for (int64_t i = 0; i < count; i++) {
            sum = add_i64(overflow, sum, element[i]);
        }
    }
    return sum;
}

double reals_sum(const tensor *t, const void *data, int64_t column) {
    double element[CHUNK];
    walk w = walk_begin(t, data, column);
    int64_t count;
    double sum = 0;
    while ((count = walk_reals(&w, element)) > 0) {
        for (int64_t i = 0; i < count; i++) {
            sum += element[i];
        }
    }
    return sum;
}

offsets_found offsets_check(const tensor *t, const void *data, int64_t column, int64_t total) {
    int64_t element[CHUNK];
    walk w = walk_begin(t, data, column);
    int64_t count, done = 0, before = 0;
    for (; (count = walk_integers(&w, element)) > 0; done += count) {
        for (int64_t i = 0; i < count; i++) {
            if (done + i == 0 && element[i] != 0) {
                return (offsets_found){OFFSETS_START, walk_place(&w, 0), 0};
            }
            if (element[i] < before) {
                return (offsets_found){OFFSETS_FALL, walk_place(&w, done + i), before};
            }
            before = element[i];
        }
    }
    if (done == 0) {
        return (offsets_found){.fault = OFFSETS_NONE};
    }
    return (offsets_found){before == total ? OFFSETS_RIGHT : OFFSETS_END, walk_place(&w, done - 1), 0};
}

const char *element_text(error *e, const tensor *t, const void *data, int64_t place) {
    return dtype_is_integer(t->dtype) ? int_text(e, element_integer(t, data, place))
                                      : float_text(e, element_real(t, data, place));
}
