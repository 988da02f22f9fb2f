#include <string.h>

static bool scale(const cuda_context *ctx, const scale_segments_call *c, int64_t begin, int64_t count, double by) {
    scale_segments_call segment = *c;
    segment.begin = begin;
    segment.count = count;
    segment.by = by;
    const int64_t size = c->T == DTYPE_FLOAT16 ? 2 : 4;
    const bool rows = c->n >= 8;
    return launch_scale_segment(ctx, &segment, cuda_shape(rows ? count : count > 0, 1024),
                                c->n % 2 == 0 ? 16 / size : 1, rows);
}

/* What goes wrong in a launcher is an error of the call. */
static bool asked(const cuda_context *ctx, const scale_segments_call *c) {
    if (strcmp(c->ask, "a kernel that is not there") == 0) {
        return launch_scale_segment(ctx, c, cuda_shape(1, 64), 3, true);
    }
    if (strcmp(c->ask, "a block without threads") == 0) {
        const cuda_launch shape = {.grid = {1, 1, 1}, .block = {64}};
        return launch_scale_nothing(ctx, c, shape);
    }
    if (strcmp(c->ask, "a grid without blocks") == 0) {
        return launch_scale_nothing(ctx, c, cuda_shape(0, 64));
    }
    if (strcmp(c->ask, "a negative grid") == 0) {
        return launch_scale_nothing(ctx, c, cuda_shape(-1, 64));
    }
    if (strcmp(c->ask, "a negative cluster") == 0) {
        const cuda_launch shape = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .cluster = {1, -2}};
        return launch_scale_nothing(ctx, c, shape);
    }
    if (strcmp(c->ask, "much memory") == 0) {
        for (int i = 0; i < 20; i++) {
            if (cuda_scratch(ctx, 64) == NULL) {
                return false;
            }
        }
    }
    if (strcmp(c->ask, "too much memory") == 0) {
        return cuda_scratch(ctx, SIZE_MAX) != NULL;
    }
    if (strcmp(c->ask, "nothing") == 0) {
        return false;
    }
    if (strcmp(c->ask, "to go on") == 0) {
        cuda_error(ctx, "segment %d is wrong", 7);
        return cuda_error(ctx, "a later error");
    }
    return cuda_scratch(ctx, 0) != NULL && launch_scale_nothing(ctx, c, cuda_shape(1, 64));
}

static bool scale_segments_launch(const cuda_context *ctx, const scale_segments_call *c) {
    if (c->ask[0] != '\0' && !asked(ctx, c)) {
        return false;
    }
    if (strcmp(c->ask, "a grid without blocks") == 0) {
        return true;
    }
    int64_t begin = 0;
    for (int64_t i = 0; i < c->b; i++) {
        const float *const factors = c->factors;
        const int64_t length =
            c->I == DTYPE_INT32 ? ((const int32_t *)c->lengths)[i] : ((const int64_t *)c->lengths)[i];
        if (!scale(ctx, c, begin, length, factors[i * c->factors_stride[0]] * c->by)) {
            return false;
        }
        begin += length;
    }
    return true;
}
