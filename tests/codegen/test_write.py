"""Files are written whole or not at all, unchanged ones stay, orphans go."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codegen.write import SUMS, Tree, Written, difference, write

ROOT = Path(__file__).parents[2]
SPEC = b"namespace: demo\n"
FILES = {"c/f.c": b"int f;\n", "my_ops/ops/f.py": b"f = 1\n", "ops.cmake": b"# f\n"}


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "ops.yaml").write_bytes(SPEC)
    return Tree(tmp_path, tmp_path / "generated", tmp_path / "ops.yaml")


def contents(tree: Tree) -> dict[str, bytes]:
    return {
        path.relative_to(tree.output).as_posix(): path.read_bytes()
        for path in tree.output.rglob("*")
        if path.is_file() and path.name != SUMS
    }


def test_first_run(tree: Tree) -> None:
    assert write(tree, FILES, SPEC) == Written(4, 0, 0)
    assert contents(tree) == FILES
    sums = (tree.output / SUMS).read_text()
    assert [line.split("  ")[1] for line in sums.splitlines()] == [
        *("generated/c/f.c", "generated/my_ops/ops/f.py", "generated/ops.cmake", "ops.yaml")
    ]
    subprocess.run(["sha256sum", "-c", "--quiet", f"generated/{SUMS}"], cwd=tree.root, check=True)
    assert not tree.staging.exists()


def test_unchanged_files_keep_their_time(tree: Tree) -> None:
    write(tree, FILES, SPEC)
    for path in tree.output.rglob("*"):
        os.utime(path, (1, 1))
    assert write(tree, FILES, SPEC) == Written(0, 0, 4)
    assert all(path.stat().st_mtime == 1 for path in tree.output.rglob("*"))
    assert write(tree, {**FILES, "c/f.c": b"int g;\n"}, SPEC) == Written(2, 0, 2)
    changed = {path.name for path in tree.output.rglob("*") if path.is_file() and path.stat().st_mtime != 1}
    assert changed == {"f.c", SUMS}


def test_orphans_go_and_other_files_stay(tree: Tree) -> None:
    write(tree, FILES, SPEC)
    (tree.output / "my_ops" / "my_ops.so").write_bytes(b"elf")
    assert write(tree, {"ops.cmake": b"# none\n"}, SPEC) == Written(2, 2, 0)
    assert contents(tree) == {"ops.cmake": b"# none\n", "my_ops/my_ops.so": b"elf"}
    assert not (tree.output / "c").exists()
    assert (tree.output / "my_ops").is_dir()


def test_a_damaged_list_removes_nothing_else(tree: Tree) -> None:
    write(tree, FILES, SPEC)
    precious = tree.root / "precious"
    precious.write_text("keep")
    lines = [
        "0" * 64 + f"  {path}\n" for path in ("precious", "generated/../precious", "/etc/hostname", "generated/", "x")
    ]
    (tree.output / SUMS).write_text("".join(lines) + "garbage\n\n")
    write(tree, FILES, SPEC)
    assert precious.exists()
    assert (tree.root / "ops.yaml").exists()
    assert contents(tree) == FILES


def test_nothing_changes_when_writing_fails(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tree, FILES, SPEC)
    before = contents(tree), (tree.output / SUMS).read_bytes()

    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space"):
            write(tree, {"c/f.c": b"new"}, b"other")
    assert (contents(tree), (tree.output / SUMS).read_bytes()) == before
    assert not tree.staging.exists()


def test_nothing_changes_when_a_folder_is_in_the_way(tree: Tree) -> None:
    write(tree, FILES, SPEC)
    (tree.output / "c" / "z.c").mkdir()
    with pytest.raises(IsADirectoryError):
        write(tree, {"c/a.c": b"new", "c/z.c": b"new"}, SPEC)
    assert contents(tree) == FILES


@pytest.mark.parametrize("moves", [0, 1, 2, 3])
def test_the_run_after_a_killed_one_makes_the_tree_whole(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    """Killed while files move: what was added and what was to go are both taken care of, also with yet another spec."""
    write(tree, FILES, SPEC)
    replace, left = os.replace, [moves]

    def killed(source: Path, target: Path) -> None:
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            write(tree, {"c/new.c": b"1", "c/more.c": b"2", "ops.cmake": b"# new\n"}, b"second")
    third = {"c/f.c": b"int f;\n"}
    write(tree, third, b"third")
    assert contents(tree) == third
    assert difference(tree, third, b"third") == ""
    assert not tree.staging.exists()


def whole(tree: Tree) -> bool:
    """What a build asks: whether every file, and the spec, is as SHA256SUMS has it."""
    command = ["sha256sum", "-c", "--status", f"generated/{SUMS}"]
    return subprocess.run(command, cwd=tree.root, check=False, stderr=subprocess.DEVNULL).returncode == 0


def _turns(root: Path, number: int) -> None:
    """Writes one of two trees after the other, until it is killed."""
    tree = Tree(root, root / "generated", root / "ops.yaml", {"docs/": root / "docs"})
    while True:
        number = 1 - number
        tree.spec.write_bytes(b"%d" % number)
        write(tree, versions()[number], b"%d" % number)


def versions() -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Two trees: some files in both, some in one."""
    both = [{f"c/{i}.c": b"%d\n" % number * 500 for i in range(20)} for number in range(2)]
    return both[0] | {"old/a": b"", "docs/a.md": b"a"}, both[1] | {"new/b": b"", "docs/b.md": b"b"}


