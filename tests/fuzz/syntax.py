"""Whether generated files are what they are meant to be, whatever the texts of the spec: C that compiles without a
warning, Python that compiles, Markdown of the same structure; and nothing of a text outside comments and literals.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

from markdown_it import MarkdownIt

from codegen.bodies import body_files
from codegen.commands.project import files_of
from codegen.model import Library, Operator

ROOT = Path(__file__).parents[2]
MARKDOWN = MarkdownIt("commonmark").enable("table")
FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only"]
_C_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)


def rendered(library: Library) -> dict[str, str]:
    """Every generated file."""
    return {path: data.decode() for path, data in files_of(library).items()}


def skeleton(path: str, text: str) -> object:
    """A file without its comments and literals."""
    if path.endswith((".c", ".h", ".cu", ".cuh")):
        return " ".join(_C_TEXT.sub(" ", text).split())
    if path.endswith((".py", ".pyi")):
        return ast.dump(_Blank().visit(ast.parse(text)))
    if path.endswith(".md"):
        return [(token.type, [child.type for child in token.children or []]) for token in _tokens(text)]
    return text


def _tokens(text: str) -> list[object]:
    """The structure of a page; paragraphs of a doc are as many as the text has."""
    found = MARKDOWN.parse(text)
    assert not {"html_inline", "image"} & {child.type for token in found for child in token.children or []}
    assert [token.content for token in found if token.type == "html_block"] == [
        "<!-- Written by `make generate` from ops.yaml. -->\n"
    ]
    return [token for token in found if not token.type.startswith("paragraph") and token.type != "inline"]


class _Blank(ast.NodeTransformer):
    """Strings become "", f-strings keep what is filled in."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A long text is written as a sum or a multiple of short ones."""
        self.generic_visit(node)
        literals = isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant)
        return ast.Constant("") if literals and isinstance(node.left, ast.Constant) and node.left.value == "" else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Tuple([self.visit(part) for part in node.values if isinstance(part, ast.FormattedValue)], ast.Load())


def python_compiles(files: dict[str, str]) -> None:
    """Every Python file."""
    for path, text in files.items():
        if path.endswith((".py", ".pyi")):
            compile(text, path, "exec")


def c_compiles(library: Library, files: dict[str, str], folder: Path) -> None:
    """Host functions, and CPU units in their first dtypes, with bodies that do nothing."""
    for path, text in files.items():
        target = folder / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    sources = [str(path) for path in (folder / "generated" / "c").glob("*.c") if not path.name.endswith(".cpu.c")]
    (folder / "csrc").mkdir(exist_ok=True)
    for op in library.operators:
        for body in body_files(op):
            if body.kind == "c":
                bodies = "".join(
                    f"static void {one.kernel}(const {op.name}_args *a, int64_t begin, int64_t end)"
                    " { (void)a; (void)begin; (void)end; }\n"
                    for one in op.passes
                )
                (folder / "csrc" / body.name).write_text(bodies)
                unit = folder / "generated" / "c" / f"{op.name}__unit.c"
                defines = "".join(f"#define {variable}_DTYPE {dtype}\n" for variable, dtype in op.dtype_choices[0])
                unit.write_text(f'{defines}#define CPU_SYMBOL(kernel) kernel##__v2\n#include "{op.name}.cpu.c"\n')
                sources.append(str(unit))
            elif body.kind == "launch.c":
                (folder / "csrc" / body.name).write_text(_launcher(op))
    include = [folder / "generated" / "c", *(ROOT / "csrc" / name for name in ("runtime", "cpu", ""))]
    command = ["gcc", *FLAGS, "-march=x86-64-v2", "-DCPU_HAVE_V2=1", *(f"-I{path}" for path in include), *sources]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


def _launcher(op: Operator) -> str:
    """Launches every kernel."""
    launches = [
        f"launch_{kernel.name}({', '.join(['ctx', 'c', 'cuda_shape(1, 32)', *('1' for _ in kernel.params)])})"
        for kernel in op.custom
    ]
    body = " && ".join(launches)
    return f"static bool {op.name}_launch(const cuda_context *ctx, const {op.name}_call *c) {{ return {body}; }}\n"
