"""Bodies that are missing, and files that belong to nothing."""

from __future__ import annotations

from pathlib import Path

from codegen.bodies import check_bodies, check_modules
from codegen.check.library import check
from codegen.errors import Diagnostics
from codegen.load import load

SPEC = b"""
namespace: demo
ops:
  f:
    types: {T: floating}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
    launch: {grid: n, block: 32}
  l:
    inputs: {x: "float32[n]"}
    outputs: {y: "float32[n]"}
    launch: custom
    kernels: {k: {}}
  h:
    devices: [cpu]
    inputs: {x: "float32[n]"}
    outputs: {y: "float32[n]"}
    launch: custom
    kernels: {m: {}}
  g:
    devices: [cpu]
    types: {T: floating}
    inputs: {x: "T[n]"}
    outputs: {y: "T[n]"}
  scale:
    devices: [cpu]
    inputs: {x: "float32[n]"}
    outputs: {y: "float32[n]"}
  lost:
    devices: [cpu]
    inputs: {x: "float32[n]"}
    outputs: {y: "float32[n]"}
"""


def test_bodies(tmp_path: Path) -> None:
    folder = tmp_path / "csrc"
    folder.mkdir()
    for name in ("f.cu", "g.cu", "old.c", "helper.h", "l.c", "l.cu", "h.c", "h.launch.c", "sclae.c", "lost.cu"):
        (folder / name).touch()
    (folder / "lost.c").symlink_to("nowhere")
    diagnostics = Diagnostics()
    checked = check(load(SPEC, diagnostics), diagnostics)
    assert checked is not None
    check_bodies(checked, folder, diagnostics)
    assert [(found.severity, found.position.line, found.text, found.hint) for found in diagnostics.sorted()] == [
        ("warning", 1, "csrc/g.cu belongs to no operator", ""),
        ("warning", 1, "csrc/h.launch.c belongs to no operator", ""),
        ("warning", 1, "csrc/lost.cu belongs to no operator", ""),
        ("warning", 1, "csrc/old.c belongs to no operator", ""),
        ("warning", 1, "csrc/sclae.c belongs to no operator", ""),
        ("error", 4, "f: the cpu body csrc/f.c is missing", "write csrc/f.c, or say devices: [cuda]"),
        ("error", 9, "l: the launcher csrc/l.launch.c is missing", "write csrc/l.launch.c, or say devices: [cpu]"),
        ("error", 20, "g: the cpu body csrc/g.c is missing", "write csrc/g.c"),
        ("error", 25, "scale: the cpu body csrc/scale.c is missing", "rename csrc/sclae.c to it"),
        ("error", 29, "lost: the cpu body csrc/lost.c is missing", "write csrc/lost.c"),
    ]


def test_modules(tmp_path: Path) -> None:
    """`import demo.scale` would put the module where the function was."""
    (tmp_path / "python" / "scale").mkdir(parents=True)
    (tmp_path / "python" / "g").touch()
    diagnostics = Diagnostics()
    checked = check(load(SPEC, diagnostics), diagnostics)
    assert checked is not None
    check_modules(checked, tmp_path / "python", diagnostics)
    assert [(found.position.line, found.text, found.hint) for found in diagnostics.sorted()] == [
        (25, "scale: python/scale is a module of that name", "give one of the two another name")
    ]
