#include "star.h"

#include <string.h>

bool star_broadcast(shape *to, int count, const star *of) {
    to->dim = 0;
    for (int k = 0; k < count; k++) {
        to->dim = of[k].count > to->dim ? of[k].count : to->dim;
    }
    for (int64_t d = 0; d < to->dim; d++) {
        int64_t size = 1;
        for (int k = 0; k < count; k++) {
            const int64_t missing = to->dim - of[k].count; /* dims are aligned at the back */
            const int64_t own = d < missing ? 1 : of[k].sizes[d - missing];
            if (size != 1 && own != 1 && own != size) {
                return false;
            }
            size = size == 1 ? own : size;
        }
        to->sizes[d] = size;
    }
    return true;
}

static bool copy(shape *to, star of, int64_t *dim) {
    if (*dim < -of.count || *dim >= of.count) {
        return false;
    }
    *dim += *dim < 0 ? of.count : 0;
    to->dim = of.count;
    memcpy(to->sizes, of.sizes, (size_t)of.count * sizeof *of.sizes);
    return true;
}

bool star_drop(shape *to, star of, int64_t dim) {
    if (!copy(to, of, &dim)) {
        return false;
    }
    to->dim--;
    memmove(to->sizes + dim, to->sizes + dim + 1, (size_t)(to->dim - dim) * sizeof *to->sizes);
    return true;
}

bool star_replace(shape *to, star of, int64_t dim, int64_t size) {
    if (!copy(to, of, &dim)) {
        return false;
    }
    to->sizes[dim] = size;
    return true;
}
