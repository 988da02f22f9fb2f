"""Which names a spec may give: identifiers that mean nothing else in C, C++, CUDA, Python or generated code."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Collection

from codegen.types import DTYPES, GROUPS

MAX_NAME = 64

_C = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while alignas alignof
bool constexpr nullptr static_assert thread_local typeof typeof_unqual true false asm fortran
"""
_CPP = """
and and_eq bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield compl concept const_cast
consteval constinit decltype delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq
operator or or_eq private protected public reinterpret_cast requires static_cast template this throw try typeid
typename using virtual wchar_t xor xor_eq
"""
# Types, macros and modules that generated code sees.
_SEEN = """
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t size_t ssize_t
ptrdiff_t max_align_t scalar_t acc_t load store NULL EOF INFINITY NAN INT_MAX INT_MIN INT64_C INT64_MAX INT64_MIN
SIZE_MAX PRId64 errno stdin stdout stderr assert offsetof linux unix i386 half half2 nv_bfloat16 dim3 threadIdx
blockIdx blockDim gridDim warpSize std torch cuda at c10 self cls sm_count max_shared arch
"""
_CUDA_VECTOR = re.compile(r"(u?(char|short|int|long|longlong)|float|double)[1-4]")
# Constants that the preprocessor replaces wherever they stand: of the C library, and of csrc.
_MACRO = re.compile(
    r"(U?INT(\d+|MAX|PTR|_LEAST\d+|_FAST\d+)?|PTRDIFF|S?SIZE|WCHAR|WINT|SIG_ATOMIC|[SU]?CHAR|U?SHRT|U?LONG|U?LLONG|BOOL|FLT"
    r"|DBL|LDBL)_[A-Z0-9_]+|(PRI|SCN)[diouxX]\w+|(HUGE_VAL|SNAN)\w*|(ATOMIC|EXIT|FP|MATH|RAND|SEEK)_[A-Z0-9_]+|math_errhandling"
    r"|M_([12]_PI|2_SQRTPI|E|LN2|LN10|LOG2E|LOG10E|PI|PI_[24]|SQRT2|SQRT1_2)\w*"
    r"|(BITS|CPU|CSRC|CUDA|DTYPE|ELEMENTWISE|QUANTIZED|RUNTIME|TORCH|VECTOR)_\w+|\w+_DTYPE|DECIMAL_DIG"
)

