/* CPU kernels: chosen by instruction set at run time, split over PyTorch's threads.
 *
 * Every body is compiled once for each choice of dtypes and each level; which levels a build has, its compile
 * definitions CPU_HAVE_<LEVEL> say. Levels are in rising order. */
#ifndef RUNTIME_CPU_H
#define RUNTIME_CPU_H

#include "body.h"
#include "error.h"

/* Works on units [begin, end) of the call record of its operator, which are the piece. */
typedef void cpu_kernel(const void *call, int64_t begin, int64_t end, cpu_piece *piece);

enum { CPU_BASE, CPU_V2, CPU_V3, CPU_V4, CPU_LEVELS };

typedef struct cpu_kernels {
    cpu_kernel *level[CPU_LEVELS];
} cpu_kernels;

#ifdef CPU_HAVE_BASE
#define CPU_DECLARE_BASE(name) extern cpu_kernel name##__base;
#define CPU_ENTRY_BASE(name) [CPU_BASE] = name##__base,
#else
#define CPU_DECLARE_BASE(name)
#define CPU_ENTRY_BASE(name)
#endif
#ifdef CPU_HAVE_V2
#define CPU_DECLARE_V2(name) extern cpu_kernel name##__v2;
#define CPU_ENTRY_V2(name) [CPU_V2] = name##__v2,
#else
#define CPU_DECLARE_V2(name)
#define CPU_ENTRY_V2(name)
#endif
#ifdef CPU_HAVE_V3
#define CPU_DECLARE_V3(name) extern cpu_kernel name##__v3;
#define CPU_ENTRY_V3(name) [CPU_V3] = name##__v3,
#else
#define CPU_DECLARE_V3(name)
#define CPU_ENTRY_V3(name)
#endif
#ifdef CPU_HAVE_V4
#define CPU_DECLARE_V4(name) extern cpu_kernel name##__v4;
#define CPU_ENTRY_V4(name) [CPU_V4] = name##__v4,
#else
#define CPU_DECLARE_V4(name)
#define CPU_ENTRY_V4(name)
#endif

/* Declares a kernel at every level of this build, and lists it for a cpu_kernels. */
#define CPU_DECLARE(name) CPU_DECLARE_BASE(name) CPU_DECLARE_V2(name) CPU_DECLARE_V3(name) CPU_DECLARE_V4(name)
#define CPU_KERNELS(name)                                                                                              \
    {                                                                                                                  \
        {                                                                                                              \
            CPU_ENTRY_BASE(name) CPU_ENTRY_V2(name) CPU_ENTRY_V3(name) CPU_ENTRY_V4(name)                              \
        }                                                                                                              \
    }

/* Chooses the highest level that this processor and this build have. Null on success, else what is wrong. */
const char *cpu_load(void);

/* One pass of a call: a kernel on units [0, units). Without kernels it is skipped. */
typedef struct cpu_plan {
    const cpu_kernels *kernels;
    int64_t units;
} cpu_plan;

/* Whether a pass that is not skipped has nothing to run on. */
bool cpu_any_empty(const cpu_plan *plans, int count);

/* Runs the passes in order. `bytes` is what the whole call reads and writes: it decides how many units are worth a
 * thread. Results must not depend on how the units are split. */
bool cpu_run(error *e, const cpu_plan *plans, int count, const void *call, int64_t bytes);

#endif
