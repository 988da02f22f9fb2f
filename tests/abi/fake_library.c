/* Registration of operators and kernels. */
#include <string.h>

#include "fake_objects.h"

enum { MAX_KERNELS = 4096 };

struct TorchLibraryOpaque {
    const char *key;
};

typedef struct registered {
    const char *key;
    const char *name;
    BoxedKernel *kernel;
} registered;

static registered kernels[MAX_KERNELS];
static size_t kernel_count;

BoxedKernel *fake_find_kernel(const char *key, const char *name) {
    for (size_t i = 0; i < kernel_count; i++) {
        if (strcmp(kernels[i].key, key) == 0 && strcmp(kernels[i].name, name) == 0) {
            return kernels[i].kernel;
        }
    }
    return NULL;
}

/* Libraries live as long as the process. */
static TorchLibraryHandle libraries[4];

static AOTITorchError new_library(const char *key, TorchLibraryHandle *ret) {
    if (fake_registration_fails()) {
        return 1;
    }
    *ret = fake_allocate(FAKE_LIBRARY, sizeof **ret);
    (*ret)->key = key;
    libraries[(fake_live[FAKE_LIBRARY] - 1) % 4] = *ret;
    return 0;
}

AOTITorchError aoti_torch_library_init_def(const char *ns, const char *file, uint32_t line, TorchLibraryHandle *ret) {
    (void)ns, (void)file, (void)line;
    return new_library("", ret);
}

AOTITorchError aoti_torch_library_init_impl(const char *ns, const char *key, const char *file, uint32_t line,
                                            TorchLibraryHandle *ret) {
    (void)ns, (void)file, (void)line;
    return new_library(key, ret);
}

AOTITorchError aoti_torch_library_def(TorchLibraryHandle self, const char *schema) {
    if (strchr(schema, '(') == NULL || self->key[0] != '\0') {
        fake_stop("a wrong schema, or in a wrong place");
    }
    return fake_registration_fails();
}

AOTITorchError torch_library_def_with_tags(TorchLibraryHandle self, const char *schema, const int32_t *tags,
                                           int32_t num_tags) {
    for (int32_t i = 0; i < num_tags; i++) {
        if (tags[i] <= 0) {
            fake_stop("a tag that is none");
        }
    }
    return aoti_torch_library_def(self, schema);
}

AOTITorchError torch_library_impl(TorchLibraryHandle self, const char *name, BoxedKernel *kernel, uint64_t version) {
    if (version != TORCH_ABI_VERSION || kernel_count == MAX_KERNELS) {
        fake_stop("a kernel of another version, or too many kernels");
    }
    kernels[kernel_count++] = (registered){self->key, name, kernel};
    return fake_registration_fails();
}

AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle self) {
    fake_release(FAKE_LIBRARY, self);
    return 0;
}
