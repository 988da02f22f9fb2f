"""Every key and word of the spec language, with the text that an editor shows for it and what may stand behind it.

The one definition of both: `read.keys(...)` of the checks takes the names from here, and schema.py makes
codegen/ops.schema.json of the whole. What a value means is seen by the checks; a schema knows its form only.
"""

from __future__ import annotations

from typing import TypeAlias

from codegen.frozen import dataclass

# ---------------------------------------------------------------- forms of values


@dataclass(frozen=True, slots=True)
class Text:
    """Any text: a doc, a message, a version."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A text in the expression language; a number or a bool is one too."""


@dataclass(frozen=True, slots=True)
class TypeText:
    """A type with its marks, words and default: `T[*rows, n]? contiguous`."""

    section: str


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier."""


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of YAML."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dtypes:
    """What a dtype variable stands for: a group, a dtype, or a list of dtypes and earlier variables."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    item: Form


@dataclass(frozen=True, slots=True)
class Named:
    """A mapping from names that the writer chooses to values of one form."""

    item: Form


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping with known keys."""

    title: str
    keys: tuple[Key, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The keys, in order."""
        return tuple(key.name for key in self.keys)


@dataclass(frozen=True, slots=True)
class Either:
    """A value of one of several forms."""

    forms: tuple[Form, ...]


Form: TypeAlias = Text | Expression | TypeText | Name | Flag | Number | OneOf | Dtypes | ListOf | Named | Table | Either


