#include "direct_module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The outputs that the caller gave, as torch's and NumPy's functions with `out` return them. */
static PyObject *given_outputs(const call *c) {
    const direct_function *const spec = c->f->spec;
    if (spec->given == 1) {
        return Py_NewRef(c->values[spec->count]);
    }
    PyObject *const tuple = PyTuple_New(spec->given);
    for (int i = 0; tuple != NULL && i < spec->given; i++) {
        PyTuple_SetItem(tuple, i, Py_NewRef(c->values[spec->count + i]));
    }
    return tuple;
}

static PyObject *invoke(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    call c;
    bool given = false;
    PyObject *result = NULL;
    c.f = PyCapsule_GetPointer(self, NULL);
    if (c.f == NULL || !arguments_bind(&c, args, count, keywords)) {
        return NULL;
    }
    c.used = 0;
    c.room = 0;
    c.holds = false;
    c.ran = false;
    c.loans = c.few;
    c.like = NULL;
    c.torch = false;
    const direct_function *const spec = c.f->spec;
    error_begin(&c.e, spec->op);
    if (arguments_push(&c, &given)) {
        (given ? spec->call_given : spec->call)(&c.e, c.stack);
        if (!c.e.set) {
            result = given ? given_outputs(&c) : results_take(&c);
        }
    }
    loans_end(&c);
    if (c.e.set) {
        raise_error(&c.e);
    }
    return result;
}

/* ---- Import */

/* The library beside this file, which the package has loaded. */
static const direct_library *library_beside(void) {
    Dl_info own;
    char path[4096];
    if (dladdr((void *)(uintptr_t)invoke, &own) == 0 || own.dli_fname == NULL) {
        PyErr_SetString(PyExc_ImportError, "the direct module does not know its own file");
        return NULL;
    }
    const char *const slash = strrchr(own.dli_fname, '/');
    const int folder = slash != NULL ? (int)(slash - own.dli_fname) + 1 : 0;
    snprintf(path, sizeof path, "%.*s%s.so", folder, own.dli_fname, DIRECT_NAMESPACE);
    void *const library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    const direct_library *(*ask)(void) = NULL;
    void *const symbol = library != NULL ? dlsym(library, DIRECT_NAMESPACE "_direct_library") : NULL;
    memcpy(&ask, &symbol, sizeof ask);
    const direct_library *const found = ask != NULL ? ask() : NULL;
    if (found == NULL || found->version != DIRECT_VERSION) {
        PyErr_Format(PyExc_ImportError,
                     "%s does not go with %s: build both with `make build`, or pip install the package", path,
                     own.dli_fname);
        return NULL;
    }
    return found;
}

/* A default, from its literal. */
static PyObject *default_of(const direct_argument *argument, PyObject *names) {
    PyObject *const code = Py_CompileString(argument->default_text, "default", Py_eval_input);
    PyObject *const value = code != NULL ? PyEval_EvalCode(code, names, names) : NULL;
    Py_XDECREF(code);
    return value;
}

/* Functions live as long as the process. */
static bool function_fill(function *f, const direct_function *spec, PyObject *names) {
    const int total = spec->count + spec->given;
    const size_t room = strlen(spec->name) + strlen(spec->signature) + strlen(spec->doc) + 16;
    char *const doc = malloc(room);
    f->spec = spec;
    f->names = calloc((size_t)total + 1, sizeof *f->names);
    f->defaults = calloc((size_t)total + 1, sizeof *f->defaults);
    if (doc == NULL || f->names == NULL || f->defaults == NULL) {
        free(doc);
        PyErr_NoMemory();
        return false;
    }
    /* Python takes the signature from what stands before the dashes. */
    snprintf(doc, room, "%s%s\n--\n\n%s", spec->name, spec->signature, spec->doc);
    f->method = (PyMethodDef){spec->name, NULL, METH_FASTCALL | METH_KEYWORDS, doc};
    void (*const code)(void) = (void (*)(void))invoke; /* a PyCFunction but for what the flags say of its arguments */
    memcpy(&f->method.ml_meth, &code, sizeof code);
    for (int i = 0; i < total; i++) {
        const direct_argument *const argument = &spec->arguments[i];
        f->names[i] = PyUnicode_InternFromString(argument->name);
        f->positional += !argument->keyword;
        f->tensors += argument->kind == DIRECT_TENSOR;
        f->lists |= argument->kind == DIRECT_TENSOR && argument->list;
        if (argument->default_text != NULL) {
            f->defaults[i] = default_of(argument, names);
        }
        if (f->names[i] == NULL || (argument->default_text != NULL && f->defaults[i] == NULL)) {
            return false;
        }
    }
    return true;
}

static bool add_functions(PyObject *module, const direct_library *library) {
    PyObject *const names = PyDict_New();
    PyObject *const where = PyModule_GetNameObject(module);
    function *const functions = calloc((size_t)library->count + 1, sizeof *functions);
    bool ok = names != NULL && where != NULL && functions != NULL;
    for (int i = 0; ok && i < library->count; i++) {
        const direct_function *const spec = &library->functions[i];
        ok = function_fill(&functions[i], spec, names);
        PyObject *const self = ok ? PyCapsule_New(&functions[i], NULL, NULL) : NULL;
        PyObject *const made = self != NULL ? PyCFunction_NewEx(&functions[i].method, self, where) : NULL;
        Py_XDECREF(self);
        ok = made != NULL && PyModule_AddObjectRef(module, spec->name, made) == 0;
        Py_XDECREF(made);
    }
    Py_XDECREF(where);
    Py_XDECREF(names);
    return ok;
}

static int module_exec(PyObject *module) {
    const direct_library *const library = library_beside();
    PyObject *const torch = library != NULL ? PyImport_ImportModule("torch") : NULL;
    const bool ok = torch != NULL && arguments_load(torch) && tensors_load(torch) && results_load(torch) &&
                    add_functions(module, library);
    Py_XDECREF(torch);
    return ok ? 0 : -1;
}

PyMODINIT_FUNC PyInit__C(void) {
    static PyModuleDef_Slot slots[] = {
        {Py_mod_exec, (void *)(uintptr_t)module_exec},
        {0, NULL},
    };
    static PyModuleDef definition = {
        PyModuleDef_HEAD_INIT,
        .m_name = "_C",
        .m_doc =
            "Each operator as a plain C function: the same checks and the same kernels as in torch.ops, without "
            "PyTorch's dispatcher.\n\nNo gradient is recorded, and no version counter moves: in training, use the "
            "functions of the package or torch.ops. Tensors may be those of PyTorch, and arrays that speak DLPack; "
            "results are of the kind of the first one. `out`, or the outputs by their names, are written in place.",
        .m_slots = slots,
    };
    return PyModuleDef_Init(&definition);
}
