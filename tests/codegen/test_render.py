"""Templates hold layout only, and a missing field is an error."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from jinja2 import Environment, UndefinedError, nodes
from jinja2.exceptions import SecurityError

from codegen.render import Renderer, _Compiled

TEMPLATES = Path(__file__).parents[2] / "templates"
MAX_LINES = 140  # "about 120"


def is_field(node: nodes.Node) -> bool:
    """`name`, or `name.field.field`."""
    while isinstance(node, nodes.Getattr):
        node = node.node
    return isinstance(node, nodes.Name)


def violations(node: nodes.Node) -> list[str]:
    """What a template does beside layout."""
    found: list[str] = []
    match node:
        case nodes.Template():
            pass
        case nodes.Output():
            for part in node.nodes:
                if not isinstance(part, nodes.TemplateData) and not is_field(part):
                    found.append(f"line {part.lineno}: {type(part).__name__} in an output")
            return found
        case nodes.For():
            if (
                not isinstance(node.target, nodes.Name)
                or not is_field(node.iter)
                or node.test
                or node.else_
                or node.recursive
            ):
                found.append(f"line {node.lineno}: a for that is not `for item in field`")
        case nodes.If():
            test = node.test.node if isinstance(node.test, nodes.Not) else node.test
            if not is_field(test):
                found.append(f"line {node.lineno}: an if that is not `if flag`")
        case nodes.Include():
            if not isinstance(node.template, nodes.Const) or node.ignore_missing:
                found.append(f"line {node.lineno}: an include of something that is not a name")
            return found
        case _:
            return [f"line {node.lineno}: {type(node).__name__}"]
    if isinstance(node, nodes.Template | nodes.For | nodes.If):
        for child in node.body:
            found += violations(child)
    if isinstance(node, nodes.If):
        for child in (*node.elif_, *node.else_):
            found += violations(child)
    return found


def parsed(text: str) -> nodes.Template:
    return Environment(trim_blocks=True, lstrip_blocks=True).parse(text)


@pytest.mark.parametrize("template", sorted(TEMPLATES.rglob("*.j2")), ids=lambda path: path.name)
def test_templates_hold_layout_only(template: Path) -> None:
    text = template.read_text()
    assert violations(parsed(text)) == []
    assert len(text.splitlines()) <= MAX_LINES


@pytest.mark.parametrize(
    "text",
    [
        "{{ a }} {{ a.b.c }}", "{% for x in a.b %}{{ x }}{% endfor %}",
        "{% if a %}{% elif not a.b %}{% else %}{% endif %}",
        "{% include 'x.j2' %}", "{# a comment #}", "{% for x in a %}{% if not loop.last %},{% endif %}{% endfor %}",
    ],
)  # fmt: skip
def test_the_walker_allows(text: str) -> None:
    assert violations(parsed(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "{{ a + 1 }}", "{{ a() }}", "{{ a|upper }}", "{{ a[0] }}", "{{ 'x' }}", "{{ a if b }}", "{% set x = 1 %}",
        "{% macro m() %}{% endmacro %}",
        "{% if a == 1 %}{% endif %}", "{% if a and b %}{% endif %}", "{% for x in a|sort %}{% endfor %}",
        "{% for x in a if x %}{% endfor %}",
        "{% for x in a %}{% else %}x{% endfor %}", "{% for x, y in a %}{% endfor %}", "{% include a %}",
        "{% call a() %}{% endcall %}",
        "{% filter upper %}{% endfilter %}", "{% extends 'x' %}", "{% block a %}{% endblock %}",
        "{% import 'a' as b %}", "{% raw %}{% endraw %}{{ a ~ b }}",
        "{% if a %}{% elif a > 1 %}{% endif %}", "{% if a %}{% else %}{{ a() }}{% endif %}",
    ],
)  # fmt: skip
def test_the_walker_refuses(text: str) -> None:
    assert violations(parsed(text))


@dataclass(frozen=True)
class Inner:
    name: str


@dataclass(frozen=True)
class View:
    items: tuple[Inner, ...]
    flag: bool
    text: str


def test_render(tmp_path: Path) -> None:
    (tmp_path / "a.j2").write_text(
        "{% if flag %}\n  {% for item in items %}\n{{ item.name }},\n  {% endfor %}\n{% endif %}\n{{ text }}\n"
    )
    rendered = Renderer(tmp_path).render("a.j2", View((Inner("x"), Inner("y")), True, "<&> {{ text }} é"))
    assert rendered == "x,\ny,\n<&> {{ text }} é\n".encode()


@pytest.mark.parametrize(
    "text", ["{{ missing }}", "{{ text.missing }}", "{% if missing %}{% endif %}", "{% for x in missing %}{% endfor %}"]
)
def test_a_missing_field_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.j2").write_text(text)
    with pytest.raises(UndefinedError):
        Renderer(tmp_path).render("a.j2", View((), False, ""))


@pytest.mark.parametrize("text", ["{{ text.__class__ }}", "{{ text.upper() }}", "{{ items.count(1) }}"])
def test_nothing_private_and_no_calls(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.j2").write_text(text)
    with pytest.raises((SecurityError, UndefinedError)):
        Renderer(tmp_path).render("a.j2", View((), False, ""))


def in_pycache(folder: Path) -> Path:
    (found,) = (folder / "__pycache__").iterdir()
    return found


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a template that has been rendered, and so compiled."""
    monkeypatch.setattr("sys.pycache_prefix", None)
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    (tmp_path / "a.j2").write_text("{{ text }}")
    assert Renderer(tmp_path).render("a.j2", View((), False, "x")) == b"x"
    return tmp_path


def test_templates_are_compiled_once(compiled: Path) -> None:
    again = Renderer(compiled)
    again.environment.compile = None  # type: ignore[assignment]
    assert again.render("a.j2", View((), False, "y")) == b"y"


def test_a_changed_template_is_compiled_again(compiled: Path) -> None:
    before = (compiled / "a.j2").stat()
    (compiled / "a.j2").write_text("{{ flag }}")
    os.utime(compiled / "a.j2", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert Renderer(compiled).render("a.j2", View((), False, "y")) == b"False"


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-9], lambda data: b"\xff" + data])
def test_damaged_bytecode_is_made_again(compiled: Path, damage: Callable[[bytes], bytes]) -> None:
    whole = in_pycache(compiled).read_bytes()
    in_pycache(compiled).write_bytes(damage(whole))
    assert Renderer(compiled).render("a.j2", View((), False, "y")) == b"y"
    assert in_pycache(compiled).read_bytes() == whole


def test_no_bytecode_is_written_where_python_writes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    (tmp_path / "a.j2").write_text("{{ text }}")
    assert Renderer(tmp_path).render("a.j2", View((), False, "x")) == b"x"
    assert [path.name for path in tmp_path.iterdir()] == ["a.j2"]


def test_bytecode_belongs_to_a_text_and_a_compiler() -> None:
    one, other = _Compiled(), _Compiled()
    assert one.get_source_checksum("a") == hashlib.sha256(f"{one.made_by}\na".encode()).hexdigest()
    other.made_by += " of another day"
    sums = {cache.get_source_checksum(text) for cache in (one, other) for text in ("a", "b")}
    assert len(sums) == 4
