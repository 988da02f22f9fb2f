#include "cpu.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "torch_abi.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* A thread is worth waking for this many bytes: some tens of microseconds of work at memory speed. */
static const int64_t bytes_per_thread = INT64_C(256) << 10;

static int level;

static const char *const level_names[CPU_LEVELS] = {"base", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

static const bool built[CPU_LEVELS] = {
#ifdef CPU_HAVE_BASE
    [CPU_BASE] = true,
#endif
#ifdef CPU_HAVE_V2
    [CPU_V2] = true,
#endif
#ifdef CPU_HAVE_V3
    [CPU_V3] = true,
#endif
#ifdef CPU_HAVE_V4
    [CPU_V4] = true,
#endif
};

#if defined(__x86_64__)
/* The levels of the x86-64 psABI, from CPUID and from what the operating system saves (XCR0). Asked by hand, because
 * clang before 18 does not know the levels by name. */
static int highest_supported(void) {
    unsigned a, b, c, d, b7 = 0, c7, d7, a1, b1, c1, d1;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001, &a1, &b1, &c1, &d1)) {
        return CPU_BASE;
    }
    __get_cpuid_count(7, 0, &a, &b7, &c7, &d7);
    const unsigned v2 = bit_SSE3 | bit_SSSE3 | bit_CMPXCHG16B | bit_SSE4_1 | bit_SSE4_2 | bit_POPCNT;
    const unsigned v3 = bit_FMA | bit_MOVBE | bit_OSXSAVE | bit_AVX | bit_F16C;
    const unsigned v3_7 = bit_AVX2 | bit_BMI | bit_BMI2;
    const unsigned v4_7 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
    const unsigned lzcnt = 1u << 5, ymm = 0x6, zmm = 0xe6;
    if ((c & v2) != v2) {
        return CPU_BASE;
    }
    if ((c & v3) != v3 || (b7 & v3_7) != v3_7 || (c1 & lzcnt) == 0) {
        return CPU_V2;
    }
    unsigned saved, high;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & ymm) != ymm) {
        return CPU_V2;
    }
    return (b7 & v4_7) == v4_7 && (saved & zmm) == zmm ? CPU_V4 : CPU_V3;
}
#else
static int highest_supported(void) { return CPU_BASE; }
#endif

const char *cpu_load(void) {
    level = highest_supported();
    while (level >= 0 && !built[level]) {
        level--;
    }
    if (level >= 0) {
        return NULL;
    }
    for (int i = 0; i < CPU_LEVELS; i++) {
        if (built[i]) {
            return level_names[i]; /* the lowest that would have done */
        }
    }
    return level_names[CPU_BASE];
}

enum { BODY_TEXT = 1024 };

/* One pass, and what its bodies found wrong: the error of the lowest piece. */
typedef struct cpu_job {
    cpu_kernel *kernel;
    const void *call;
    bool failed;
    int64_t begin;
    char text[BODY_TEXT];
} cpu_job;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cpu_body_error(cpu_piece *piece, const char *format, ...) {
    cpu_job *const job = piece->job;
    if (piece->failed) {
        return;
    }
    piece->failed = true;
    pthread_mutex_lock(&lock);
    if (!job->failed || piece->begin < job->begin) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(job->text, sizeof job->text, format, arguments);
        va_end(arguments);
        job->failed = true;
        job->begin = piece->begin;
    }
    pthread_mutex_unlock(&lock);
}

static void run_piece(int64_t begin, int64_t end, void *context) {
    cpu_job *const job = context;
    cpu_piece piece = {.job = job, .begin = begin};
    job->kernel(job->call, begin, end, &piece);
}

bool cpu_any_empty(const cpu_plan *plans, int count) {
    for (int i = 0; i < count; i++) {
        if (plans[i].kernels != NULL && plans[i].units == 0) {
            return true;
        }
    }
    return false;
}

static bool run_pass(error *e, const cpu_plan *plan, const void *call, int64_t bytes) {
    cpu_job job;
    job.kernel = plan->kernels->level[level];
    job.call = call;
    job.failed = false;
    const int64_t pieces = bytes / bytes_per_thread;
    if (plan->units <= 1 || pieces <= 1) {
        run_piece(0, plan->units, &job);
    } else {
        CHECK_ABI(e, torch_parallel_for, 0, plan->units, plan->units / pieces + 1, run_piece, &job);
    }
    CHECK(e, !job.failed, "%s", job.text);
    return true;
}

bool cpu_run(error *e, const cpu_plan *plans, int count, const void *call, int64_t bytes) {
    for (int i = 0; i < count; i++) {
        CHECK(e, plans[i].units >= 0, "expected parallel >= 0, got parallel = %" PRId64, plans[i].units);
    }
    for (int i = 0; i < count; i++) {
        if (plans[i].kernels != NULL && plans[i].units > 0 && !run_pass(e, &plans[i], call, bytes)) {
            return false;
        }
    }
    return true;
}
