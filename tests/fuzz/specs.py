"""Where random specs come from."""

from __future__ import annotations

import random
import re
from pathlib import Path

from codegen import names
from codegen.parse_type import SCALAR_KINDS

ROOT = Path(__file__).parents[2]


def _operators(text: str) -> list[bytes]:
    """A file cut into specs of one operator, with its backward."""
    head, body = text.split("\nops:\n", 1)
    blocks = re.split(r"^(?=  [a-z]\w*:\n)", body, flags=re.MULTILINE)
    named = {block.split(":")[0].strip(): block for block in blocks if re.match(r"  [a-z]\w*:\n", block)}
    return [f"{head}\nops:\n{block}{named.get(name + '_backward', '')}".encode() for name, block in named.items()]


SOURCES: list[bytes] = [
    *(
        operator
        for path in ("ops.yaml", "tests/conformance/ops.yaml", "tests/specs/whole_file.yaml")
        for operator in _operators((ROOT / path).read_text())
    ),
    (ROOT / "tests" / "specs" / "whole_file.yaml").read_bytes(),
    *(path.read_bytes() for path in sorted((ROOT / "tests" / "errors").glob("*.yaml"))),
]
PIECES = [
    b"", b" ", b"\n", b"  ", b": ", b"- ", b"[", b"]", b"{", b"}", b"*", b"&a ", b"*a", b"!t ", b"'", b'"', b"#",
    b"?", b"!", b"= ",
    b",", b"(", b")", b"T", b"n", b"rows", b"0", b"-1", b"9" * 30, b"1e999", b"// 0", b" ** 99", b"None", b"\t",
    b"\xff", b"\x00",
    b"\xe2\x80\xae", b"\xc3\xa9", b"|\n", b">\n", b"---\n", b"%YAML 1.2\n", b"<<: ", b"given(", b"sizeof(",
    b"if ", b"else ", b" and ",
    b"acc(", b"saved", b"no_grad", b"? ", b"sm_count", b"grad_", b"\r\n", b"\\", b"`", b"$", b"T[n]? = None",
    b"choice(a, b)", b"strided", b"expand", b"cpu", b"int[]", b"*broadcast(a, b)", b"offsets(", b"-9223372036854775808",
]  # fmt: skip

# Texts that would be code in one of the languages that are generated.
HOSTILE = [
    "*/ int x; /*",
    '"; system("true"); "',
    '""" + str(1) + """',
    "''' + str(1) + '''",
    "{x} {0} {{y}} %s %n %%",
    "??/ ??' \\",
    "\\\\",
    "\\n\\x41\\101",
    "${HOME} $ENV{HOME} ]] ]=] [[",
    "#define x y",
    "<script>alert(1)</script> <b>",
    "![x](http://e.com) [a](b) | c || d",
    "``` `a` ~~~ # x",
    "- a\n- b\n\n1. c\n\n> d\n\n    e",
    "---\n===",
    "{{ 7 * 7 }} {% for x in y %}",
    "// \\",
    "é 中 \u00a0",
    "<!-- -->",
    "a" * 300,
]
# Names that mean something somewhere.
_NAMES = """
a c d e f i m n t x y z T U args begin end call cpu self cls torch error stack shape Tensor data name size len range
type id list print overflow plans module kernels main int8 float32 ok scope frame record scalar_t acc_t load store math
time sum out grad_x grad_y y_backward backward rows index dtype device bool numel dim stride count kernel grid block
launch check rules Check Any annotations f_args f_call seed mask std half bits where saved true True null unsigned
"""
NAMES = _NAMES.split()
USABLE = [name for name in NAMES if not names.problem(name) and name not in SCALAR_KINDS]
OPERATORS = [name for name in USABLE if not names.operator_problem(name)]


_TOKEN = re.compile(rb"[A-Za-z_]\w*|\d+|[*?!<>=+/%-]+")
TOKENS = sorted({token for data in SOURCES for token in _TOKEN.findall(data)})


