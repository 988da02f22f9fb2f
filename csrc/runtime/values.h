/* Rules on the elements of tensors, as `values:` of a spec states them.
 *
 * Elements are looked at on the CPU, and on a GPU in checking mode only, in a copy on the host. A place is the number
 * of an element in row-major order, -1 is none; a column is an index in the last dim, ALL_COLUMNS means the whole
 * tensor. Whole numbers are compared as int64_t, real ones as double, which holds each of them exactly. */
#ifndef RUNTIME_VALUES_H
#define RUNTIME_VALUES_H

#include "element_walk.h"
#include "tensor.h"

/* Checking mode is of the whole process: off, but where the environment variable of this name says otherwise when the
 * library is loaded. The second turns it on or off, and returns what it was. */
void values_load(const char *variable);
bool values_check(bool on);

/* Whether rules look at the elements of this tensor: not at those of an absent one, and outside of checking mode not at
 * those of a GPU, which would be to wait for it. */
bool values_visible(const tensor *t);

/* The tensor in whose memory they look: that of the argument `name` itself, or, where it is on a GPU, a copy for which
 * the call waits. It is made once, into *copy, which is to be released. Null after an error; a graph that is being
 * captured cannot be waited for. */
const tensor *values_seen(error *e, const char *name, const tensor *t, tensor *copy);

/* What an element is compared with a bound by. */
typedef enum comparison { BELOW, AT_MOST, ABOVE, AT_LEAST, EQUAL_TO, OTHER_THAN } comparison;

enum { MOST_BESIDES = 4 };

/* The allowed elements: from lower to upper, both included, but for the holes, and single ones besides. A chain has two
 * comparisons at most. */
typedef struct integer_range {
    int64_t lower, upper;
    int holes, besides;
    int64_t hole[2], beside[MOST_BESIDES];
} integer_range;

typedef struct real_range {
    double lower, upper;
    int holes, besides;
    double hole[2], beside[MOST_BESIDES];
} real_range;

integer_range integer_range_all(void);
real_range real_range_all(void);

/* Leaves in the range what compares like this. Nothing compares with a NaN. */
void integer_range_limit(integer_range *range, comparison how, int64_t bound);
void real_range_limit(real_range *range, comparison how, double bound);

/* Allows one number more. */
void integer_range_add(integer_range *range, int64_t number);
void real_range_add(real_range *range, double number);

/* The first element that is not in the range. A NaN is in none. */
int64_t integers_outside(const tensor *t, const void *data, int64_t column, const integer_range *range);
int64_t reals_outside(const tensor *t, const void *data, int64_t column, const real_range *range);

/* The sum of all elements, in order; sets *overflow where it leaves 64 bits. */
int64_t integers_sum(bool *overflow, const tensor *t, const void *data, int64_t column);
double reals_sum(const tensor *t, const void *data, int64_t column);

/* Offsets start at 0, never fall, and end at a total. */
typedef enum offsets_fault { OFFSETS_RIGHT, OFFSETS_NONE, OFFSETS_START, OFFSETS_FALL, OFFSETS_END } offsets_fault;

typedef struct offsets_found {
    offsets_fault fault;
    int64_t place;  /* of the first element that is wrong */
    int64_t before; /* the element before that one, for OFFSETS_FALL */
} offsets_found;

offsets_found offsets_check(const tensor *t, const void *data, int64_t column, int64_t total);

/* The element at a place, spelled out for an error. */
const char *element_text(error *e, const tensor *t, const void *data, int64_t place);

#endif