# Functions of the C library: a body called like one of these, or with an `f` or `l` behind it, does not compile.
_C_LIBRARY = """
abort abs acos acosh asin asinh atan atan2 atanh atexit atof atoi atol atoll bsearch calloc cbrt ceil clearerr clock
copysign cos cosh ctime difftime div erf erfc exit exp exp2 expm1 fabs fclose fdim feof ferror fflush fgetc fgets floor
fma fmax fmin fmod fopen fprintf fputc fputs fread free frexp fscanf fseek ftell fwrite gamma getc getchar getenv gmtime
hypot ilogb index isalnum isalpha isdigit isfinite isinf islower isnan isnormal isspace isupper j0 j1 jn labs ldexp ldiv
lgamma llabs lldiv llrint llround localtime log log10 log1p log2 logb longjmp lrint lround main malloc memchr memcmp
memcpy memmove memset mktime modf nan nearbyint nextafter nexttoward perror pow printf putc putchar puts qsort raise
rand realloc remainder remove remquo rename rewind rindex rint round scalbln scalbn scanf setjmp setlocale signal
signbit sin sinh snprintf sprintf sqrt srand sscanf strcat strchr strcmp strcpy strlen strncmp strncpy strstr strtod
strtok strtol strtoul system tan tanh tgamma time tmpfile tolower toupper trunc ungetc vprintf vsnprintf vsprintf y0 y1
yn aligned_alloc cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj
creal csin csinh csqrt ctan ctanh feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feraiseexcept fesetenv
fesetexceptflag fesetround fetestexcept feupdateenv imaxabs isblank iscntrl isgraph isprint ispunct iswalnum iswalpha
iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit strcoll strcspn
strerror strftime strncat strpbrk strrchr strspn strxfrm towlower towupper vfprintf vfscanf vscanf vsscanf
"""
# Names beside that of the body where it is called.
_CALLER = "args begin body_error call cpu end piece record"
# Operators whose host code would be called like what csrc/runtime has: `<op>_check`, `<op>_cpu`, `<op>_cuda` and so on.
_RUNTIME = """
all_at_least aoti_torch aoti_torch_device_type custom device device_is find_list offsets on output tensor tensors triton
values
"""
# Headers and types of csrc/device.
_DEVICE = """
column_sums complex_math cross_entropy_row cross_entropy_rows cross_entropy_runs dtype element_math elementwise
few_norm_gradients float8 float8_fnuz full_cuda list_runs max_sum memory_words moments norm_gradient_runs
norm_gradients norm_runs quantize reduce rotation row_max row_norm row_norm_backward row_part row_runs row_vectors
run_shares staged_rows vector accumulator bits_t element_bits divmod_result group_buffer list_place stage token_heads
two vector_run vector_size warp_group word_of words_of
"""
# Types and variables of the C library that device code sees; so are names that end with _t.
_C_TYPES = "daylight fd_set nv signgam timezone tzname u_char u_int u_long u_short uint ulong ushort"
# Typedefs that V_t or V_acc_t would be for a dtype variable of that name, and the parameter of every entry point.
_VARIABLES_TAKEN = """
a call cpu intmax intptr max_align ptrdiff scalar size uintmax uintptr vector vector_packed wchar wint
"""
# Files and modules beside those of operators.
_GENERATED = "library operators runtime ops py init tests all direct shims aoti"

_KEYWORDS: dict[str, str] = {
    **dict.fromkeys(_C.split(), "C"),
    **dict.fromkeys(_CPP.split(), "C++"),
    **dict.fromkeys(keyword.kwlist, "Python"),
}
_TAKEN = frozenset(_SEEN.split())
_OPERATORS_TAKEN = {
    **{name + end: "it is a function of the C library" for name in _C_LIBRARY.split() for end in ("", "f", "l")},
    **dict.fromkeys(_C_TYPES.split(), "the C library uses it"),
    **dict.fromkeys(_CALLER.split(), "generated code uses it"),
    **dict.fromkeys(_RUNTIME.split(), "csrc/runtime uses it"),
    **dict.fromkeys(_DEVICE.split(), "csrc/device uses it"),
    **dict.fromkeys(_GENERATED.split(), "it is the name of a generated file"),
    "name": "torch.ops.<namespace>.name is no operator",
    "check_calls": "the package has a function of that name",
    "check_values": "the package has a function of that name",
}
_TORCH_NAMESPACES = """
aten prim prims torch quantized c10d c10d_functional coor debug_mode_ops debugprims export higher_order inductor
import_module load_library loaded_libraries mkl mkldnn onednn profiler rngprims
"""

# What the generator, the tests and PyTorch import, which a library in front of it on Python's path would hide.
_MODULES = """
codegen filelock fsspec functorch hypothesis jinja2 markupsafe mpmath networkx numpy pip pytest setup setuptools sympy
tests torchgen triton yaml
"""
# Folders beside the library, and those of a project that Python can import.
_FOLDERS = "benchmarks build c cmake csrc docs examples generated python templates"

# Endings that the generator adds to the name of an operator; another operator must not be called that.
OPERATOR_SUFFIXES = ("_args", "_call")


# Pieces into which the device code of an operator is cut at most, to be compiled side by side.
MOST_CUDA_UNITS = 4

