#include "values.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "cuda.h"
#include "layout.h"

/* So many elements at a time are read into numbers of one type; loops over these are what compilers vectorise. */
enum { CHUNK = 512 };

/* ---- Reading: `count` elements from `first` on, `stride` elements apart */

#define READ_INTEGERS(dtype, type)                                                                                     \
    static void read_##dtype(const void *first, int64_t stride, int64_t count, int64_t *to) {                          \
        const type *const from = first;                                                                                \
        if (stride == 1) {                                                                                             \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                to[i] = from[i];                                                                                       \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            to[i] = from[i * stride];                                                                                  \
        }                                                                                                              \
    }

READ_INTEGERS(int8, int8_t)
READ_INTEGERS(int16, int16_t)
READ_INTEGERS(int32, int32_t)
READ_INTEGERS(int64, int64_t)
READ_INTEGERS(uint8, uint8_t)

static void read_integers(dtype d, const void *first, int64_t stride, int64_t count, int64_t *to) {
    switch (d) {
    case DTYPE_INT8:
        read_int8(first, stride, count, to);
        return;
    case DTYPE_INT16:
        read_int16(first, stride, count, to);
        return;
    case DTYPE_INT32:
        read_int32(first, stride, count, to);
        return;
    case DTYPE_INT64:
        read_int64(first, stride, count, to);
        return;
    case DTYPE_BOOL: /* any byte but 0 is True */
        read_uint8(first, stride, count, to);
        for (int64_t i = 0; i < count; i++) {
            to[i] = to[i] != 0;
        }
        return;
    default:
        read_uint8(first, stride, count, to);
    }
}

static float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Exponent and fraction shifted to where float32 has them make a number that is too small by a power of two, and right
 * for denormals too once it is multiplied by that. */
static double small_float(unsigned bits, int fraction_bits, float scale) {
    return float_of_bits(bits << (23 - fraction_bits)) * scale;
}

static double real_float16(unsigned bits) {
    const unsigned magnitude = bits & 0x7fff;
    const double value = magnitude < 0x7c00   ? small_float(magnitude, 10, 0x1p112f)
                         : magnitude > 0x7c00 ? (double)NAN
                                              : (double)INFINITY;
    return (bits & 0x8000) != 0 ? -value : value;
}

static double real_float8(dtype d, unsigned bits) {
    const unsigned magnitude = bits & 0x7f;
    double value;
    switch (d) {
    case DTYPE_FLOAT8_E8M0FNU: /* an exponent and nothing else */
        return bits == 0xff ? (double)NAN : ldexp(1.0, (int)bits - 127);
    case DTYPE_FLOAT8_E5M2:
        return real_float16(bits << 8);
    case DTYPE_FLOAT8_E4M3FN:
        value = magnitude == 0x7f ? (double)NAN : small_float(magnitude, 3, 0x1p120f);
        break;
    case DTYPE_FLOAT8_E4M3FNUZ:
        value = bits == 0x80 ? (double)NAN : small_float(magnitude, 3, 0x1p119f);
        break;
    default:
        value = bits == 0x80 ? (double)NAN : small_float(magnitude, 2, 0x1p111f);
    }
    return (bits & 0x80) != 0 ? -value : value;
}

#define READ_REALS(dtype, type, value)                                                                                 \
    static void read_##dtype(const void *first, int64_t stride, int64_t count, double *to) {                           \
        const type *const from = first;                                                                                \
        if (stride == 1) {                                                                                             \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                to[i] = value(from[i]);                                                                                \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            to[i] = value(from[i * stride]);                                                                           \
        }                                                                                                              \
    }

static double real_bfloat16(uint16_t bits) { return float_of_bits((uint32_t)bits << 16); }

READ_REALS(float64, double, )
READ_REALS(float32, float, )
READ_REALS(float16, uint16_t, real_float16)
READ_REALS(bfloat16, uint16_t, real_bfloat16)

static void read_reals(dtype d, const void *first, int64_t stride, int64_t count, double *to) {
    const uint8_t *const bytes = first;
    int64_t integers[CHUNK];
    switch (d) {
    case DTYPE_FLOAT64:
        read_float64(first, stride, count, to);
        return;
    case DTYPE_FLOAT32:
        read_float32(first, stride, count, to);
        return;
    case DTYPE_FLOAT16:
        read_float16(first, stride, count, to);
        return;
    case DTYPE_BFLOAT16:
        read_bfloat16(first, stride, count, to);
        return;
    case DTYPE_FLOAT8_E4M3FN:
    case DTYPE_FLOAT8_E5M2:
    case DTYPE_FLOAT8_E4M3FNUZ:
    case DTYPE_FLOAT8_E5M2FNUZ:
    case DTYPE_FLOAT8_E8M0FNU:
        for (int64_t i = 0; i < count; i++) {
            to[i] = real_float8(d, bytes[i * stride]);
        }
        return;
    default: /* a rule may be on a variable that stands for integers as well */
        read_integers(d, first, stride, count, integers);
        for (int64_t i = 0; i < count; i++) {
            to[i] = (double)integers[i];
        }
    }
}

