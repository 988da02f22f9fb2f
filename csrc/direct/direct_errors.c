#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "direct_module.h"

/* Copies as many bytes as fit of what `object` is as text. */
static void copy_text(char *text, size_t room, PyObject *object) {
    PyObject *const string = object != NULL ? PyObject_Str(object) : NULL;
    PyObject *const bytes = string != NULL ? PyUnicode_AsEncodedString(string, "utf-8", "replace") : NULL;
    const char *const data = bytes != NULL ? PyBytes_AsString(bytes) : "unknown";
    const char *const shown = data != NULL ? data : "unknown";
    snprintf(text, room, "%.*s", (int)strcspn(shown, "\n"), shown); /* further lines are PyTorch's stack */
    Py_XDECREF(bytes);
    Py_XDECREF(string);
    PyErr_Clear();
}

bool fail_python(error *e, const char *format, ...) {
    PyObject *type, *value, *traceback;
    char why[ERROR_VALUE], what[ERROR_VALUE];
    PyErr_Fetch(&type, &value, &traceback);
    copy_text(why, sizeof why, value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return fail(e, "%s: %s", what, why);
}

const char *got_text(error *e, PyObject *value) {
    if (value == Py_None) {
        return "None";
    }
    char *const text = error_value(e);
    PyObject *kind, *why, *traceback;
    PyErr_Fetch(&kind, &why, &traceback); /* fail_python() has yet to read it */
    PyObject *const name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
    copy_text(text, ERROR_VALUE, name);
    Py_XDECREF(name);
    PyErr_Restore(kind, why, traceback);
    return text;
}

const char *place_text(error *e, const char *name, Py_ssize_t i) {
    if (i < 0) {
        return name;
    }
    char *const text = error_value(e);
    snprintf(text, ERROR_VALUE, "%s[%zd]", name, i);
    return text;
}

void raise_error(const error *e) {
    PyObject *const text = PyUnicode_DecodeUTF8(e->text, (Py_ssize_t)strlen(e->text), "replace");
    if (text != NULL) {
        PyErr_SetObject(PyExc_RuntimeError, text);
        Py_DECREF(text);
    }
}
