/* Calls host functions as a script on standard input says, one line an instruction; call.py writes such lines.
 *
 *   call NAME KEY OUTPUTS MODE   begins a call of the kernel registered under KEY, or of one of the direct module that
 *                                is not registered, returning as many results as OUTPUTS has letters: t a tensor, o one that may be absent, l a list; MODE is once or
 *                                faults
 *   tensor DTYPE DEVICE INDEX WRITTEN SHARED BYTES OFFSET DIM SIZE... STRIDE... DATA
 *                                an argument; SHARED is -1, or the argument on whose storage it lies; DATA is what its
 *                                storage holds, in hexadecimal, and - where that does not matter
 *   tensors COUNT                a list, of the tensors in the next lines; SHARED counts them too
 *   optionals COUNT              the same, each of them behind `some`, or `none`
 *   none, some                   an optional that is absent; one that is given, as the next line says
 *   int N, float X, bool B, dtype NAME, device TYPE INDEX, string DATA, ints COUNT N..., floats ..., bools ...
 *   run TEXT                     calls; TEXT is that of the error, in hexadecimal, - where there is none, * for any
 *   reports N                    what kernels say of how much they found; nothing when it is -2^31
 *   misaligned N                 the N-th tensor that a call makes does not begin at a multiple of 16 bytes
 *   fails STEP                   the next calls of this name fail, in every call
 *   arch N, driver N, code N, has_driver B, driver_is_old B, torch_has_cuda B, torch_is_old B, capturing B, pageable B
 *                                what the machine is from now on
 *   triton B                     whether the library was built with Triton
 *
 * After each attempt nothing may be left: not a tensor, list, string, box or block of memory. Arguments that are not
 * written hold what they held; written ones too where a call fails before its body ran. */
#include "direct.h"
#include "view_bits.h"
#include "fake.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 512, MAX_ELEMENTS = 256, MAX_SIZES = 80, WORD = 64, TEXT = 8192 };

const direct_library *fake_direct(void); /* of the library that is examined */
BoxedKernel *fake_find_shim(const char *name);

typedef enum slot_kind { NONE, NUMBER, TENSOR, STRING, LIST, TENSORS } slot_kind;

/* An argument, of which every attempt gets a new one. */
typedef struct slot {
    slot_kind kind;
    bool boxed, optional;
    StableIValue number;
    int32_t dtype, device_type, device_index;
    bool written;
    int shared;
    int64_t offset, dim;
    int64_t sizes[MAX_SIZES], strides[MAX_SIZES];
    size_t bytes; /* of the storage, or of the string */
    unsigned char *data;
    size_t count;
    StableIValue elements[MAX_ELEMENTS];
    fake_storage *storage;
} slot;

typedef struct call {
    char name[WORD * 2], key[WORD], outputs[WORD], mode[WORD];
    slot slots[MAX_SLOTS];
    int slot_count;
    char expected[TEXT];
} call;

static int64_t calls, attempts, faults, problems;

static void problem(const call *c, const char *what, const char *detail) {
    problems++;
    fprintf(stderr, "line %d: %s (%s)", fake_line, c->name, c->key);
    if (fake_failed() != NULL) {
        fprintf(stderr, ", where %s fails", fake_failed());
    }
    fprintf(stderr, ": %s%s\n", what, detail);
}

/* ---- One attempt */

static StableIValue made(call *c, slot *s) {
    if (s->kind == TENSOR) {
        if (s->shared >= 0) {
            s->storage = c->slots[s->shared].storage;
            s->storage->references++;
        } else {
            s->storage = fake_new_storage(s->bytes);
            if (s->data != NULL) {
                memcpy(s->storage->memory, s->data, s->bytes);
            }
        }
        return (StableIValue)(uintptr_t)fake_new_tensor(s->storage, s->offset, s->dim, s->sizes, s->strides, s->dtype,
                                                        s->device_type, s->device_index);
    }
    if (s->kind == STRING) {
        return (StableIValue)(uintptr_t)fake_new_string((const char *)s->data, s->bytes);
    }
    if (s->kind == LIST) {
        return (StableIValue)(uintptr_t)fake_new_list(s->elements, s->count, false, false);
    }
    if (s->kind == TENSORS) {
        for (size_t i = 0; i < s->count; i++) {
            slot *const one = s + 1 + i;
            const StableIValue value = made(c, one);
            s->elements[i] = one->boxed ? (StableIValue)(uintptr_t)fake_new_box(value) : value;
        }
        return (StableIValue)(uintptr_t)fake_new_list(s->elements, s->count, true, s->optional);
    }
    return s->number;
}