@pytest.mark.parametrize("moments", range(10))
def test_killed_at_any_moment(tree: Tree, moments: int) -> None:
    """A hundred times: the tree is the old one, the new one, or one that builds refuse; and the next run mends it."""
    context, source = multiprocessing.get_context("fork"), random.Random(moments)
    for _ in range(10):
        worker = context.Process(target=_turns, args=(tree.root, moments % 2))
        worker.start()
        time.sleep(0.002 + source.random() * 0.05)
        worker.kill()
        worker.join()
        found = contents(tree) if tree.output.exists() else {}
        docs = {f"docs/{path.name}": path.read_bytes() for path in (tree.root / "docs").glob("*")}
        if whole(tree):
            assert found | docs in versions()
        number = source.randrange(2)
        mended = Tree(tree.root, tree.output, tree.spec, {"docs/": tree.root / "docs"})
        tree.spec.write_bytes(b"%d" % number)
        write(mended, versions()[number], b"%d" % number)
        assert whole(tree)
        assert (
            contents(tree) | {f"docs/{p.name}": p.read_bytes() for p in (tree.root / "docs").glob("*")}
            == (versions()[number])
        )
        assert not tree.staging.exists()


def test_full_disk(tree: Tree) -> None:
    """Files may not grow beyond 1 KB: nothing changes, and nothing is left behind."""
    write(tree, FILES, SPEC)
    before = contents(tree), (tree.output / SUMS).read_bytes()
    script = """
import resource, sys
from pathlib import Path
from codegen.write import Tree, write
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
root = Path(sys.argv[1])
try:
    write(Tree(root, root / "generated", root / "ops.yaml"), {"c/f.c": b"x" * 10, "c/g.c": b"x" * 2000}, b"other")
except OSError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tree.root)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert "File too large" in done.stdout
    assert (contents(tree), (tree.output / SUMS).read_bytes()) == before
    assert not tree.staging.exists()


def _many(root: Path, number: int) -> None:
    tree = Tree(root, root / "generated", root / "ops.yaml")
    for _ in range(20):
        write(tree, {f"c/{i}.c": b"%d" % number for i in range(20)} | {f"only{number}": b""}, b"%d" % number)


def test_two_runs_at_once(tree: Tree) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_many, args=(tree.root, number)) for number in (1, 2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    found = contents(tree)
    number = found["c/0.c"]
    assert found == {f"c/{i}.c": number for i in range(20)} | {f"only{number.decode()}": b""}
    (tree.root / "ops.yaml").write_bytes(number)
    subprocess.run(["sha256sum", "-c", "--quiet", f"generated/{SUMS}"], cwd=tree.root, check=True)


def test_difference(tree: Tree) -> None:
    write(tree, FILES, SPEC)
    assert difference(tree, FILES, SPEC) == ""
    (tree.output / "ops.cmake").unlink()
    text = difference(tree, {"c/f.c": b"int g;\n", "ops.cmake": b"# f\n"}, SPEC)
    assert "--- a/generated/c/f.c\n+++ b/generated/c/f.c\n@@ -1 +1 @@\n-int f;\n+int g;\n" in text
    assert "--- a/generated/my_ops/ops/f.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-f = 1\n" in text
    assert "--- /dev/null\n+++ b/generated/ops.cmake\n@@ -0,0 +1 @@\n+# f\n" in text
    assert text.count(f"b/generated/{SUMS}") == 1
    assert text.rindex("+++ ") == text.index(f"+++ b/generated/{SUMS}")
    assert contents(tree) == {path: data for path, data in FILES.items() if path != "ops.cmake"}
    large = difference(tree, {"c/f.c": b"x\n" * 1000}, SPEC)
    assert large.endswith("more lines of difference\n")
    assert len(large.splitlines()) == 401


def test_folders_elsewhere(tree: Tree) -> None:
    """Documentation has a folder of its own; of it, too, only what an earlier run wrote is removed."""
    docs, schema = tree.root / "docs" / "ops", tree.root / "codegen" / "schema.json"
    other = Tree(tree.root, tree.output, tree.spec, {"docs/": docs}, {"schema.json": schema})
    schema.parent.mkdir()
    (schema.parent / "check.py").write_text("")
    assert write(other, {"docs/f.md": b"f", "docs/g.md": b"g", "c/f.c": b"", "schema.json": b"{}"}, SPEC).written == 5
    assert [path.name for path in sorted(docs.iterdir())] == ["f.md", "g.md"]
    assert schema.read_bytes() == b"{}"
    assert not (tree.output / "schema.json").exists()
    sums = tree.output / SUMS
    assert [line.split("  ")[1] for line in sums.read_text().splitlines()] == [
        *("codegen/schema.json", "docs/ops/f.md", "docs/ops/g.md", "generated/c/f.c", "ops.yaml")
    ]
    subprocess.run(["sha256sum", "-c", "--quiet", str(sums)], cwd=tree.root, check=True)
    (docs / "notes.md").write_text("mine")
    assert "--- a/docs/ops/f.md\n+++ /dev/null\n" in difference(other, {"docs/g.md": b"g"}, SPEC)
    with sums.open("a") as damaged:
        damaged.writelines("0" * 64 + f"  {path}\n" for path in ("codegen/check/library.py", "docs/ops/../../ops.yaml"))
    assert write(other, {"docs/g.md": b"g"}, SPEC).removed == 2
    assert {path.name for path in docs.iterdir()} == {"g.md", "notes.md"}
    assert {path.name for path in schema.parent.iterdir()} == {"check.py", "schema.json"}
    assert tree.spec.exists()


def test_output_elsewhere(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = Tree(tree.root, tmp_path_factory.mktemp("out") / "deep" / "generated", tree.spec)
    write(other, FILES, SPEC)
    subprocess.run(["sha256sum", "-c", "--quiet", str(other.output / SUMS)], cwd=tree.root, check=True)
    assert write(other, {}, SPEC).removed == 3


def test_a_folder_that_cannot_be_written_is_named(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is written, also where the user may write to every folder, as root may."""
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("/ops"))
    with pytest.raises(PermissionError) as caught:
        write(tree, FILES, SPEC)
    folder = str(tree.output / "my_ops" / "ops")
    assert (caught.value.errno, caught.value.strerror, caught.value.filename) == (
        errno.EACCES,
        os.strerror(errno.EACCES),
        folder,
    )
    assert contents(tree) == {}
