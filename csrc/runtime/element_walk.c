#include "element_walk.h"

#include <math.h>
#include <string.h>

#include "layout.h"

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

/* ---- Walking */

walk walk_begin(const tensor *t, const void *data, int64_t column) {
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

int64_t walk_integers(walk *w, int64_t *to) {
    const void *first;
    const int64_t count = walk_next(w, &first);
    if (count > 0) {
        read_integers(w->t->dtype, first, w->stride, count, to);
    }
    return count;
}

int64_t walk_reals(walk *w, double *to) {
    const void *first;
    const int64_t count = walk_next(w, &first);
    if (count > 0) {
        read_reals(w->t->dtype, first, w->stride, count, to);
    }
    return count;
}

int64_t walk_place(const walk *w, int64_t i) { return i * w->columns + w->from; }

/* ---- Single elements */

static const void *element_at(const tensor *t, const void *data, int64_t place) {
    int64_t offset = 0;
    for (int64_t d = t->dim - 1; d >= 0; d--) {
        offset += place % t->sizes[d] * t->strides[d];
        place /= t->sizes[d];
    }
    return (const char *)data + offset * dtype_size(t->dtype);
}

int64_t element_integer(const tensor *t, const void *data, int64_t place) {
    int64_t element;
    read_integers(t->dtype, element_at(t, data, place), 1, 1, &element);
    return element;
}

double element_real(const tensor *t, const void *data, int64_t place) {
    double element;
    read_reals(t->dtype, element_at(t, data, place), 1, 1, &element);
    return element;
}