static void check_text(const call *c) {
    const char *const raised = fake_raised();
    const char *const failed = fake_failed();
    if (failed == NULL) {
        if (strcmp(c->expected, "*") != 0 && strcmp(raised, c->expected) != 0) {
            problem(c, "raised: ", raised[0] != '\0' ? raised : "nothing");
            fprintf(stderr, "    expected: %s\n", c->expected);
        }
        return;
    }
    char wanted[TEXT];
    if (strncmp(failed, "cu", 2) == 0) {
        snprintf(wanted, sizeof wanted, ": CUDA error %d, ", fake_cuda.code);
    } else if (strncmp(failed, "dl", 2) == 0 || strcmp(failed, "calloc") == 0) {
        snprintf(wanted, sizeof wanted, ": %s",
                 strcmp(failed, "calloc") == 0              ? "out of memory for"
                 : strcmp(failed, "dlopen of libcuda") == 0 ? "no CUDA driver: "
                 : strcmp(failed, "dlsym") == 0             ? "t"
                                                            : "this PyTorch has no CUDA");
    } else {
        snprintf(wanted, sizeof wanted, ": %s: " FAKE_REASON, failed);
    }
    if (strstr(raised, "::") == NULL || strstr(raised, wanted) == NULL) {
        problem(c, "raised: ", raised[0] != '\0' ? raised : "nothing");
    }
}

static void check_results(const call *c, const StableIValue *stack) {
    for (size_t i = 0; i < strlen(c->outputs); i++) {
        StableIValue value = stack[i];
        if (c->outputs[i] == 'o' && value != 0) {
            StableIValue *const box = (StableIValue *)(uintptr_t)value;
            value = *box;
            _ZdlPv(box);
        } else if (value == 0) {
            if (c->outputs[i] != 'o') {
                problem(c, "a result is missing", "");
            }
            continue;
        }
        if (c->outputs[i] == 'l') {
            fake_delete_results((StableListHandle)(uintptr_t)value);
        } else {
            aoti_torch_delete_tensor_object((AtenTensorHandle)(uintptr_t)value);
        }
    }
}

static void check_arguments(const call *c) {
    for (int i = 0; i < c->slot_count; i++) {
        const slot *const s = &c->slots[i];
        const bool may_change = s->written && (fake_ran || fake_raised()[0] == '\0');
        if (s->kind == TENSOR && s->shared < 0 && s->data != NULL && !may_change &&
            memcmp(s->storage->memory, s->data, s->bytes) != 0) {
            problem(c, "an argument has changed", "");
        }
    }
}

static void check_nothing_left(const call *c) {
    for (int kind = 0; kind < FAKE_KINDS; kind++) {
        if (kind != FAKE_LIBRARY && fake_live[kind] != 0) {
            char text[WORD];
            snprintf(text, sizeof text, "%" PRId64 " %s", fake_live[kind], fake_kind_names[kind]);
            problem(c, "left: ", text);
            fake_live[kind] = 0;
        }
    }
    if (fake_pushed != 0) {
        problem(c, "a CUDA context is still current", "");
        fake_pushed = 0;
    }
    if (!aoti_torch_grad_mode_is_enabled()) {
        problem(c, "grad mode is off", "");
        aoti_torch_grad_mode_set_enabled(true);
    }
}

static void attempt(call *c, BoxedKernel *kernel, bool with_faults) {
    StableIValue stack[MAX_SLOTS] = {0};
    uint64_t count = 0;
    for (int i = 0; i < c->slot_count; i++) {
        stack[count] = made(c, &c->slots[i]);
        if (c->slots[i].boxed) {
            stack[count] = (StableIValue)(uintptr_t)fake_new_box(stack[count]);
        }
        count++;
        i += c->slots[i].kind == TENSORS ? (int)c->slots[i].count : 0;
    }
    attempts++;
    fake_begin_attempt(with_faults);
    kernel(stack, count, strlen(c->outputs));
    check_text(c);
    check_arguments(c);
    for (int i = 0; i < c->slot_count; i++) {
        if (c->slots[i].kind == TENSOR) {
            fake_release_storage(c->slots[i].storage);
        }
    }
    if (fake_raised()[0] == '\0') {
        check_results(c, stack);
    }
    check_nothing_left(c);
}

/* Forms with `out` that are not registered: the direct module calls them, and raises itself. */
static DirectKernel *direct_out;

static void call_direct(StableIValue *stack, uint64_t count, uint64_t outputs) {
    error e;
    (void)count;
    (void)outputs;
    direct_out(&e, stack);
    error_raise(&e);
}

