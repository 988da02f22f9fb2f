/* Everything that csrc/runtime/torch_abi.h declares, without PyTorch. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 4096, MAX_KERNELS = 4096, MAX_FAKE_DIMS = 80, TEXT = 8192, MOST_BYTES = 1 << 28, MAX_COUNTS = 16 };

int64_t fake_live[FAKE_KINDS];
const char *const fake_kind_names[FAKE_KINDS] = {"tensors",   "lists",    "strings",         "boxes",
                                                 "libraries", "storages", "blocks of memory"};
bool fake_ran;

static char raised[TEXT];
static const char *failed;
static int made;                         /* tensors in this attempt */
static fake_storage *counts[MAX_COUNTS]; /* of those that are one int64, and stay until the body has run */
static int count_count;

int fake_line;

void fake_stop(const char *text) {
    fprintf(stderr, "line %d: %s, where %s fails\n", fake_line, text, failed != NULL ? failed : "nothing");
    abort();
}

static void *allocated(fake_kind kind, size_t bytes) {
    void *const memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fake_stop("out of memory");
    }
    fake_live[kind]++;
    return memory;
}

static void released(fake_kind kind, void *memory) {
    free(memory);
    fake_live[kind]--;
}

/* ---- Steps */

typedef struct step {
    const char *name;
    int place; /* among those of its name, in one attempt */
} step;

static step tried[MAX_STEPS];
static size_t tried_count;
static step seen[MAX_STEPS]; /* one for each name, with how many there were */
static size_t seen_count;
static bool failing;

static int place_of(const char *name) {
    for (size_t i = 0; i < seen_count; i++) {
        if (strcmp(seen[i].name, name) == 0) {
            return ++seen[i].place;
        }
    }
    if (seen_count == MAX_STEPS) {
        fake_stop("too many steps");
    }
    seen[seen_count++] = (step){.name = name};
    return 0;
}

static char broken[64];

void fake_always_fails(const char *name) { snprintf(broken, sizeof broken, "%s", name); }

bool fake_fails(const char *name) {
    if (broken[0] != '\0' && strcmp(broken, name) == 0) {
        return true;
    }
    if (!failing || failed != NULL) {
        return false;
    }
    const int place = place_of(name);
    for (size_t i = 0; i < tried_count; i++) {
        if (tried[i].place == place && strcmp(tried[i].name, name) == 0) {
            return false;
        }
    }
    if (tried_count == MAX_STEPS) {
        fake_stop("too many steps");
    }
    tried[tried_count++] = (step){.name = name, .place = place};
    failed = name;
    return true;
}

void fake_begin_call(void) { tried_count = 0; }

void fake_begin_attempt(bool faults) {
    seen_count = 0;
    failing = faults;
    failed = NULL;
    fake_ran = false;
    made = 0;
    count_count = 0;
    raised[0] = '\0';
}

const char *fake_failed(void) { return failed; }
size_t fake_failures(void) { return tried_count; }
const char *fake_raised(void) { return raised; }

/* Registration happens before main(): this step of it fails. */
__attribute__((constructor(101))) static void registration_fails(void) {
    const char *const wanted = getenv("FAKE_FAIL_AT");
    if (wanted != NULL) {
        fake_begin_attempt(false);
        seen[seen_count++] = (step){.name = "", .place = atoi(wanted)};
    }
}

static bool registration_step(void) { return seen_count > 0 && seen[0].name[0] == '\0' && seen[0].place-- == 0; }

/* ---- Objects */

struct AtenTensorOpaque {
    fake_storage *storage; /* null: undefined */
    int64_t offset, dim;
    int64_t sizes[MAX_FAKE_DIMS], strides[MAX_FAKE_DIMS];
    int32_t dtype, device_type, device_index;
};

struct StableListOpaque {
    size_t count;
    size_t room;     /* of a list that is being filled */
    bool of_tensors; /* each belongs to who asks for it, and to nobody else */
    bool boxed;      /* each of these is in a box, or absent */
    bool unknown;    /* its length could not be told, so that nobody can ask for them */
    StableIValue elements[];
};

struct StringOpaque {
    size_t length;
    char data[];
};

static fake_storage *new_storage(size_t bytes, size_t skipped) {
    fake_storage *const storage = allocated(FAKE_STORAGE, sizeof *storage);
    unsigned char *const memory = malloc(bytes + skipped > 0 ? bytes + skipped : 1);
    if (memory == NULL) {
        fake_stop("out of memory for a tensor");
    }
    memset(memory, 0xa5, bytes + skipped);
    *storage = (fake_storage){.references = 1, .bytes = bytes, .memory = memory + skipped, .allocation = memory};
    return storage;
}