def changed(data: bytes, source: random.Random) -> bytes:
    """A spec that is nearly one: half of them with other words in their places, so that the YAML stays right."""
    return reworded(data, source) if source.random() < 0.5 else mutated(data, source)


def reworded(data: bytes, source: random.Random) -> bytes:
    """A few words, numbers or operators replaced by others."""
    for _ in range(source.randint(1, 3)):
        places = list(_TOKEN.finditer(data))
        if places:
            place = source.choice(places)
            data = data[: place.start()] + source.choice(TOKENS) + data[place.end() :]
    return data


def mutated(data: bytes, source: random.Random) -> bytes:
    """A few cuts, copies and insertions."""
    result = bytearray(data)
    for _ in range(source.randint(1, 4)):
        at = source.randint(0, len(result))
        match source.randint(0, 3):
            case 0:
                result[at : at + source.randint(0, 12)] = source.choice(PIECES)
            case 1:
                other = source.choice(SOURCES)
                start = source.randint(0, len(other))
                result[at:at] = other[start : start + source.randint(1, 60)]
            case 2:
                del result[at : at + source.randint(1, 40)]
            case 3:
                lines = result.split(b"\n")
                line = source.randrange(len(lines))
                lines.insert(source.randrange(len(lines)), lines[line])
                result = bytearray(b"\n".join(lines))
    return bytes(result)


def quoted(text: str) -> str:
    """A YAML scalar that is exactly `text`."""
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


