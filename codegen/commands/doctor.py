"""doctor: what is missing or does not fit on this machine, and the command that mends it, a line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from codegen.commands.report import Report
from codegen.doctor import cuda, library, tools
from codegen.doctor.fact import Fact, problem


def run(spec_path: str, report: Report) -> int:
    """The exit code: 1 when a problem stops a build."""
    facts = examine(Path(spec_path))
    if report.as_json:
        report.answer = [asdict(fact) for fact in facts]
    else:
        width = max(len(fact.name) for fact in facts)
        for fact in facts:
            mend = f"; {fact.mend}" if fact.mend else ""
            print(f"{'ok' if fact.ok else 'problem':7}  {fact.name:{width}}  {fact.text}{mend}")
    return 1 if any(fact.stops_build for fact in facts) else 0


def examine(spec: Path) -> list[Fact]:
    """Everything, whatever goes wrong with one part."""
    root = spec.absolute().parent
    facts = [
        *_part("python", lambda: [library.python()]),
        *_part("spec", lambda: [library.generated(root, spec)]),
        *_part("compiler", lambda: [tools.compiler()]),
        *_part("cmake", lambda: [tools.cmake()]),
        *_part("ninja", lambda: [tools.ninja()]),
    ]
    namespace = library.namespace_of(root, spec)
    prefix = namespace.upper() or "<NAMESPACE>"
    facts += _part("nvcc", lambda: cuda.facts(prefix, library.architectures(root, namespace)))
    facts += _part("triton", lambda: cuda.triton(root))
    torch = _part("torch", lambda: [library.torch()])
    facts += torch
    if namespace:
        can_load = all(fact.ok for fact in torch)
        facts += _part("library", lambda: [library.library(root, namespace, can_load)])
        facts += _part("namespace", lambda: [library.registered(root, namespace)])
    return facts


def _part(name: str, look: Callable[[], list[Fact]]) -> list[Fact]:
    try:
        return look()
    except Exception as error:  # a machine may be broken in any way, and the other lines are worth having
        return [problem(name, f"cannot be looked at: {type(error).__name__}: {error}".replace("\n", " "), "")]