fake_storage *fake_new_storage(size_t bytes) { return new_storage(bytes, 0); }

void fake_release_storage(fake_storage *storage) {
    if (storage != NULL && --storage->references == 0) {
        free(storage->allocation);
        released(FAKE_STORAGE, storage);
    }
}

AtenTensorHandle fake_new_tensor(fake_storage *storage, int64_t offset, int64_t dim, const int64_t *sizes,
                                 const int64_t *strides, int32_t dtype, int32_t device_type, int32_t device_index) {
    if (dim > MAX_FAKE_DIMS) {
        fake_stop("too many dimensions");
    }
    AtenTensorHandle t = allocated(FAKE_TENSOR, sizeof *t);
    *t = (struct AtenTensorOpaque){.storage = storage, .offset = offset, .dim = dim, .dtype = dtype};
    t->device_type = device_type;
    t->device_index = device_index;
    if (storage != NULL) {
        storage->references++;
    }
    for (int64_t i = 0; i < dim; i++) {
        t->sizes[i] = sizes[i];
        t->strides[i] = strides[i];
    }
    return t;
}

StringHandle fake_new_string(const char *data, size_t length) {
    StringHandle string = allocated(FAKE_STRING, sizeof *string + length + 1);
    string->length = length;
    memcpy(string->data, data, length);
    string->data[length] = '\0';
    return string;
}

StableListHandle fake_new_list(const StableIValue *elements, size_t count, bool of_tensors, bool boxed) {
    StableListHandle list = allocated(FAKE_LIST, sizeof *list + count * sizeof *elements);
    list->count = count;
    list->of_tensors = of_tensors;
    list->boxed = boxed;
    list->unknown = false;
    for (size_t i = 0; i < count; i++) {
        list->elements[i] = elements[i];
    }
    return list;
}

StableIValue *fake_new_box(StableIValue value) {
    StableIValue *const box = allocated(FAKE_BOX, sizeof *box);
    *box = value;
    return box;
}

void _ZdlPv(void *box) {
    if (box != NULL) {
        released(FAKE_BOX, box);
    }
}

void *_Znwm(size_t size) { return allocated(FAKE_BOX, size); }

/* What the runtime calls calloc and free. */
void *fake_calloc(size_t count, size_t size);
void *fake_calloc(size_t count, size_t size) {
    if (fake_fails("calloc")) {
        return NULL;
    }
    void *const memory = allocated(FAKE_MEMORY, count * size);
    memset(memory, 0, count * size);
    return memory;
}

void fake_free(void *memory);
void fake_free(void *memory) {
    if (memory != NULL) {
        released(FAKE_MEMORY, memory);
    }
}

/* ---- Numbers: those of PyTorch, though any would do */

typedef struct named_number {
    const char *name;
    int32_t number, size;
} named_number;

#define DTYPES(X)                                                                                                      \
    X(uint8, 0, 1)                                                                                                     \
    X(int8, 1, 1)                                                                                                      \
    X(int16, 2, 2)                                                                                                     \
    X(int32, 3, 4)                                                                                                     \
    X(int64, 4, 8)                                                                                                     \
    X(float16, 5, 2)                                                                                                   \
    X(float32, 6, 4)                                                                                                   \
    X(float64, 7, 8)                                                                                                   \
    X(complex32, 8, 4)                                                                                                 \
    X(complex64, 9, 8)                                                                                                 \
    X(complex128, 10, 16)                                                                                              \
    X(bool, 11, 1)                                                                                                     \
    X(bfloat16, 15, 2)                                                                                                 \
    X(float8_e5m2, 23, 1)                                                                                              \
    X(float8_e4m3fn, 24, 1)                                                                                            \
    X(float8_e5m2fnuz, 25, 1)                                                                                          \
    X(float8_e4m3fnuz, 26, 1)                                                                                          \
    X(uint16, 27, 2)                                                                                                   \
    X(uint32, 28, 4)                                                                                                   \
    X(uint64, 29, 8)                                                                                                   \
    X(float8_e8m0fnu, 44, 1)

#define GETTER(name, number, size)                                                                                     \
    int32_t aoti_torch_dtype_##name(void) { return number; }
DTYPES(GETTER)

#define ROW(name, number, size) {#name, number, size},
static const named_number dtypes[] = {DTYPES(ROW)};

static const named_number *dtype_row(const char *name, int32_t number) {
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (name != NULL ? strcmp(dtypes[i].name, name) == 0 : dtypes[i].number == number) {
            return &dtypes[i];
        }
    }
    fprintf(stderr, "%s (%d)\n", name != NULL ? name : "", number);
    fake_stop("no such dtype");
}

