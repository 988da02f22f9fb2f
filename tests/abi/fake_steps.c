/* Steps, of which one may fail, and memory that is counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_objects.h"

enum { MAX_STEPS = 4096 };

int64_t fake_live[FAKE_KINDS];
const char *const fake_kind_names[FAKE_KINDS] = {"tensors",   "lists",    "strings",         "boxes",
                                                 "libraries", "storages", "blocks of memory"};
static const char *failed;

int fake_line;

void fake_stop(const char *text) {
    fprintf(stderr, "line %d: %s, where %s fails\n", fake_line, text, failed != NULL ? failed : "nothing");
    abort();
}

void *fake_allocate(fake_kind kind, size_t bytes) {
    void *const memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fake_stop("out of memory");
    }
    fake_live[kind]++;
    return memory;
}

void fake_release(fake_kind kind, void *memory) {
    free(memory);
    fake_live[kind]--;
}

/* What the runtime calls calloc and free. */
void *fake_calloc(size_t count, size_t size);
void *fake_calloc(size_t count, size_t size) {
    if (fake_fails("calloc")) {
        return NULL;
    }
    void *const memory = fake_allocate(FAKE_MEMORY, count * size);
    memset(memory, 0, count * size);
    return memory;
}

void fake_free(void *memory);
void fake_free(void *memory) {
    if (memory != NULL) {
        fake_release(FAKE_MEMORY, memory);
    }
}

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
    fake_torch_begin_attempt();
}

const char *fake_failed(void) { return failed; }
size_t fake_failures(void) { return tried_count; }

/* Registration happens before main(): this step of it fails. */
__attribute__((constructor(101))) static void choose_registration_step(void) {
    const char *const wanted = getenv("FAKE_FAIL_AT");
    if (wanted != NULL) {
        fake_begin_attempt(false);
        seen[seen_count++] = (step){.name = "", .place = atoi(wanted)};
    }
}

bool fake_registration_fails(void) { return seen_count > 0 && seen[0].name[0] == '\0' && seen[0].place-- == 0; }
