#include "error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "torch_abi.h"

void error_begin(error *e, const char *op) {
    e->op = op;
    e->set = false;
    e->values = 0;
    e->text[0] = '\0';
}

bool fail(error *e, const char *format, ...) {
    if (e->set) {
        return false;
    }
    e->set = true;
    const int prefix = snprintf(e->text, sizeof e->text, "%s: ", e->op);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(e->text + prefix, sizeof e->text - (size_t)prefix, format, arguments);
    va_end(arguments);
    return false;
}

bool fail_abi(error *e, const char *function) {
    if (torch_exception_get_what_without_backtrace != NULL) {
        return fail(e, "%s: %s", function, torch_exception_get_what_without_backtrace());
    }
    return fail(e, "%s failed; PyTorch before 2.13 gives its reason on stderr only", function);
}

void error_raise(const error *e) {
    if (e->set) {
        /* The function, file and line would only be added to the text in PyTorch's C++ stack trace mode. */
        aoti_torch_check(false, e->op, "", 0, e->text);
    }
}

char *error_value(error *e) { return e->value[e->values++ % ERROR_VALUES]; }

const char *float_text(error *e, double value) {
    char *const text = error_value(e);
    if (isnan(value)) {
        return "nan";
    }
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, ERROR_VALUE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    return text;
}

const char *int_text(error *e, int64_t value) {
    char *const text = error_value(e);
    snprintf(text, ERROR_VALUE, "%" PRId64, value);
    return text;
}

const char *bool_text(bool value) { return value ? "True" : "False"; }