int32_t fake_dtype(const char *name) { return dtype_row(name, 0)->number; }

enum { CPU = 0, CUDA = 1, META = 11 };

int32_t fake_device(const char *type) {
    return strcmp(type, "cpu") == 0 ? CPU : strcmp(type, "cuda") == 0 ? CUDA : META;
}

int32_t aoti_torch_device_type_cpu(void) { return CPU; }
int32_t aoti_torch_device_type_cuda(void) { return CUDA; }
int32_t aoti_torch_device_type_meta(void) { return META; }

#define STEP(name)                                                                                                     \
    if (fake_fails(name)) {                                                                                            \
        return 1;                                                                                                      \
    }

/* ---- Tensors */

#define GET(function, type, field)                                                                                     \
    AOTITorchError function(AtenTensorHandle tensor, type *ret) {                                                      \
        STEP(#function)                                                                                                \
        *ret = tensor->field;                                                                                          \
        return 0;                                                                                                      \
    }
GET(aoti_torch_get_dim, int64_t, dim)
GET(aoti_torch_get_sizes, int64_t *, sizes)
GET(aoti_torch_get_strides, int64_t *, strides)
GET(aoti_torch_get_dtype, int32_t, dtype)
GET(aoti_torch_get_device_type, int32_t, device_type)
GET(aoti_torch_get_device_index, int32_t, device_index)

static unsigned char *data_of(AtenTensorHandle tensor) {
    return tensor->storage->memory + tensor->offset * dtype_row(NULL, tensor->dtype)->size;
}

AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void **ret_data) {
    STEP("torch_get_const_data_ptr")
    *ret_data = data_of(tensor);
    return 0;
}

AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void **ret_data) {
    STEP("torch_get_mutable_data_ptr")
    *ret_data = data_of(tensor);
    return 0;
}

/* The bytes of a tensor, -1 where they are more than this machine gives. */
static int64_t bytes_of(int64_t dim, const int64_t *sizes, const int64_t *strides, int64_t size) {
    int64_t last = 0;
    for (int64_t i = 0; i < dim; i++) {
        if (sizes[i] < 0 || strides[i] < 0) {
            fake_stop("a tensor of negative sizes or strides was asked for");
        }
        if (sizes[i] == 0) {
            return 0;
        }
    }
    for (int64_t i = 0; i < dim; i++) {
        int64_t far;
        if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &far) || far > MOST_BYTES) {
            return -1;
        }
        last += far;
    }
    return (last + 1) * size > MOST_BYTES ? -1 : (last + 1) * size;
}

int fake_misaligned;

AOTITorchError aoti_torch_empty_strided(int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype,
                                        int32_t device_type, int32_t device_index, AtenTensorHandle *ret) {
    STEP("aoti_torch_empty_strided")
    const int64_t bytes = bytes_of(ndim, sizes, strides, dtype_row(NULL, dtype)->size);
    if (bytes < 0) {
        return 1;
    }
    fake_storage *const storage = new_storage((size_t)bytes, ++made == fake_misaligned ? 8 : 0);
    if (ndim == 0 && dtype == fake_dtype("int64") && count_count < MAX_COUNTS) {
        counts[count_count++] = storage;
    }
    *ret = fake_new_tensor(storage, 0, ndim, sizes, strides, dtype, device_type, device_index);
    fake_release_storage(storage);
    return 0;
}

AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle *ret) {
    STEP("aoti_torch_new_uninitialized_tensor")
    *ret = fake_new_tensor(NULL, 0, 0, NULL, NULL, 0, CPU, -1);
    return 0;
}

/* The stride of dimension `d` of `like` in `t`, which is broadcast to it. */
static int64_t broadcast_stride(AtenTensorHandle t, AtenTensorHandle like, int64_t d) {
    const int64_t own = d - (like->dim - t->dim);
    if (own < 0 || (t->sizes[own] == 1 && like->sizes[d] != 1)) {
        return 0;
    }
    if (t->sizes[own] != like->sizes[d]) {
        fake_stop("copy_ between tensors of different sizes");
    }
    return t->strides[own];
}

