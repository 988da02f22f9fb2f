#include "custom.h"

#include <stdarg.h>
#include <stdio.h>

bool custom_call(error *e, const cuda_scope *scope, device where, const void *frame, custom_function *function,
                 const void *call, bool *nothing) {
    custom_state state = {.e = e, .scope = scope, .frame = frame, .device = where};
    const cuda_context ctx = {
        .stream = scope->stream,
        .sm_count = scope->sm_count,
        .max_shared = scope->max_shared,
        .arch = scope->arch,
        .device = scope->device_index,
        .state = &state,
    };
    if (!function(&ctx, call)) {
        fail(e, "the launcher reports a failure, and no error");
    }
    for (int i = 0; i < state.scratch_count; i++) {
        tensor_release(e, &state.scratch[i]);
    }
    if (nothing != NULL) {
        *nothing = state.empty && !state.launched;
    }
    return !e->set; /* the launcher may have gone on after an error */
}

void *cuda_scratch(const cuda_context *ctx, size_t bytes) {
    custom_state *const state = ctx->state;
    void *data = NULL;
    if (state->scratch_count == CUSTOM_SCRATCH) {
        fail(state->e, "cuda_scratch: expected at most %d pieces of memory in a call", CUSTOM_SCRATCH);
        return NULL;
    }
    if (bytes > INT64_MAX) {
        fail(state->e, "cuda_scratch: has more elements than can be addressed");
        return NULL;
    }
    /* No bytes are one: CUB takes a null pointer for a question. */
    const shape s = {.dim = 1, .sizes = {bytes > 0 ? (int64_t)bytes : 1}};
    tensor *const t = &state->scratch[state->scratch_count++];
    return tensor_empty(state->e, t, "cuda_scratch", &s, DTYPE_UINT8, state->device) &&
                   tensor_mutable_data(state->e, t, &data)
               ? data
               : NULL;
}

bool cuda_error(const cuda_context *ctx, const char *format, ...) {
    char text[ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(ctx->state->e, "%s", text);
}

/* ---- Kernels */

bool custom_param(const cuda_context *ctx, const char *kernel, const char *param, int64_t value, const int64_t *values,
                  int64_t count, int64_t *row) {
    return cuda_param(ctx->state->e, kernel, param, value, values, count, row);
}

bool custom_launch(const cuda_context *ctx, cuda_kernel *kernel, const cuda_launch *l, const void *call) {
    custom_state *const state = ctx->state;
    bool empty;
    if (!cuda_launch_one(state->e, state->scope, kernel, l, call, &empty)) {
        return false;
    }
    state->empty |= empty;
    state->launched |= !empty;
    return true;
}

/* ---- Operators with host code of their own */

bool custom_failed(const cuda_context *ctx, int code, const char *name, const char *text) {
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU || code == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
        code == CUDA_RUNTIME_NO_SUCH_FUNCTION || code == CUDA_RUNTIME_INSUFFICIENT_DRIVER) {
        return cuda_no_image(ctx->state->e, ctx->state->scope, code);
    }
    return fail(ctx->state->e, "CUDA error %d, %s: %s", code, name, text);
}

bool custom_missing(const cuda_context *ctx) {
    return cuda_no_image(ctx->state->e, ctx->state->scope, CUDA_ERROR_NO_BINARY_FOR_GPU);
}