@dataclass(frozen=True, slots=True)
class Key:
    """One key: what it says, in a sentence or two, and the form of its value."""

    name: str
    doc: str
    form: Form
    required: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A word behind a type. `argument` is what stands in its parentheses, as the documentation writes it."""

    name: str
    doc: str
    argument: str = ""


# ---------------------------------------------------------------- words behind a type

_FILL = Word("fill", "starts at this value", "value")

_INPUT = (
    Word("contiguous", "an error names the argument when it is not contiguous"),
    Word("rows", "last dim contiguous and one row stride; else copied"),
    Word("inner", "last one (or two) dims contiguous, other strides free", "2"),
    Word("strided", "sizes and strides as they are"),
    Word("expand", "broadcast to its contract: missing leading dims and size 1 have stride 0"),
    Word("cpu", "stays on the host: the body gets a host pointer"),
    Word("no_grad", "no gradient, by declaration"),
    Word("grad", "has the gradient of this input", "x"),
    Word("out", "written, never read (with `!`)"),
)
_OUTPUT = (
    Word("saved", "kept for backward, not returned, not computed in inference"),
    _FILL,
    Word("like", "has the strides of this input", "x"),
    Word("transposed", "last two dims swapped in memory"),
)

WORDS = {"inputs": _INPUT, "keywords": _INPUT, "outputs": _OUTPUT, "scratch": (_FILL,)}


def words(section: str) -> tuple[str, ...]:
    """The names of the words that may stand behind a type of this section."""
    return tuple(word.name for word in WORDS[section])


# ---------------------------------------------------------------- entries of sections


# The long form of an entry, by section.
FIELDS = {
    section: Table(
        f"{section}: long form of an entry",
        (
            Key("type", "The type, as in the short form.", TypeText(section), required=True),
            Key("doc", "What it is, for documentation.", Text()),
        ),
    )
    for section in WORDS
}


def _entries(section: str) -> Form:
    return Named(Either((TypeText(section), FIELDS[section])))


CHECK = Table(
    "long form of a check",
    (
        Key("that", "The condition.", Expression(), required=True),
        Key("message", "What a failing call says first; the condition and the values follow.", Text()),
    ),
)

_NUMBERS = Either((Expression(), ListOf(Expression())))
_PARAMS = Key(
    "params",
    "Template arguments of the kernel: constants, expressions on dtypes such as 16 // sizeof(T), or a switch over a "
    "run-time value such as d in [64, 128].",
    Named(Expression()),
)
_WHEN = Key("when", "Taken only where this condition holds; the first entry that fits is launched.", Expression())
_GRID = Key("grid", "Number of blocks, up to three numbers. An empty grid launches nothing.", _NUMBERS)
_BLOCK = Key("block", "Threads of a block, up to three numbers.", _NUMBERS)
_SHARED = Key("shared", "Bytes of dynamic shared memory.", Expression())
_CLUSTER = Key("cluster", "Blocks of a cluster, up to three numbers.", _NUMBERS)
_PARALLEL = Key("parallel", "Number of units that [begin, end) of the C body counts.", Expression())

LAUNCH = Table(
    "launch",
    (
        _WHEN,
        _PARAMS,
        Key(_GRID.name, _GRID.doc, _GRID.form, required=True),
        Key(_BLOCK.name, _BLOCK.doc, _BLOCK.form, required=True),
        _SHARED,
        _CLUSTER,
    ),
)
_LAUNCHES = Either((LAUNCH, ListOf(LAUNCH)))

PASS = Table(
    "pass",
    (
        Key("kernel", "The function in the bodies that this pass runs.", Name(), required=True),
        Key("when", "The pass is skipped where this condition does not hold.", Expression()),
        _PARALLEL,
        Key("launch", "One launch, or a list of which the first that fits is taken.", _LAUNCHES),
        _PARAMS,
        _GRID,
        _BLOCK,
        _SHARED,
        _CLUSTER,
    ),
)

TRITON = Table(
    "Triton kernel",
    (
        Key("kernel", "The kernel in csrc/<op>.py.", Name(), required=True),
        Key("args", "What it takes, in order: tensors, sizes and scalars by name.", ListOf(Name()), required=True),
        Key(
            "params",
            "Its constexpr parameters, by name: constants, expressions on dtypes, switches over run-time values, or "
            "expressions on sizes that checks bound, such as next_pow2(n) with n <= 4096.",
            Named(Expression()),
        ),
        Key(_GRID.name, _GRID.doc, _GRID.form, required=True),
        Key("num_warps", "Warps of a block, 4 when left out; params may stand in it.", Expression()),
        Key("num_stages", "Stages of software pipelining, 3 when left out; params may stand in it.", Expression()),
    ),
)

_VARIANTS = Either(
    (
        ListOf(OneOf(("inplace", "out"))),
        Table(
            "variants",
            (
                Key(
                    "inplace",
                    "Also op_, writing an input: output -> input.",
                    Either((Named(Name()), Flag())),
                ),
                Key("out", "Also op.out, with the outputs as keywords.", Flag()),
            ),
        ),
    )
)

# ---------------------------------------------------------------- operators and the file

DEVICES = ("cpu", "cuda")
_DEVICES = ListOf(OneOf(DEVICES))

OPERATOR = Table(
    "operator",
    (
        Key("doc", "What the operator computes: docstring, comments and documentation.", Text()),
        Key(
            "types", "Dtype variables: a group, a dtype, or a list of dtypes. Equal letters are equal.", Named(Dtypes())
        ),
        Key("inputs", "Positional arguments: name -> type, words, default.", _entries("inputs")),
        Key("keywords", "Keyword-only arguments, in the same form.", _entries("keywords")),
        Key("outputs", "Tensors that a call returns, in order.", _entries("outputs")),
        Key("scratch", "Tensors that live as long as the call; sm_count is known here.", _entries("scratch")),
        Key("dims", "Derived sizes, in order: name -> expression.", Named(Expression())),
        Key(
            "checks",
            "Conditions on a call; a failing one raises and prints the values.",
            ListOf(Either((Expression(), CHECK))),
        ),
        Key("values", "Conditions on the elements of an input, such as 0 <= index < m.", ListOf(Expression())),
        Key(
            "launch",
            "How the kernel is launched: one block, a list of which the first that fits is taken, or `custom`.",
            Either((LAUNCH, ListOf(LAUNCH), OneOf(("custom",)))),
        ),
        Key("passes", "Several kernels, launched in order.", ListOf(PASS)),
        _PARALLEL,
        Key("backward", "The operator that computes the gradients.", Name()),
        Key("differentiable", "`false`: outputs never require grad.", Flag()),
        Key("devices", "Devices that have a kernel; both by default.", _DEVICES),
        Key("reference", "Function in tests/references.py; the operator's name by default.", Name()),
        Key(
            "samples",
            "Sizes, scalars and elements for generated tests, or the name of a function in tests/samples.py.",
            Either((Named(ListOf(Expression())), Name())),
        ),
        Key("tolerance", "Relative error that tests allow, by dtype.", Named(Number())),
        Key("flops", "Floating point operations of a call.", Expression()),
        Key("fast_math", "`true`: device code of this operator is compiled with fast-math.", Flag()),
        Key("dynamic", "Sizes known only after the kernel ran: name -> bound, as in k <= m.", Named(Expression())),
        Key("elementwise", "Output -> expression on elements; loops and gradient are generated.", Named(Expression())),
        Key("triton", "A Triton kernel in csrc/<op>.py, compiled when the library is built.", TRITON),
        Key(
            "kernels",
            "Kernels of `launch: custom`: name -> template arguments, with the values that they are compiled for.",
            Named(Named(ListOf(Expression()))),
        ),
        Key("full_cuda", "`true`: csrc/<op>.cu has host code of its own, which launches.", Flag()),
        Key("variants", "Also an in-place and an out form.", _VARIANTS),
        Key("random", "`true`: the body gets a seed drawn from PyTorch's generator.", Flag()),
        Key("tags", "Tags of PyTorch.", ListOf(Name())),
        Key("deterministic", "`false`: results can differ from run to run.", Flag()),
        Key("since", "The version that brought the operator.", Text()),
        Key("deprecated", "Why not to use it any more, and what instead.", Text()),
        Key("requires", "What the device must be, as in arch >= 90.", Expression()),
        Key("autocast", "What autocast does to the inputs.", OneOf(("float32", "lower", "promote"))),
        Key("batch", "Dims along which results are independent.", Either((Name(), ListOf(Name())))),
    ),
)

TOP = Table(
    "spec",
    (
        Key("namespace", "Namespace in torch.ops, Python package and prefix of C names.", Name(), required=True),
        Key("ops", "The operators, by name.", Named(OPERATOR), required=True),
        Key("devices", "Devices of every operator that says nothing itself.", _DEVICES),
    ),
)
