/* What stands in for PyTorch and for the CUDA driver when host functions are tested without either.
 *
 * Every function that can fail is a step. A step is known by its name and by how many of that name came before it in
 * the same attempt at a call. With faults on, the first step of an attempt that has never failed before fails, and it
 * alone: repeating a call until an attempt succeeds makes each of its steps fail once. That is the same as failing the
 * first step, then the second and so on, and stays complete when an attempt leaves something loaded behind, which
 * makes the next one shorter. */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "body.h"
#include "torch_abi.h"

/* What a text says of a step that failed. */
#define FAKE_REASON "injected"

/* Objects that belong to somebody. Storage is counted apart: it goes with the last tensor on it. */
typedef enum fake_kind {
    FAKE_TENSOR,
    FAKE_LIST,
    FAKE_STRING,
    FAKE_BOX,
    FAKE_LIBRARY,
    FAKE_STORAGE,
    FAKE_MEMORY,
    FAKE_KINDS
} fake_kind;

extern int64_t fake_live[FAKE_KINDS];
extern const char *const fake_kind_names[FAKE_KINDS];

/* The line of the script that is being run; ends the program, for what no caller may ever do. */
extern int fake_line;
__attribute__((noreturn)) void fake_stop(const char *text);

/* Whether this step is the one that fails now. */
bool fake_fails(const char *step);

/* From now on this step fails whenever it is taken. */
void fake_always_fails(const char *step);

/* Forgets which steps have failed: another call begins. */
void fake_begin_call(void);
void fake_begin_attempt(bool faults);

/* The step that failed in this attempt, or null; and how many have failed in this call. */
const char *fake_failed(void);
size_t fake_failures(void);

/* Deletes a list of tensors that an operator has returned. */
void fake_delete_results(StableListHandle list);

/* The text that was raised, empty when none was. */
const char *fake_raised(void);

/* Set by kernels: something may have been written. */
extern bool fake_ran;
void fake_note_run(void);

/* What kernels write to every int64 tensor without dims that the call has made: how much they found. */
extern int64_t fake_reports;
enum { FAKE_REPORTS_NOTHING = INT32_MIN };

extern bool fake_finds_bad_data; /* and reports it */
void fake_kernel(const void *call, int64_t begin, int64_t end, cpu_piece *piece);

/* Host code of an operator with `full_cuda: true`: it asks for memory, and a call of the CUDA runtime in it may fail.
 */
struct cuda_context;
bool fake_host_code(const struct cuda_context *ctx, const void *call);

/* Memory of tensors, of exactly this many bytes, so that sanitizers see what is read or written beside it. */
typedef struct fake_storage {
    int64_t references;
    size_t bytes;
    unsigned char *memory;
    void *allocation; /* which it lies in */
} fake_storage;

/* Which of the tensors made in an attempt, counted from 1, does not begin at a multiple of 16 bytes; 0: none. */
extern int fake_misaligned;

fake_storage *fake_new_storage(size_t bytes);
void fake_release_storage(fake_storage *storage);

/* A tensor on a storage, `offset` elements into it; the storage gets another reference. */
AtenTensorHandle fake_new_tensor(fake_storage *storage, int64_t offset, int64_t dim, const int64_t *sizes,
                                 const int64_t *strides, int32_t dtype, int32_t device_type, int32_t device_index);
StringHandle fake_new_string(const char *data, size_t length);
StableListHandle fake_new_list(const StableIValue *elements, size_t count, bool of_tensors, bool boxed);
StableIValue *fake_new_box(StableIValue value);

/* What is on the stack, as a compiled model passes it to a C shim; the others give it back. An absent list has none. */
const void *fake_list_values(StableIValue slot, bool given, bool narrow, int64_t *count);
void fake_list_end(StableIValue slot, bool given, const void *values);
const char *fake_text(StableIValue slot);
void fake_text_end(StableIValue slot);
void fake_tensor_end(StableIValue slot);

/* What the next lists hold that are made: t tensors, b boxes of tensors, n numbers; after these, tensors. */
void fake_made_lists(const char *kinds);

int32_t fake_dtype(const char *name);
int32_t fake_device(const char *type);

/* The kernel registered under a key, null where there is none. */
BoxedKernel *fake_find_kernel(const char *key, const char *name);

/* ---- CUDA */

/* What this machine has: none of it, or all. An old driver has no cuMemsetD2D32Async, an old PyTorch no function that
 * tells the current stream. Memory of the host is pinned unless it is pageable. */
typedef struct fake_machine {
    bool has_driver, driver_is_old, torch_has_cuda, torch_is_old, capturing, pageable;
    int arch, driver;
    int code; /* of the error of a CUDA function that fails */
} fake_machine;

extern fake_machine fake_cuda;

/* How many contexts are pushed: 0 outside of calls. */
extern int64_t fake_pushed;

#endif
