"""From the text of a spec to generated files, by the generator in this process."""

from __future__ import annotations

import contextlib
import importlib
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import sources
from .failure import QuickError

if TYPE_CHECKING:
    from codegen.errors import Diagnostics
    from codegen.lower.c.files import BuildOperator
    from codegen.model import Library, Operator

_MODULES = ("codegen.load", "codegen.errors", "codegen.names", "codegen.check.library", "codegen.check.samples",
            "codegen.bodies", "codegen.lower", "codegen.lower.c.files", "codegen.render")  # fmt: skip
_NEEDED = "jinja2 yaml"

_own: dict[Path, dict[str, Any]] = {}


@dataclass(frozen=True)
class Generated:
    """`files`: by their path below generated/. `bodies`: texts by device and operator. `operators`: what there is to
    compile.
    """

    namespace: str
    files: Mapping[str, bytes]
    bodies: Mapping[str, Mapping[str, str]]
    operators: tuple[BuildOperator, ...]


def generate(text: str, namespace: str | None, bodies: Mapping[str, Mapping[str, str]]) -> Generated:
    """The library of `text`, which is a spec or only its operators; raises QuickError with all that is wrong with it.
    `bodies`: the text of each operator's body, under "cpu" and "cuda", or under the name "" that of the only one. Where
    a spec does not say for which devices an operator is, its bodies do.
    """
    step = _generator(sources.root())
    found = step["codegen.errors"].Diagnostics()
    tree = step["codegen.load"].load(text.encode("utf-8", "surrogatepass"), found)
    tree = _whole(step, tree, namespace, found)
    if tree is not None and not found.failed:
        bodies = {device: _named(step, tree, device, texts) for device, texts in bodies.items()}
    tree = _with_devices(step, tree, bodies)
    checked = step["codegen.check.library"].check(tree, found)
    if checked is not None and not found.failed:
        for op in checked.library.operators:
            _check_bodies(step, op, checked.places[op.name], bodies, found)
        _check_belonging(checked.library, bodies)
    if checked is not None and not found.failed:
        step["codegen.check.samples"].check_samples(checked, found)
    if checked is None or found.failed:
        raise QuickError(f"the spec is wrong\n{found.report('spec', text)}".rstrip())
    if found.count:
        warnings.warn(found.report("spec", text).rstrip(), stacklevel=4)
    return _files(step, checked.library, bodies)


def _files(step: Mapping[str, Any], library: Library, bodies: Mapping[str, Mapping[str, str]]) -> Generated:
    lower = step["codegen.lower"]
    render = step["renderer"].render
    outputs = lower.library_files(library, replaceable=True)
    for op in library.operators:
        outputs += lower.operator_files(library, op)
    wanted = ("c/", "cuda/", f"{library.namespace}/")
    direct = ("c/direct.c", f"{library.namespace}/_C.py", f"{library.namespace}/_C.pyi")  # not built here
    chosen = [one for one in outputs if one.path.startswith(wanted) and one.path not in direct]
    files = {one.path: render(one.template, one.view) for one in chosen}
    return Generated(library.namespace, files, bodies, step["codegen.lower.c.files"].build_view(library).operators)


def _whole(step: Mapping[str, Any], tree: Any, namespace: str | None, found: Diagnostics) -> Any:
    """The tree with `namespace:` and `ops:` around its operators; positions stay those of the text."""
    load, start = step["codegen.load"], step["codegen.errors"].Position(1, 1)
    if not isinstance(tree, load.Mapping) or not tree.entries:
        if not found.failed:
            found.error(start, "expected operators", "square: {inputs: ..., outputs: ...}")
        return None
    if tree.get("ops") is None:
        names = [key for key, _ in tree.entries if key.text not in ("namespace", "devices")]
        others = tuple(entry for entry in tree.entries if entry[0] not in names)
        inner = load.Mapping(tree.position, tuple(entry for entry in tree.entries if entry[0] in names), False)
        tree = load.Mapping(tree.position, (*others, (load.Scalar(tree.position, "ops", False, False), inner)), False)
    ops = tree.get("ops")
    if namespace is None and tree.get("namespace") is None and isinstance(ops, load.Mapping) and ops.entries:
        namespace = f"quick_{ops.entries[0][0].text}"
    if namespace is not None:
        problem = step["codegen.names"].namespace_problem(namespace)
        if problem:
            raise QuickError(f'"{namespace}" cannot be the namespace: {problem}; pass another one')
        key, value = (load.Scalar(start, word, False, False) for word in ("namespace", namespace))
        kept = tuple(entry for entry in tree.entries if entry[0].text != "namespace")
        tree = load.Mapping(tree.position, ((key, value), *kept), False)
    return tree


