/* The elements of a tensor as numbers of one type, whatever its dtype and strides are: whole ones as int64_t, real ones
 * as double, which holds each of them exactly. The elements lie in memory of the host. */
#ifndef RUNTIME_ELEMENT_WALK_H
#define RUNTIME_ELEMENT_WALK_H

#include "tensor.h"

enum { ALL_COLUMNS = -1 };

/* So many elements at a time become numbers of one type; loops over these are what compilers vectorise. */
enum { CHUNK = 512 };

/* A way through a tensor, or a column of it (an index in the last dim), row by row. */
typedef struct walk {
    const tensor *t;
    const char *data;
    int64_t dim;           /* dims in front of the one that a row runs along */
    int64_t rows, width;   /* how many rows, and elements in each */
    int64_t stride;        /* between the elements of a row */
    int64_t row, at;       /* the next element */
    int64_t columns, from; /* element i of the walk stands at place i * columns + from */
} walk;

/* `data` is where the elements of t lie, or a copy of them; column ALL_COLUMNS means the whole tensor. */
walk walk_begin(const tensor *t, const void *data, int64_t column);

/* The next elements, CHUNK at most, into `to`; returns how many, 0 at the end. */
int64_t walk_integers(walk *w, int64_t *to);
int64_t walk_reals(walk *w, double *to);

/* The number of element i of the walk in the row-major order of the tensor. */
int64_t walk_place(const walk *w, int64_t i);

/* One element, by its number in row-major order. */
int64_t element_integer(const tensor *t, const void *data, int64_t place);
double element_real(const tensor *t, const void *data, int64_t place);

#endif
