/* dlfcn.h hides dladdr from strict C11. */
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>

#include "cpu.h"
#include "dtype.h"
#include "tensor.h"

enum { PROBLEM_TEXT = 1024, MAX_TAGS = 32, LIBRARIES = 4 };

static char problem[PROBLEM_TEXT];

/* Through these everything is registered: the schemas, and the kernels of the CPU, of CUDA and of every device. */
static TorchLibraryHandle libraries[LIBRARIES];

/* The file of this library: PyTorch names it when a second library defines the same namespace. */
static const char *own_path(void) {
    Dl_info info;
    return dladdr(problem, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "unknown file";
}

__attribute__((format(printf, 1, 2))) static const char *refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, sizeof problem, format, arguments);
    va_end(arguments);
    /* The package's import raises this text; a program that loads the library alone has only this line. */
    fprintf(stderr, "%s\n", problem);
    return problem;
}

static const char *register_kernels(TorchLibraryHandle library, const char *key, const operator_entry *entries,
                                    size_t count, BoxedKernel *(*kernel_of)(const operator_entry *entry)) {
    for (size_t i = 0; i < count; i++) {
        BoxedKernel *const kernel = kernel_of(&entries[i]);
        if (kernel != NULL && torch_library_impl(library, entries[i].name, kernel, TORCH_ABI_VERSION) != 0) {
            return refuse("%s: PyTorch refused the %s kernel of %s", own_path(), key, entries[i].name);
        }
    }
    return NULL;
}

/* The schema, with those of its tags that the running version has. */
static AOTITorchError define(TorchLibraryHandle library, const operator_entry *entry) {
    int32_t tags[MAX_TAGS];
    int32_t count = 0;
    for (int32_t i = 0; i < entry->tag_count && count < MAX_TAGS; i++) {
        if (entry->tags[i] != NULL) {
            tags[count++] = entry->tags[i]();
        }
    }
    return count == 0 || torch_library_def_with_tags == NULL
               ? aoti_torch_library_def(library, entry->schema)
               : torch_library_def_with_tags(library, entry->schema, tags, count);
}

static BoxedKernel *cpu_kernel_of(const operator_entry *entry) { return entry->cpu; }
static BoxedKernel *cuda_kernel_of(const operator_entry *entry) { return entry->cuda; }
static BoxedKernel *composite_kernel_of(const operator_entry *entry) { return entry->composite; }

/* Deleting a library object takes back what was registered through it. */
void library_unregister(void) {
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (libraries[i] != NULL && aoti_torch_delete_library_object(libraries[i]) != 0) {
            fprintf(stderr, "%s: PyTorch could not take its registrations back\n", own_path());
        }
        libraries[i] = NULL;
    }
}

static const char *give_up(const char *text) {
    library_unregister();
    return text;
}

const char *library_register(const char *ns, const operator_entry *entries, size_t count) {
    const char *const path = own_path();
    const char *const missing_level = cpu_load();
    if (missing_level != NULL) {
        return refuse("%s was built for processors of level %s and up; build it again for this one", path,
                      missing_level);
    }
    dtype_load();
    device_load();
    /* A definition, not a fragment: with a fragment a second library of the same namespace would silently replace the
     * kernels of the first. */
    if (aoti_torch_library_init_def(ns, path, 0, &libraries[0]) != 0) {
        libraries[0] = NULL;
        return refuse("%s: the namespace %s is already registered by another library; load only one of the two in a "
                      "process, or give "
                      "one of them another `namespace:`",
                      path, ns);
    }
    for (size_t i = 0; i < count; i++) {
        if (define(libraries[0], &entries[i]) != 0) {
            return give_up(refuse("%s: PyTorch refused the schema %s::%s", path, ns, entries[i].schema));
        }
    }
    if (aoti_torch_library_init_impl(ns, "CPU", path, 0, &libraries[1]) != 0 ||
        aoti_torch_library_init_impl(ns, "CUDA", path, 0, &libraries[2]) != 0 ||
        aoti_torch_library_init_impl(ns, "CompositeExplicitAutograd", path, 0, &libraries[3]) != 0) {
        return give_up(refuse("%s: PyTorch refused kernels for the namespace %s", path, ns));
    }
    const char *text = register_kernels(libraries[1], "CPU", entries, count, cpu_kernel_of);
    if (text == NULL) {
        text = register_kernels(libraries[2], "CUDA", entries, count, cuda_kernel_of);
    }
    if (text == NULL) {
        text = register_kernels(libraries[3], "device-less", entries, count, composite_kernel_of);
    }
    return text == NULL ? NULL : give_up(text);
}