class Grammar:
    """Makes up a spec; most are right. The same source gives the same spec, but for the free texts."""

    def __init__(self, source: random.Random, text: str) -> None:
        self.source = source
        self.text = quoted(text)
        inside = re.sub(r"[^ !#-;=-\[\]-~]", "", text)[:200]
        self.default = quoted(f'str = "x{inside}"')

    def spec(self) -> str:
        """A file."""
        chosen = self.source.sample(OPERATORS, self.source.randint(1, 2))
        if self.source.random() < 0.05:
            chosen = [self.source.choice(NAMES)]
        operators = "".join(
            self.lines_about_lists(name) if self.source.random() < 0.2 else self.operator(name) for name in chosen
        )
        return f"namespace: {self.source.choice(['demo', 'my_ops', 'ops_x'])}\nops:\n{operators}"

    def operator(self, name: str) -> str:
        """One operator; any other name stands for anything."""
        pick = self.source
        given = pick.sample(USABLE if pick.random() < 0.95 else NAMES, 17)
        variables, dims, inputs, rest = given[:2], given[2:5], given[5:8], given[8:]
        shapes = ["*{}, {}, {}".format(*dims), *(self.shape(dims) for _ in inputs[1:])]
        lines = [f"  {name}:", f"    doc: {self.text}"]
        lines += [f"    types: {{{variables[0]}: floating, {variables[1]}: [int32, int64]}}", "    inputs:"]
        for i, (argument, shape) in enumerate(zip(inputs, shapes, strict=True)):
            mark = pick.choice(["", "", "", " strided", " contiguous", " rows", "?" if i > 0 else ""])
            dtype = pick.choice([*variables, "float32", f"acc({variables[0]})"]) if i > 0 else variables[0]
            lines.append(f"      {argument}: {{type: {quoted(f'{dtype}[{shape}]{mark}')}, doc: {self.text}}}")
        lists = pick.random() < 0.3
        if lists:
            mark = pick.choice(["[]", "[] strided", "?[]", "[]?"])
            lines.append(f"      {rest[6]}: {quoted(f'{variables[0]}[*{rest[7]}, {dims[1]}]{mark}')}")
        kinds = ["int = 3", "float = 1e-6", "bool = True", "size = 2", "float? = None", "choice(aa, bb) = aa"]
        lines += ["    keywords:", f"      {rest[0]}: {quoted(pick.choice(kinds))}", f"      {rest[1]}: {self.default}"]
        out = pick.choice([*variables, f"acc({variables[0]})"])
        lines += ["    outputs:", f"      {rest[2]}: {{type: {quoted(f'{out}[{shapes[0]}]')}, doc: {self.text}}}"]
        if lists and mark in ("[]", "[] strided"):
            lines.append(f"      {rest[8]}: {quoted(f'{out}[*{rest[7]}, 2][]')}")
        lines += ["    dims:", f"      {rest[3]}: {self.size(dims, inputs)}"]
        lines += ["    checks:", f"      - {{that: {quoted(self.condition(dims))}, message: {self.text}}}"]
        lines += [f"      - {self.condition(dims)}", f"    parallel: {self.size(dims, inputs)}"]
        if pick.random() < 0.5:
            lines.append("    devices: [cpu]")
        elif pick.random() < 0.2:
            lines += [
                "    launch: custom",
                "    kernels:",
                f"      {rest[5]}: {{{rest[4]}: [1, 16 // sizeof({variables[0]})]}}",
            ]
        elif pick.random() < 0.2:
            lines.append("    full_cuda: true")
        else:
            lines += ["    launch:", f"      params: {{{rest[4]}: 16 // sizeof({variables[0]})}}"]
            lines += [f"      grid: {self.size(dims, inputs)}", "      block: 256"]
        if pick.random() < 0.5:
            lines.append("    differentiable: false")
        return "\n".join(lines) + "\n"

    def lines_about_lists(self, name: str) -> str:
        """An element-wise operator whose operands are lists of tensors, but for one."""
        pick = self.source
        a, b, c, out, variable, star, dim = pick.sample(USABLE if pick.random() < 0.95 else NAMES, 7)
        mark = pick.choice(["[]", "[] expand", "[]!" if pick.random() < 0.3 else "[] strided"])
        other = pick.choice([f"[{dim}][]", f"[*{star}, {dim}]{mark}", f"[*{star}, {dim}][]"])
        beside = pick.choice(["[]", "[] no_grad", "[1] no_grad"])
        line = pick.choice([f"{a} * {b} + {c}", f"exp({a}) / {dim} if {b} > 0 else {c}", f"min({a}, {b} * {c})"])
        shape = f"[*{star}, {dim}][]"
        lines = [f"  {name}:", f"    doc: {self.text}", f"    types: {{{variable}: floating}}", "    inputs:"]
        lines += [f"      {a}: {quoted(variable + shape)}", f"      {b}: {quoted(variable + other)}"]
        lines += [f"      {c}: {quoted(variable + beside)}"]
        written = other.endswith("!")
        lines += [] if written else ["    outputs:", f"      {out}: {quoted(variable + shape)}"]
        lines += ["    elementwise:", f"      {b if written else out}: {line}"]
        lines += ["    devices: [cpu]"] if pick.random() < 0.3 else []
        return "\n".join(lines) + "\n"

    def shape(self, dims: list[str]) -> str:
        """The shape of an input."""
        form = self.source.choice(["*{0}, {1}", "{1}", "{1}, {2}", "{1}, {1}", "*{0}", "*{0}, {1}, 2 * {1}"])
        return form.format(*dims)

    def size(self, dims: list[str], inputs: list[str]) -> str:
        """A number."""
        forms = [
            "{1}",
            "{1} * 2 + 1",
            "ceil_div({1}, 32)",
            "min({1}, 7) // 2",
            "max(1, {1})",
            "numel({3})",
            "{0} + {2}",
        ]
        return self.source.choice(forms).format(*dims, inputs[0])

    def condition(self, dims: list[str]) -> str:
        """A condition."""
        forms = [
            "{1} > 0",
            "0 <= {1} < 1000000",
            "{1} % 2 == 0 or {1} in [1, 3]",
            "not {1} == 5",
            "{2} ** 2 > {0} // 2",
        ]
        return self.source.choice(forms).format(*dims)