def _named(step: Mapping[str, Any], tree: Any, device: str, texts: Mapping[str, str]) -> Mapping[str, str]:
    """Texts by operator: a text alone belongs to the only operator that has a body."""
    load, ops = step["codegen.load"], tree.get("ops")
    if "" not in texts or not isinstance(ops, load.Mapping):
        return texts
    names = [key.text for key, node in ops.entries if not isinstance(node, load.Mapping) or not node.get("elementwise")]
    if len(names) == 1:
        return {names[0]: texts[""]}
    if not names:
        raise QuickError(f"{device}: no operator of the spec has a body; leave {device}= out")
    wanted = ", ".join(f'"{name}": ...' for name in names)
    raise QuickError(f"{device}: the spec has several operators with a body: pass {device}={{{wanted}}}")


def _with_devices(step: Mapping[str, Any], tree: Any, bodies: Mapping[str, Mapping[str, str]]) -> Any:
    """Operators with a body for one device are for that device, where the spec does not say otherwise."""
    load = step["codegen.load"]
    if tree is None or tree.get("devices") is not None or not isinstance(tree.get("ops"), load.Mapping):
        return tree
    entries = []
    for key, node in tree.get("ops").entries:
        there = [device for device, texts in bodies.items() if key.text in texts]
        if isinstance(node, load.Mapping) and node.get("devices") is None and len(there) == 1:
            word = load.Sequence(key.position, (load.Scalar(key.position, there[0], False, False),))
            node = load.Mapping(
                node.position, (*node.entries, (load.Scalar(key.position, "devices", False, False), word)), node.flow
            )
        entries.append((key, node))
    inner = load.Mapping(tree.get("ops").position, tuple(entries), False)
    return load.Mapping(
        tree.position, tuple((key, inner if key.text == "ops" else node) for key, node in tree.entries), tree.flow
    )


def _check_bodies(
    step: Mapping[str, Any], op: Operator, place: Any, bodies: Mapping[str, Mapping[str, str]], found: Diagnostics
) -> None:
    for body in step["codegen.bodies"].body_files(op):
        if body.kind not in ("c", "cu"):
            hint = "make a project of it: python -m codegen init"
            what = "a kernel in Triton" if body.kind == "py" else "host code of its own"
            found.error(place, f"{op.name}: {what} is not built from strings", hint)
        elif op.name not in bodies[body.device]:
            hint = f'pass {body.device}={{"{op.name}": ...}}, or say devices: without {body.device}'
            found.error(place, f"{op.name}: there is no {body.device} body", hint)


def _check_belonging(library: Library, bodies: Mapping[str, Mapping[str, str]]) -> None:
    with_bodies = [op.name for op in library.operators if not op.elementwise]
    for device, texts in bodies.items():
        for name in texts:
            if name not in with_bodies:
                known = ", ".join(with_bodies) or "no operator"
                raise QuickError(f'{device}: there is a body for "{name}", and the spec has one for {known}; rename it')


def _generator(root: Path) -> dict[str, Any]:
    """The modules of the generator, by name. Another package of that name in this process is left alone."""
    if root not in _own:
        try:
            for name in _NEEDED.split():
                importlib.import_module(name)
        except ImportError as error:
            raise QuickError(f"the generator is missing {error.name}: pip install 'my_ops[quick]'") from None
        with _instead(root):
            step = {name: importlib.import_module(name) for name in _MODULES}
        _own[root] = step | {"renderer": step["codegen.render"].Renderer(root / "templates")}
    return _own[root]


@contextlib.contextmanager
def _instead(root: Path) -> Iterator[None]:
    """`codegen` is the one in `root` meanwhile. All of it is imported at once, so that nothing asks for it later."""
    there = sys.modules.get("codegen")
    if there is not None and Path(getattr(there, "__file__", None) or "").parent == root / "codegen":
        yield
        return
    others = _take_out()
    sys.path.insert(0, str(root))
    try:
        yield
    finally:
        sys.path.remove(str(root))
        _take_out()
        sys.modules.update(others)


def _take_out() -> dict[str, Any]:
    names = [name for name in sys.modules if name.split(".")[0] == "codegen"]
    return {name: sys.modules.pop(name) for name in names}
