"""What expressions ask about arguments: `size(x, 0)`, `given(w)`, an entry of a list of scalars, a column of an input.

The part of the reader of expressions (parse.py) that looks at what arguments are, and not at what they hold.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from codegen.errors import nearest
from codegen.expr.syntax import Stop, arguments_text, read_bytes, read_index
from codegen.expr.tree import Constant, Expr, Name, NameKind, Query, Type
from codegen.scope import Scope, Subject
from codegen.types import DTYPES

QUERIES = {
    "numel": Type.INT,
    "dim": Type.INT,
    "size": Type.INT,
    "stride": Type.INT,
    "len": Type.INT,
    "given": Type.BOOL,
    "sizeof": Type.INT,
    "aligned": Type.BOOL,
}
# Functions of all elements of an input and their number of arguments, in `values:`.
ELEMENT_FUNCTIONS = {"sum": 1, "offsets": 2}


class Queries:
    """Reads them in one scope; `present` reports the use of an argument that may be absent."""

    def __init__(self, scope: Scope, present: Callable[[ast.Name, Sequence[str]], None]) -> None:
        self.scope = scope
        self.present = present

    def query(self, node: ast.Call, function: str) -> Expr:
        """`numel(x)`, `size(x, 0)`, `given(w)`, `sizeof(T)` and so on."""
        arguments = list(node.args)
        if function == "aligned" and not self.scope.pointers:
            raise Stop(node, "aligned() can be used in launches only")
        if function == "aligned" and len(arguments) == 1:
            return Query(function, "", (read_bytes(arguments[0]),), Type.BOOL)
        count = 2 if function in ("size", "stride", "aligned") else 1
        if len(arguments) != count:
            raise Stop(node, f"{function} takes {arguments_text(count)}, got {len(arguments)}")
        subject = arguments[0]
        if not isinstance(subject, ast.Name):
            raise Stop(subject, f"{function} takes the name of {'a dtype' if function == 'sizeof' else 'an argument'}")
        if function == "sizeof":
            if subject.id not in self.scope.variables and subject.id not in DTYPES:
                known = ", ".join(self.scope.variables)
                raise Stop(
                    subject, f'"{subject.id}" is not a dtype', f"dtype variables here are {known}" if known else ""
                )
            return Query(function, subject.id, (), Type.INT)
        asked = self.subject(subject, function)
        if function == "aligned":
            return Query(function, subject.id, (read_bytes(arguments[1]),), Type.BOOL)
        if function == "numel" and asked.is_list:
            return Query("numel_of_list", subject.id, (), Type.INT)
        operands = (read_index(arguments[1], function, asked),) if count == 2 else ()
        return Query(function, subject.id, operands, QUERIES[function])

    def subject(self, node: ast.Name, function: str) -> Subject:
        """What is known of the argument that a function asks about."""
        subjects = self.scope.subjects
        asked = subjects.get(node.id)
        if asked is None and node.id in self.scope.unread:
            raise Stop(node, "")
        if asked is None:
            if node.id in self.scope.absent:
                raise Stop(node, f'"{node.id}" cannot be used here', self.scope.absent[node.id])
            close = nearest(node.id, subjects)
            hint = f'did you mean "{close}"?' if close else f"{function} may ask about {', '.join(subjects)}"
            raise Stop(node, f'"{node.id}" is not a tensor that is known here', hint if subjects else "")
        if function == "given":
            if not asked.may_be_absent:
                raise Stop(node, f'"{node.id}" is always given', "only optionals and gradients can be missing")
        elif function == "len":
            if not asked.is_list:
                raise Stop(node, f'"{node.id}" is not a list')
        elif not asked.is_tensor or (asked.is_list and function != "numel"):
            raise Stop(node, f'{function} takes a tensor, and "{node.id}" is not one')
        if function not in ("given", "aligned") and asked.may_be_absent:  # what is absent is aligned
            self.present(node, (node.id,))
        return asked

    def is_list_of_scalars(self, node: ast.Name) -> bool:
        """Whether a name is that of an argument such as float[2]."""
        asked = self.scope.subjects.get(node.id)
        return asked is not None and asked.is_list and not asked.is_tensor

    def entry(self, node: ast.Subscript, listed: ast.Name) -> Query:
        """`betas[0]`, of a list whose length is stated."""
        asked, index = self.scope.subjects[listed.id], node.slice
        if not asked.entries:
            raise Stop(node, f'the length of "{listed.id}" is not known here', "state it in its type, as in float[2]")
        if not isinstance(index, ast.Constant) or type(index.value) is not int or index.value >= len(asked.entries):
            last = len(asked.entries) - 1
            raise Stop(node, f"this is no entry of {listed.id}", f"entries are {listed.id}[0] to {listed.id}[{last}]")
        if asked.may_be_absent:
            raise Stop(node, "an entry of a list that may be absent is not supported yet")
        return Query("entry", listed.id, (Constant(index.value, Type.INT),), asked.entries[index.value])

    # ---------------------------------------------------------------- elements, in `values:`

    def of_elements(self, node: ast.Call, function: str, integer: Callable[[ast.expr], Expr]) -> Expr:
        """`sum(x)`, `sum(x[:, 0])` or `offsets(x, total)`; `integer` reads a number."""
        count = ELEMENT_FUNCTIONS[function]
        if node.keywords or len(node.args) != count:
            raise Stop(node, f"{function} takes {arguments_text(count)}, got {len(node.args)}")
        summed = node.args[0]
        of = self.column(summed) if isinstance(summed, ast.Subscript) else self.element(summed, function)
        column = of.operands if isinstance(of, Query) else ()
        name = of.subject if isinstance(of, Query) else of.name
        if function == "sum":
            return Query(function, name, column, of.type)
        if of.type is not Type.INT:
            raise Stop(summed, "offsets are integers")
        return Query(function, name, (integer(node.args[1]), *column), Type.BOOL)

    def element(self, node: ast.expr, function: str) -> Name:
        """The elements of an input."""
        if not isinstance(node, ast.Name):
            raise Stop(node, f"{function} takes an input or a column of one")
        found = self.scope.names.get(node.id)
        if found is None or found.kind is not NameKind.ELEMENT:
            raise Stop(node, f'"{node.id}" is not a tensor that is known here')
        return found

    def column(self, node: ast.Subscript) -> Query:
        """`boxes[:, 0]`: one index in the last dim of an input, all others open; `[..., 0]` where there is a star."""
        element = self.element(node.value, "[:, 0]")
        asked = self.scope.subjects[element.name]
        *front, last = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        star = [isinstance(part, ast.Constant) and part.value is ... for part in front] == [True]
        open_ = all(isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step) for part in front)
        index = last.value if isinstance(last, ast.Constant) else None
        wanted = "..., 0" if asked.star else ", ".join([*[":"] * (asked.front - 1), "0"])
        fits = star if asked.star else open_ and len(front) == asked.front - 1
        if not fits or not front or (asked.star and asked.back == 0) or type(index) is not int:
            several = asked.back > 0 if asked.star else asked.front > 1
            hint = f"a column of {element.name} is written {element.name}[{wanted}]" if several else "it has none"
            raise Stop(node, f"this is not a column of {element.name}", hint)
        written = f"[{'..., ' if asked.star else ':, ' * len(front)}{index}]"
        return Query("column", element.name, (Constant(index, Type.INT), Constant(written, Type.STR)), element.type)
