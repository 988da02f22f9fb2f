"""Asks a library for its operators, in a process of its own: one that crashes, never returns or prints is a library
that says nothing, and not the end of the command.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from codegen.frozen import dataclass, replace
from codegen.registered.facts import Contract, Registered, registered

SECONDS = 60.0  # in which a step is taken, or never will
_PACKAGES = Path(__file__).resolve().parents[2]
NONE = "*"
_AGAIN = 3  # fake kernels that may end the process before no other is asked
_TEXTS = {  # of PyTorch and the loader, and what to do
    "undefined symbol": "it was built for another PyTorch than this one, {version}",
    "cannot open shared object file": "LD_LIBRARY_PATH says where those are that it needs; "
    "or --module names the module that loads them",
}


class NoAnswer(Exception):
    """Why there are no operators, and a hint."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.text, self.hint = text, hint


@dataclass(frozen=True)
class Question:
    """What to load, a file or a module; the namespace, "" for the only one; the operators that are wanted, none for
    all.
    """

    library: str = ""
    module: str = ""
    namespace: str = ""
    operators: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()  # whose fake kernels are left alone; NONE for all


@dataclass(frozen=True)
class Answer:
    """The operators of a namespace."""

    namespace: str
    operators: tuple[Registered, ...]


def ask(question: Question) -> Answer:
    """The operators that the library registers. Raises NoAnswer."""
    if question.library and not Path(question.library).is_file():
        raise NoAnswer("this is a folder" if Path(question.library).is_dir() else "there is no such file")
    broken: dict[str, str] = {}
    while True:
        events, end = _run(replace(question, unasked=tuple(broken)))
        last = events[-1] if events else {"event": "start"}
        if last["event"] != "asking":
            break
        broken[last["name"]] = end
        if len(broken) > _AGAIN:
            events, end = _run(replace(question, unasked=(NONE,)))
            last = events[-1] if events else {"event": "start"}
            break
    if last["event"] != "end":
        raise _unanswered(last, end, events)
    return _answer(question, events, broken)


def _run(question: Question) -> tuple[list[dict[str, Any]], str]:
    """What the process said, and how it ended where it did not end by itself."""
    with tempfile.TemporaryDirectory(prefix="codegen-import-") as folder:
        asked, said = Path(folder, "question"), Path(folder, "answer")
        library = str(Path(question.library).resolve()) if question.library else ""
        asked.write_text(json.dumps({**_fields(question), "library": library}))
        search = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH", ""), str(_PACKAGES)]))
        command = [sys.executable, "-c", _START, str(asked), str(said)]
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": search}, start_new_session=True,
        )  # fmt: skip
        try:
            code = _wait(process, said)
            end = f"ended the process with {_signal(-code)}" if code < 0 else f"ended the process with exit code {code}"
        except subprocess.TimeoutExpired:
            end = f"gave no answer within {SECONDS:g} seconds"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        lines = said.read_text(errors="replace").splitlines() if said.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")], end


def _wait(process: subprocess.Popen[bytes], said: Path) -> int:
    """The exit code of a process that goes on saying something. Raises subprocess.TimeoutExpired."""
    length, end = -1, 0.0
    while True:
        now = said.stat().st_size if said.exists() else 0
        if now != length:
            length, end = now, time.monotonic() + SECONDS
        try:
            return process.wait(0.05)
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                raise


_START = """
import os, sys
sys.path.insert(0, os.getcwd())
from codegen.registered.child import main
main(*sys.argv[1:])
"""


def _fields(question: Question) -> dict[str, Any]:
    return {name: getattr(question, name) for name in ("library", "module", "namespace", "operators", "unasked")}


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _unanswered(last: Mapping[str, Any], end: str, events: Sequence[Mapping[str, Any]]) -> NoAnswer:
    if last["event"] != "failed":
        doing = {"loading": "loading it", "torch": "importing torch"}.get(last["event"], "listing its operators")
        return NoAnswer(f"{doing} {end}")
    before = events[-2]["event"] if len(events) > 1 else ""
    version = next((event["version"] for event in events if event["event"] == "loading"), "")
    lines = [line.strip() for line in str(last["text"]).splitlines() if line.strip()]
    said = lines[0] if lines else str(last["error"])
    if before == "torch":
        return NoAnswer(f"there is no PyTorch to load it with: {said}", "python -m pip install torch")
    hint = next((text.format(version=version) for words, text in _TEXTS.items() if words in said), "")
    if last["error"] == "ModuleNotFoundError":
        hint = "the Python that runs this command looks in its own packages, PYTHONPATH and this folder"
        return NoAnswer(f"there is no module {last['module']}", hint)
    error = "" if last["error"] in ("OSError", "ImportError") else f"{last['error']}: "
    return NoAnswer(f"it does not load: {error}{said}", hint)


def _answer(question: Question, events: Sequence[Mapping[str, Any]], broken: Mapping[str, str]) -> Answer:
    spaces = next(event["namespaces"] for event in events if event["event"] == "namespaces")
    listed = ", ".join(f"{name} ({count})" for name, count in sorted(spaces.items()))
    if not spaces:
        hint = "functions of a pybind11 module are no operators; python -m codegen new OP begins one"
        raise NoAnswer("it registers no operators", hint)
    if question.namespace and question.namespace not in spaces:
        raise NoAnswer(f'it registers nothing in the namespace "{question.namespace}"', f"it has {listed}")
    if not question.namespace and len(spaces) > 1:
        raise NoAnswer(f"it registers operators in {len(spaces)} namespaces", f"choose one by --namespace: {listed}")
    asked = {event["name"]: event for event in events if event["event"] == "asked"}
    found = []
    for event in events:
        if event["event"] == "operator":
            op = registered(event["operator"])
            said = asked.get(op.qualified)
            contract = Contract(**said["contract"]) if said is not None and said["contract"] is not None else None
            problem = said["problem"] if said is not None else broken.get(op.qualified, "")
            found.append(replace(op, contract=contract, asked=problem))
    return Answer(question.namespace or next(iter(spaces)), tuple(found))