static BoxedKernel *find_direct(const char *name) {
    const direct_library *const library = fake_direct();
    const size_t length = strlen(name) > 4 ? strlen(name) - 4 : 0;
    for (int i = 0; i < library->count && strcmp(name + length, ".out") == 0; i++) {
        const direct_function *const f = &library->functions[i];
        if (strlen(f->name) == length && strncmp(f->name, name, length) == 0 && f->call_given != NULL) {
            direct_out = f->call_given;
            return call_direct;
        }
    }
    return NULL;
}

/* The same call of the operator's C shim, where it has one. What differs from the kernel's own is before it begins, and
 * the same on every device. */
static void run_shim(call *c) {
    BoxedKernel *const shim = fake_find_shim(c->name);
    if (shim == NULL || strcmp(c->key, "CUDA") == 0) {
        return;
    }
    fake_begin_call();
    do {
        attempt(c, shim, true);
    } while (fake_failed() != NULL);
    faults += (int64_t)fake_failures();
}

static void run(call *c) {
    BoxedKernel *const registered = fake_find_kernel(c->key, c->name);
    BoxedKernel *const kernel = registered != NULL ? registered : find_direct(c->name);
    calls++;
    if (kernel == NULL) {
        problem(c, "no such kernel", "");
        return;
    }
    fake_begin_call();
    if (strcmp(c->mode, "faults") == 0) {
        do {
            attempt(c, kernel, true);
        } while (fake_failed() != NULL);
        faults += (int64_t)fake_failures();
        run_shim(c);
        return;
    }
    attempt(c, kernel, false);
}

/* ---- The script */

static char *next(char **rest) {
    char *const word = strtok_r(NULL, " \n", rest);
    if (word == NULL) {
        fake_stop("a word is missing");
    }
    return word;
}

static int64_t next_int(char **rest) { return strtoll(next(rest), NULL, 10); }

