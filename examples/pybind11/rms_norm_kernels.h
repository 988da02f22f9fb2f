/* Where the kernels of my_ops::rms_norm begin, for float32. */
#ifndef RMS_NORM_KERNELS_H
#define RMS_NORM_KERNELS_H

#include "rms_norm_call.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cpu_piece;

/* Rows [begin, end) on the CPU, in this thread. */
void rms_norm__float32(const void *call, int64_t begin, int64_t end, struct cpu_piece *piece);

/* All rows on the current GPU, in the order of a stream. */
void rms_norm_launch(const rms_norm_call *call, void *stream);

#ifdef __cplusplus
}
#endif

#endif
