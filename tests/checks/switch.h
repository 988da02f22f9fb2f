/* Included into every unit of a build for `python -m tests.checks`: one CHECK, by file and line, is left out or turned
 * round while the library runs. */
#ifndef CHECK_HOLDS

#define _GNU_SOURCE /* as the units that need it say, before any header */
#include <stdbool.h>
#include <string.h>

/* Weak, so that all units share them; exported, so that the test sets them. */
#define SHARED __attribute__((weak, visibility("default")))
SHARED char check_switch_file[256];
SHARED int check_switch_line;
SHARED int check_switch_negate; /* else left out */

static inline bool check_switch(const char *file, int line, bool holds) {
    if (line != check_switch_line || strstr(file, check_switch_file) == NULL) {
        return holds;
    }
    return check_switch_negate ? !holds : true;
}

#define CHECK_HOLDS(condition) check_switch(__FILE__, __LINE__, (condition))

#endif