AOTITorchError aoti_torch_copy_(AtenTensorHandle self, AtenTensorHandle src, int32_t non_blocking) {
    (void)non_blocking;
    STEP("aoti_torch_copy_")
    if (self->dtype != src->dtype || self->dim < src->dim) {
        fake_stop("copy_ between tensors that differ");
    }
    if (aoti_torch_grad_mode_is_enabled()) {
        fake_stop("copy_ would be recorded by autograd");
    }
    const size_t size = (size_t)dtype_row(NULL, self->dtype)->size;
    int64_t count = 1;
    int64_t strides[MAX_FAKE_DIMS];
    for (int64_t i = 0; i < self->dim; i++) {
        strides[i] = broadcast_stride(src, self, i);
        count *= self->sizes[i];
    }
    for (int64_t n = 0; n < count; n++) {
        int64_t to = 0, from = 0, rest = n;
        for (int64_t d = self->dim - 1; d >= 0; d--) {
            to += rest % self->sizes[d] * self->strides[d];
            from += rest % self->sizes[d] * strides[d];
            rest /= self->sizes[d];
        }
        memcpy(data_of(self) + (size_t)to * size, data_of(src) + (size_t)from * size, size);
    }
    return 0;
}

static AtenTensorHandle another(AtenTensorHandle t) {
    return fake_new_tensor(t->storage, t->offset, t->dim, t->sizes, t->strides, t->dtype, t->device_type,
                           t->device_index);
}

AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor, AtenTensorHandle *ret) {
    STEP("aoti_torch_new_tensor_handle")
    *ret = another(tensor);
    return 0;
}

AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle self, int64_t ndim, const int64_t *sizes,
                                              const int64_t *strides, int64_t storage_offset, AtenTensorHandle *ret) {
    STEP("aoti_torch__reinterpret_tensor")
    *ret = fake_new_tensor(self->storage, storage_offset, ndim, sizes, strides, self->dtype, self->device_type,
                           self->device_index);
    return 0;
}

static void delete_tensor(AtenTensorHandle tensor) {
    fake_release_storage(tensor->storage);
    released(FAKE_TENSOR, tensor);
}

/* What cannot be deleted is gone all the same: nobody may touch it again. */
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor) {
    delete_tensor(tensor);
    return fake_fails("aoti_torch_delete_tensor_object") ? 1 : 0;
}

/* The operators that are called: steps of their names. Their argument belongs to them, whatever happens. Tensors here are
 * no views that negate or conjugate. */
AOTITorchError torch_call_dispatcher(const char *name, const char *overload, StableIValue *stack, uint64_t version) {
    const AtenTensorHandle tensor = (AtenTensorHandle)(uintptr_t)stack[0];
    const bool draws = strcmp(name, "aten::random_") == 0;
    const bool resolves = strcmp(name, "aten::resolve_conj") == 0 || strcmp(name, "aten::resolve_neg") == 0;
    if (!(resolves || (draws && stack[1] == 0)) || overload[0] != '\0' || version != TORCH_ABI_VERSION) {
        fake_stop("an operator that nobody should call");
    }
    if (aoti_torch_grad_mode_is_enabled()) {
        fake_stop("an operator of PyTorch would be recorded by autograd");
    }
    if (fake_fails(draws ? "aten::random_" : name[14] == 'c' ? "aten::resolve_conj" : "aten::resolve_neg")) {
        delete_tensor(tensor);
        return 1;
    }
    if (resolves) {
        return 0;
    }
    memset(tensor->storage->memory, 0x5a, tensor->storage->bytes);
    return 0;
}

/* ---- Lists and strings */

static void delete_element(StableListHandle list, size_t index) {
    StableIValue value = list->elements[index];
    StableIValue *const box = list->boxed ? (StableIValue *)(uintptr_t)value : NULL;
    if (box != NULL) {
        value = *box;
        _ZdlPv(box);
    }
    if (value != 0) {
        delete_tensor((AtenTensorHandle)(uintptr_t)value);
    }
}

AOTITorchError torch_new_list_reserve_size(size_t size, StableListHandle *ret) {
    STEP("torch_new_list_reserve_size")
    *ret = allocated(FAKE_LIST, sizeof **ret + size * sizeof(StableIValue));
    **ret = (struct StableListOpaque){.room = size, .of_tensors = true};
    return 0;
}

AOTITorchError torch_list_push_back(StableListHandle list, StableIValue element) {
    STEP("torch_list_push_back")
    if (list->count == list->room || element == 0) {
        fake_stop("a list got more tensors than it was made for, or none");
    }
    list->elements[list->count++] = element;
    return 0;
}

/* What PyTorch does with a list that an operator returns. */
void fake_delete_results(StableListHandle list) {
    for (size_t i = 0; i < list->count; i++) {
        delete_element(list, i);
    }
    released(FAKE_LIST, list);
}