static unsigned char *from_hex(const char *hex, size_t *bytes) {
    *bytes = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    unsigned char *const data = malloc(*bytes + 1);
    if (data == NULL) {
        fake_stop("out of memory");
    }
    for (size_t i = 0; i < *bytes; i++) {
        const char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        data[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    data[*bytes] = '\0';
    return data;
}

static StableIValue next_number(const char *kind, char **rest) {
    StableIValue number = 0;
    if (kind[0] == 'f') {
        const double value = strtod(next(rest), NULL);
        memcpy(&number, &value, sizeof number);
    } else {
        const int64_t value = next_int(rest);
        memcpy(&number, &value, sizeof number);
    }
    return number;
}

static void read_tensor(slot *s, char **rest) {
    s->kind = TENSOR;
    s->dtype = fake_dtype(next(rest));
    s->device_type = fake_device(next(rest));
    s->device_index = (int32_t)next_int(rest);
    s->written = next_int(rest) != 0;
    s->shared = (int)next_int(rest);
    s->bytes = (size_t)next_int(rest);
    s->offset = next_int(rest);
    s->dim = next_int(rest);
    for (int64_t i = 0; i < 2 * s->dim; i++) {
        *(i < s->dim ? &s->sizes[i] : &s->strides[i - s->dim]) = next_int(rest);
    }
    const char *const hex = next(rest);
    if (strcmp(hex, "-") != 0) {
        size_t bytes;
        s->data = from_hex(hex, &bytes);
        if (bytes != s->bytes) {
            fake_stop("data of another size");
        }
    }
}

/* False where the line is about no argument. */
static bool read_argument(slot *s, const char *word, char **rest) {
    if (strcmp(word, "tensor") == 0) {
        read_tensor(s, rest);
    } else if (strcmp(word, "tensors") == 0 || strcmp(word, "optionals") == 0) {
        s->kind = TENSORS;
        s->optional = word[0] == 'o';
        s->count = (size_t)next_int(rest);
    } else if (strcmp(word, "none") == 0) {
        s->kind = NONE;
    } else if (strcmp(word, "string") == 0) {
        s->kind = STRING;
        s->data = from_hex(next(rest), &s->bytes);
    } else if (strcmp(word, "dtype") == 0) {
        s->kind = NUMBER;
        s->number = (StableIValue)(uint32_t)fake_dtype(next(rest));
    } else if (strcmp(word, "device") == 0) {
        s->kind = NUMBER;
        const uint32_t type = (uint32_t)fake_device(next(rest));
        s->number = ((StableIValue)type << 32) | (uint32_t)next_int(rest);
    } else if (strcmp(word, "ints") == 0 || strcmp(word, "floats") == 0 || strcmp(word, "bools") == 0) {
        s->kind = LIST;
        s->count = (size_t)next_int(rest);
        for (size_t i = 0; i < s->count; i++) {
            s->elements[i] = next_number(word, rest);
        }
    } else if (strcmp(word, "int") == 0 || strcmp(word, "float") == 0 || strcmp(word, "bool") == 0) {
        s->kind = NUMBER;
        s->number = next_number(word, rest);
    } else {
        return false;
    }
    return true;
}

static void clear(call *c) {
    for (int i = 0; i < c->slot_count; i++) {
        free(c->slots[i].data);
        memset(&c->slots[i], 0, sizeof c->slots[i]);
    }
    c->slot_count = 0;
    c->expected[0] = '\0';
}

/* Generated: NAMESPACE_load_error and NAMESPACE_check_values, and the tables of Triton kernels. */
const char *fake_load_error(void);
void fake_check_values(bool on);
void fake_triton(bool there);

static void set_machine(const char *word, char **rest) {
    const int value = (int)next_int(rest);
    bool *const flag = strcmp(word, "has_driver") == 0       ? &fake_cuda.has_driver
                       : strcmp(word, "driver_is_old") == 0  ? &fake_cuda.driver_is_old
                       : strcmp(word, "torch_has_cuda") == 0 ? &fake_cuda.torch_has_cuda
                       : strcmp(word, "torch_is_old") == 0   ? &fake_cuda.torch_is_old
                       : strcmp(word, "capturing") == 0      ? &fake_cuda.capturing
                       : strcmp(word, "pageable") == 0       ? &fake_cuda.pageable
                                                             : NULL;
    if (flag != NULL) {
        *flag = value != 0;
    } else if (strcmp(word, "arch") == 0) {
        fake_cuda.arch = value;
    } else if (strcmp(word, "driver") == 0) {
        fake_cuda.driver = value;
    } else if (strcmp(word, "triton") == 0) {
        fake_triton(value != 0);
    } else if (strcmp(word, "reports") == 0) {
        fake_reports = value;
    } else if (strcmp(word, "misaligned") == 0) {
        fake_misaligned = value;
    } else if (strcmp(word, "code") == 0) {
        fake_cuda.code = value;
    } else {
        fake_stop(word);
    }
}

static void instruction(call *c, const char *word, char **rest) {
    if (strcmp(word, "call") == 0) {
        clear(c);
        snprintf(c->name, sizeof c->name, "%s", next(rest));
        snprintf(c->key, sizeof c->key, "%s", next(rest));
        const char *const outputs = next(rest);
        snprintf(c->outputs, sizeof c->outputs, "%s", strcmp(outputs, "-") == 0 ? "" : outputs);
        snprintf(c->mode, sizeof c->mode, "%s", next(rest));
    } else if (strcmp(word, "run") == 0) {
        size_t bytes;
        const char *const hex = next(rest);
        char *const text = (char *)from_hex(hex, &bytes);
        snprintf(c->expected, sizeof c->expected, "%s", strcmp(hex, "*") == 0 ? hex : text);
        free(text);
        run(c);
    } else if (strcmp(word, "checking") == 0) {
        fake_check_values(next_int(rest) != 0);
    } else if (strcmp(word, "bad_data") == 0) {
        fake_finds_bad_data = next_int(rest) != 0;
    } else if (strcmp(word, "fails") == 0) {
        fake_always_fails(next(rest));
    } else if (strcmp(word, "some") == 0) {
        c->slots[c->slot_count].boxed = true;
    } else if (read_argument(&c->slots[c->slot_count], word, rest)) {
        if (++c->slot_count == MAX_SLOTS) {
            fake_stop("too many arguments");
        }
    } else {
        set_machine(word, rest);
    }
}

int main(void) {
    static call c;
    char *text = NULL, *rest;
    size_t room = 0;
    const char *const wrong = fake_load_error();
    if (wrong != NULL) {
        printf("load error: %s\nlibraries left: %" PRId64 "\n", wrong, fake_live[FAKE_LIBRARY]);
        return 3;
    }
    view_bits(NULL); /* which looks for the bits once, and finds none */
    while (getline(&text, &room, stdin) > 0) {
        fake_line++;
        const char *const word = strtok_r(text, " \n", &rest);
        if (word != NULL && word[0] != '#') {
            instruction(&c, word, &rest);
        }
    }
    clear(&c);
    free(text);
    printf("%" PRId64 " calls, %" PRId64 " attempts, %" PRId64 " faults, %" PRId64 " problems\n", calls, attempts,
           faults, problems);
    return problems == 0 ? 0 : 1;
}
