"""The schema for editors accepts every right spec and underlines the usual mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from codegen import keys
from codegen.errors import Diagnostics
from codegen.load import Mapping, Node, Scalar, Sequence, load
from codegen.schema import NAME, schema

ROOT = Path(__file__).parents[2]
SPECS = [
    ROOT / "ops.yaml",
    ROOT / "tests" / "conformance" / "ops.yaml",
    ROOT / "tests" / "specs" / "whole_file.yaml",
    ROOT / "tests" / "wider" / "ops.yaml",
]
VALIDATOR = jsonschema.Draft7Validator(json.loads(schema()))


def as_editors_see_it(node: Node) -> Any:
    """YAML 1.2's core schema: what a language server hands to its JSON Schema validator."""
    if isinstance(node, Mapping):
        return {key.text: as_editors_see_it(value) for key, value in node.entries}
    if isinstance(node, Sequence):
        return [as_editors_see_it(item) for item in node.items]
    assert isinstance(node, Scalar)
    if node.quoted:
        return node.text
    if node.text in ("", "~", "null", "Null", "NULL"):
        return None
    if node.text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return node.text.lower() == "true"
    if re.fullmatch(r"[-+]?[0-9]+", node.text):
        return int(node.text)
    if re.fullmatch(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", node.text):
        return float(node.text)
    return node.text


def problems(text: bytes) -> list[str]:
    """Where the schema finds fault, as paths of keys."""
    diagnostics = Diagnostics()
    tree = load(text, diagnostics)
    assert tree is not None, diagnostics.report("ops.yaml", text.decode())
    return sorted("/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(as_editors_see_it(tree)))


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(json.loads(schema()))


def test_the_file_is_current() -> None:
    assert (ROOT / "codegen" / NAME).read_bytes() == schema()


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: "/".join(path.relative_to(ROOT).parts[-2:]))
def test_right_specs(spec: Path) -> None:
    assert problems(spec.read_bytes()) == []


@pytest.mark.parametrize("spec", SPECS[:2], ids=lambda path: "/".join(path.relative_to(ROOT).parts[-2:]))
def test_specs_name_their_schema(spec: Path) -> None:
    named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", spec.read_text())
    assert named is not None
    assert (spec.parent / named[1]).samefile(ROOT / "codegen" / NAME)


OPERATOR = b"""
namespace: demo
ops:
  f:
    types: {T: floating, I: [int32, int64], W: [T, float32]}
    inputs:
      x: T[*rows, n]
      i: {type: "I[k]", doc: which}
      mode: choice(none, tanh) = none
      sizes: int[2]
    outputs: {y: "acc(T)[*rows]"}
    checks: [n > 0, {that: k > 0, message: empty}, true]
    launch:
      - {when: n < 5, params: {VEC: 4, FAST: true}, grid: [n, 2], block: 256}
      - {grid: 1, block: [32, 4], shared: 64, cluster: 2}
    samples: {n: [1, 7]}
    tolerance: {float32: 1e-6}
    variants: {inplace: {y: x}, out: true}
    fast_math: true
"""


def test_every_form() -> None:
    assert problems(OPERATOR) == []


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        (b"inputs:", b"input:", "ops/f"),
        (b"namespace:", b"name:", ""),
        (b"ops:", b"operators:", ""),
        (b"grid: 1", b"grids: 1", "ops/f/launch"),
        (b"{type:", b"{typ:", "ops/f/inputs/i"),
        (b"doc: which", b"docs: which", "ops/f/inputs/i"),
        (b"that: k", b"if: k", "ops/f/checks/1"),
        (b"float32: 1e-6", b"float32: small", "ops/f/tolerance/float32"),
        (b"fast_math: true", b"fast_math: on", "ops/f/fast_math"),
        (b"T: floating", b"T: floatin", "ops/f/types/T"),
        (b"x: T[*rows, n]", b"x: T", "ops/f/inputs/x"),
        (b"y: \"acc(T)[*rows]\"", b"y: [n]", "ops/f/outputs/y"),
        (b"block: 256", b"shared: 256", "ops/f/launch"),
        (b"inplace: {y: x}", b"in_place: {y: x}", "ops/f/variants"),
        (b"[n > 0, {that", b"n > 0 #", "ops/f/checks"),
        (b"checks:", b"keywords: [1]\n    checks:", "ops/f/keywords"),
    ],
)  # fmt: skip
def test_usual_mistakes(right: bytes, wrong: bytes, place: str) -> None:
    assert right in OPERATOR
    found = problems(OPERATOR.replace(right, wrong, 1))
    assert found, "not noticed"
    assert set(found) == {place}


def test_every_key_explains_itself() -> None:
    """Hover shows these."""
    seen: list[str] = []

    def visit(form: object) -> None:
        match form:
            case keys.Table():
                for key in form.keys:
                    assert key.doc.endswith("."), key.name
                    seen.append(key.name)
                    visit(key.form)
            case keys.Named() | keys.ListOf():
                visit(form.item)
            case keys.Either():
                for one in form.forms:
                    visit(one)

    visit(keys.TOP)
    assert {"namespace", "grid", "that", "kernel", "type"} <= set(seen)