AOTITorchError torch_list_size(StableListHandle list, size_t *ret_size) {
    list->unknown = fake_fails("torch_list_size");
    *ret_size = list->count;
    return list->unknown ? 1 : 0;
}

AOTITorchError torch_list_get_item(StableListHandle list, size_t index, StableIValue *ret_element) {
    const bool fails = fake_fails("torch_list_get_item");
    if (index >= list->count) {
        fake_stop("an element behind the end of a list was asked for");
    }
    if (fails && list->of_tensors) { /* who does not get it cannot delete it */
        delete_element(list, index);
    }
    *ret_element = list->elements[index];
    return fails ? 1 : 0;
}

AOTITorchError torch_delete_list(StableListHandle list) {
    for (size_t i = 0; list->unknown && list->of_tensors && i < list->count; i++) {
        delete_element(list, i);
    }
    released(FAKE_LIST, list);
    return fake_fails("torch_delete_list") ? 1 : 0;
}

AOTITorchError torch_string_length(StringHandle handle, size_t *ret_length) {
    STEP("torch_string_length")
    *ret_length = handle->length;
    return 0;
}

AOTITorchError torch_string_c_str(StringHandle handle, const char **ret_data) {
    STEP("torch_string_c_str")
    *ret_data = handle->data;
    return 0;
}

AOTITorchError torch_delete_string(StringHandle handle) {
    released(FAKE_STRING, handle);
    return fake_fails("torch_delete_string") ? 1 : 0;
}

/* ---- Threads, grad mode, errors */

AOTITorchError torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size,
                                  void (*fn)(int64_t begin, int64_t end, void *context), void *context) {
    STEP("torch_parallel_for")
    const int64_t middle = begin + (end - begin) / 2;
    if (end - begin >= 2 * grain_size && middle > begin) {
        fn(begin, middle, context);
        begin = middle;
    }
    fn(begin, end, context);
    return 0;
}

static bool grad_mode = true;

bool aoti_torch_grad_mode_is_enabled(void) { return grad_mode; }
void aoti_torch_grad_mode_set_enabled(bool enabled) { grad_mode = enabled; }

/* Does not throw: a host function raises as its last act. */
void aoti_torch_check(bool condition, const char *function, const char *file, uint32_t line, const char *text) {
    (void)function, (void)file, (void)line;
    if (!condition) {
        if (raised[0] != '\0') {
            fake_stop("a call raised twice");
        }
        snprintf(raised, sizeof raised, "%s", text);
    }
}

AOTITorchError aoti_torch_get_current_device_index(int32_t *ret_device_index) {
    STEP("aoti_torch_get_current_device_index")
    *ret_device_index = 0;
    return 0;
}

int64_t fake_reports = FAKE_REPORTS_NOTHING;

void fake_note_run(void) {
    fake_ran = true;
    for (int i = 0; i < count_count && fake_reports != FAKE_REPORTS_NOTHING; i++) {
        memcpy(counts[i]->memory, &fake_reports, sizeof fake_reports);
    }
}

bool fake_finds_bad_data;

void fake_kernel(const void *call, int64_t begin, int64_t end, cpu_piece *piece) {
    if (call == NULL || begin < 0 || begin >= end) {
        fake_stop("a kernel was called without work");
    }
    if (fake_finds_bad_data) {
        cpu_body_error(piece, "unit %" PRId64 " is bad", begin);
        cpu_body_error(piece, "so is the next one");
    }
    fake_note_run();
}

/* ---- Registration */

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
    if (registration_step()) {
        return 1;
    }
    *ret = allocated(FAKE_LIBRARY, sizeof **ret);
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
    return registration_step();
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
    return registration_step();
}

AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle self) {
    released(FAKE_LIBRARY, self);
    return 0;
}

#define TAG(name, number)                                                                                              \
    int32_t torch_tag_##name(void) { return number; }
TAG(core, 1)
TAG(cudagraph_unsafe, 2)
TAG(data_dependent_output, 3)
TAG(dynamic_output_shape, 4)
TAG(flexible_layout, 5)
TAG(generated, 6)
TAG(inplace_view, 7)
TAG(maybe_aliasing_or_mutating, 8)
TAG(needs_contiguous_strides, 9)
TAG(needs_exact_strides, 10)
TAG(needs_fixed_stride_order, 11)
TAG(nondeterministic_bitwise, 12)
TAG(nondeterministic_seeded, 13)
TAG(out_variant, 14)
TAG(pointwise, 15)
TAG(pt2_compliant_tag, 16)
TAG(reduction, 17)
TAG(view_copy, 18)

const char *torch_exception_get_what_without_backtrace(void) { return FAKE_REASON; }