# What csrc/runtime, and the headers that it includes, call something like a constant of a choice.
_RUNTIME_CONSTANTS = re.compile(
    r"(aoti_torch|atomic|memory_order|torch)_\w+|all_at_least_zero|cuda_copy_to_host|dtype_(from|to)_torch|dynamic_may_read"
    r"|find_list_overlap|(integer|real)_range_\w+|list_(hold|require|see|set|strides|take|to|widths|release)_\w+|max_align_t"
    r"|next_pow2_i64|output_(check|place|set|take)_\w+|outputs_keep_apart|shape_add_dim|shim_(some|written)_\w+"
    r"|tensor_(has|is|make)_\w+|written_set_aside"
)


def checking_variable(namespace: str, what: str = "values") -> str:
    """The environment variable under which a library looks at the elements of tensors on a GPU, or at `calls`."""
    return f"{namespace}_check_{what}".upper()


def choice_constant(op: str, argument: str, word: str) -> str:
    """The constant under which bodies know a word of a choice."""
    return f"{op}_{argument}_{word}"


def taken_constant(op: str, name: str, operators: Collection[str], kernels: Collection[str]) -> str:
    """What else is called `name` where the bodies of `op` are compiled; "" for nothing."""
    if name in kernels:
        return "a kernel"
    if _RUNTIME_CONSTANTS.fullmatch(name):
        return "used by csrc/runtime"
    generated = {f"{op}_nothing_to_do", f"{op}_args_from"}
    # Of all operators, of which there may be a thousand: only those are looked for that the name could be made of.
    ends = ("_boxed", "_direct", *(f"_fatbin_{unit}" for unit in range(MOST_CUDA_UNITS)))
    generated |= {name for end in ends if name.endswith(end) and name.removesuffix(end) in operators}
    generated |= {f"{kernel}_{end}" for kernel in kernels for end in ("plan", "kernels")}
    generated |= {f"launch_{kernel}" for kernel in kernels}
    return "used by generated code" if name in generated else ""


def problem(name: str) -> str:
    """Why `name` cannot be the name of an argument, dim, output and the like; "" when it can."""
    if not name:
        return "a name is missing"
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return "a name is made of letters, digits and _, and starts with a letter"
    if name.startswith("_"):
        return "names that start with _ are those of generated code"
    if "__" in name:
        return "names with __ are those of compilers and generated code"
    if len(name) > MAX_NAME:
        return f"a name has at most {MAX_NAME} characters"
    if name in _KEYWORDS:
        return f"it is a keyword of {_KEYWORDS[name]}"
    if name in DTYPES or name in GROUPS:
        return "it is the name of a dtype"
    if name in _TAKEN or _CUDA_VECTOR.fullmatch(name) or _MACRO.fullmatch(name):
        return "generated code uses it"
    return ""


def operator_problem(name: str) -> str:
    """Why `name` cannot be the name of an operator or a kernel; "" when it can."""
    found = problem(name)
    if found:
        return found
    if name != name.lower():
        return "names of operators and kernels are lower-case"
    if name.endswith("_t"):
        return "names that end with _t are those of types"
    if name.startswith(("acc_", "cpu_", "vector_")):
        return "functions of csrc/cpu start like that"
    return _OPERATORS_TAKEN.get(name, "")


def variable_problem(name: str) -> str:
    """Why `name` cannot be a dtype variable. Bodies see V_t, V_acc_t, load_V and store_V."""
    found = problem(name) or ("V_acc would collide with V in V_acc_t" if name.endswith("_acc") else "")
    return found or ("generated code uses it" if name in _VARIABLES_TAKEN.split() or name.startswith("cpu_") else "")


def namespace_problem(name: str) -> str:
    """Why `name` cannot be the namespace of a library, which is also its Python package and the prefix of C names."""
    found = problem(name)
    if found:
        return found
    if name != name.lower():
        return "a namespace is lower-case"
    if name in _TORCH_NAMESPACES.split():
        return "PyTorch has a namespace of that name"
    if name in sys.stdlib_module_names or name in _MODULES.split():
        return "there is a Python module of that name"
    if name in _FOLDERS.split():
        return "a project has a folder of that name"
    return ""
