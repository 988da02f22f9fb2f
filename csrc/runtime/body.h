/* What a C body can tell its call: that data is bad in a way that only the body finds out.
 *
 * body_error(a, format, ...) takes what printf takes. The call then raises this text, with its operator in front, when
 * all threads are done; the body goes on or returns as it likes. Of several errors that of the lowest unit is kept, if
 * bodies work through [begin, end) in rising order, however many threads there are. */
#ifndef RUNTIME_BODY_H
#define RUNTIME_BODY_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

/* The units that one call of a body works on. */
typedef struct cpu_piece {
    struct cpu_job *job;
    int64_t begin;
    bool failed;
} cpu_piece;

__attribute__((format(printf, 2, 3))) void cpu_body_error(cpu_piece *piece, const char *format, ...);

#define body_error(a, ...) cpu_body_error((a)->piece__, __VA_ARGS__)

#endif