/* ---- Walking: through a tensor, or a column of it, row by row */

typedef struct walk {
    const tensor *t;
    const char *data;
    int64_t dim;           /* dims in front of the one that a row runs along */
    int64_t rows, width;   /* how many rows, and elements in each */
    int64_t stride;        /* between the elements of a row */
    int64_t row, at;       /* the next element */
    int64_t columns, from; /* element i of the walk stands at place i * columns + from */
} walk;

static walk walk_begin(const tensor *t, const void *data, int64_t column) {
    walk w = {.t = t, .data = data, .rows = 1, .width = t->numel, .stride = 1, .columns = 1};
    int64_t dim = t->dim;
    if (column != ALL_COLUMNS) {
        dim--;
        w.columns = t->sizes[dim];
        w.from = column;
        w.data += column * t->strides[dim] * dtype_size(t->dtype);
        w.width /= w.columns;
    }
    if (w.width == 0 || (column == ALL_COLUMNS && tensor_is_contiguous(t)) || dim == 0) {
        return w;
    }
    w.dim = dim - 1;
    w.rows = w.width / t->sizes[w.dim];
    w.width = t->sizes[w.dim];
    w.stride = t->strides[w.dim];
    return w;
}

/* The address of the next elements, and how many of them follow there, CHUNK at most; 0 at the end. */
static int64_t walk_next(walk *w, const void **first) {
    if (w->at == w->width) {
        w->at = 0;
        w->row++;
    }
    if (w->row >= w->rows || w->width == 0) {
        return 0;
    }
    int64_t offset = w->at * w->stride;
    for (int64_t d = w->dim - 1, row = w->row; d >= 0; row /= w->t->sizes[d], d--) {
        offset += row % w->t->sizes[d] * w->t->strides[d];
    }
    const int64_t left = w->width - w->at;
    const int64_t count = left < CHUNK ? left : CHUNK;
    *first = w->data + offset * dtype_size(w->t->dtype);
    w->at += count;
    return count;
}

static int64_t next_integers(walk *w, int64_t *to) {
    const void *first;
    const int64_t count = walk_next(w, &first);
    if (count > 0) {
        read_integers(w->t->dtype, first, w->stride, count, to);
    }
    return count;
}

static int64_t next_reals(walk *w, double *to) {
    const void *first;
    const int64_t count = walk_next(w, &first);
    if (count > 0) {
        read_reals(w->t->dtype, first, w->stride, count, to);
    }
    return count;
}

static int64_t place(const walk *w, int64_t i) { return i * w->columns + w->from; }

/* ---- Rules */

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
    for (int64_t done = 0; (count = next_integers(&w, element)) > 0; done += count) {
        if (!look && !may_be_outside(element, count, lower, upper)) {
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            if (integer_is_outside(range, element[i])) {
                return place(&w, done + i);
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
    for (int64_t done = 0; (count = next_reals(&w, element)) > 0; done += count) {
        int outside = 0;
        for (int64_t i = 0; i < count; i++) {
            outside |= !(element[i] >= lower) | !(element[i] <= upper); /* a NaN is neither */
        }
        for (int64_t i = 0; (outside != 0 || range->holes > 0) && i < count; i++) {
            if (real_is_outside(range, element[i])) {
                return place(&w, done + i);
            }
        }
    }
    return -1;
}

int64_t integers_sum(bool *overflow, const tensor *t, const void *data, int64_t column) {
    int64_t element[CHUNK];
    walk w = walk_begin(t, data, column);
    int64_t count, sum = 0;
    while ((count = next_integers(&w, element)) > 0) {
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
    while ((count = next_reals(&w, element)) > 0) {
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
    for (; (count = next_integers(&w, element)) > 0; done += count) {
        for (int64_t i = 0; i < count; i++) {
            if (done + i == 0 && element[i] != 0) {
                return (offsets_found){OFFSETS_START, place(&w, 0), 0};
            }
            if (element[i] < before) {
                return (offsets_found){OFFSETS_FALL, place(&w, done + i), before};
            }
            before = element[i];
        }
    }
    if (done == 0) {
        return (offsets_found){.fault = OFFSETS_NONE};
    }
    return (offsets_found){before == total ? OFFSETS_RIGHT : OFFSETS_END, place(&w, done - 1), 0};
}

const char *element_text(error *e, const tensor *t, const void *data, int64_t place) {
    int64_t offset = 0;
    for (int64_t d = t->dim - 1; d >= 0; d--) {
        offset += place % t->sizes[d] * t->strides[d];
        place /= t->sizes[d];
    }
    const char *const first = (const char *)data + offset * dtype_size(t->dtype);
    if (dtype_is_integer(t->dtype)) {
        int64_t element;
        read_integers(t->dtype, first, 1, 1, &element);
        return int_text(e, element);
    }
    double element;
    read_reals(t->dtype, first, 1, 1, &element);
    return float_text(e, element);
}
