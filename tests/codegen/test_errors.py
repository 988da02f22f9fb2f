"""How problems are printed."""

from __future__ import annotations

from codegen.errors import MAX_SHOWN, Diagnostics, Position, nearest, one_of, shown


def test_report_is_sorted_and_has_carets() -> None:
    diagnostics = Diagnostics()
    diagnostics.error(Position(2, 5), "second", "do this")
    diagnostics.error(Position(1, 3), "first")
    diagnostics.error(Position(1, 3), "first")
    diagnostics.warning(Position(3, 1), "third")
    assert diagnostics.failed
    assert (diagnostics.errors, diagnostics.count) == (2, 3)
    assert diagnostics.report("a/ops.yaml", "  abc\n    d: e\nf\n") == (
        "a/ops.yaml:1:3: error: first\n    abc\n    ^\n"
        "a/ops.yaml:2:5: error: second\n    d: e\n    ^\nhint: do this\n"
        "a/ops.yaml:3:1: warning: third\n    f\n    ^\n"
    )


def test_warnings_alone_are_no_failure() -> None:
    diagnostics = Diagnostics()
    diagnostics.warning(Position(1, 1), "odd")
    assert not diagnostics.failed


def test_odd_lines() -> None:
    diagnostics = Diagnostics()
    diagnostics.error(Position(1, 901), "far")
    diagnostics.error(Position(2, 2), "control")
    diagnostics.error(Position(3, 1), "empty")
    diagnostics.error(Position(99, 1), "no such line")
    report = diagnostics.report("ops.yaml", "x" * 900 + "y" + "x" * 900 + "\na\x1bb\n\n")
    lines = report.split("\n")
    assert lines[1].index("y") == lines[2].index("^")
    assert max(map(len, lines)) < 170
    assert lines[4] == "    a?b"
    assert lines[6:] == ["ops.yaml:3:1: error: empty", "ops.yaml:99:1: error: no such line", ""]


def test_many_are_cut() -> None:
    diagnostics = Diagnostics()
    for line in range(MAX_SHOWN + 5):
        diagnostics.error(Position(line + 1, 1), "bad")
    assert diagnostics.report("ops.yaml", "").endswith("ops.yaml: 5 more problems are not shown\n")


def test_words() -> None:
    assert nearest("floatin", ["floating", "integral"]) == "floating"
    assert nearest("xyz", ["floating"]) == ""
    assert one_of(["a"]) == "a"
    assert one_of(["a", "b", "c"]) == "a, b or c"
    assert shown("a\n  b" + "c" * 100) == "a b" + "c" * 54 + "..."
