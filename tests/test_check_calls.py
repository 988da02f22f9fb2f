"""check_calls: a call that differs from its reference is found wherever it is made, and its script shows it again."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

import my_ops
from my_ops._contracts import CALLS
from tests.process import output, run


def lines(folder: Path) -> list[dict[str, Any]]:
    """What was written down, process by process."""
    return [json.loads(line) for file in sorted(folder.glob("calls-*.jsonl")) for line in file.open()]


def names(folder: Path) -> list[str]:
    return [line["operator"].removeprefix("my_ops::") for line in lines(folder)]


@pytest.fixture
def breaks() -> Iterator[Callable[..., None]]:
    """Puts a kernel in the place of one for the CPU that then changes what the right one returned or wrote."""
    library = torch.library.Library("my_ops", "IMPL")

    def break_(name: str, change: Callable[..., Any]) -> None:
        kernel = torch.library.get_kernel(getattr(torch.ops.my_ops, name).default, "CPU")

        def wrong(keyset: Any, *positional: Any, **keyword: Any) -> Any:
            return change(kernel.call_boxed(keyset, *positional, **keyword), *positional)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            library.impl(name, wrong, "CPU", with_keyset=True)

    yield break_
    library._destroy()


def test_right_calls(tmp_path: Path) -> None:
    """Eager and compiled, with gradients, in place, of lists, without optional arguments, in every mode: nothing is
    said, and all is written down.
    """
    x, weight = torch.randn(5, 8, requires_grad=True), torch.ones(8, requires_grad=True)
    plain = x.detach()
    with my_ops.check_calls(log=True, folder=tmp_path):
        my_ops.rms_norm(x, weight).sum().backward()
        torch.ops.my_ops.rms_norm(plain.t())
        torch.compile(my_ops.softmax, fullgraph=True)(x).sum().backward()
        my_ops.adamw_step([torch.ones(3), torch.ones(2, 2)], [torch.ones(3), torch.ones(2, 2)],
                          [torch.zeros(3), torch.zeros(2, 2)], [torch.zeros(3), torch.zeros(2, 2)], 1)  # fmt: skip
        my_ops.add_rms_norm_(plain.clone(), plain.clone(), weight.detach())
        my_ops.rms_norm_backward(plain, plain, weight.detach(), torch.rand(5), 0.0, grad_mask=[False, True])
        my_ops.quantize_per_token(plain)
        (first,) = torch.autograd.grad(my_ops.gelu_mul(x, x).sum(), x, create_graph=True)
        first.sum().backward()
        torch.utils.checkpoint.checkpoint(my_ops.silu_mul, x, x, use_reentrant=False).sum().backward()
        with torch.inference_mode(), torch.autocast("cpu"):
            my_ops.silu_mul(torch.ones(3), torch.ones(3))
            my_ops.silu_mul_backward(torch.ones(3), torch.ones(3), torch.ones(3))
        torch.func.vmap(my_ops.square)(plain)
        my_ops.square(torch.empty(0, 3))
    found = lines(tmp_path)
    assert all(line["compared"] is True and line["microseconds"] > 0 for line in found)
    assert names(tmp_path) == [
        "_rms_norm_saved", "_rms_norm_backward_no_grad", "rms_norm", "_softmax_no_grad", "_softmax_backward_no_grad",
        "_adamw_step_no_grad", "_add_rms_norm__no_grad", "_rms_norm_backward_no_grad", "_quantize_per_token_no_grad",
        "_gelu_mul_no_grad", "_gelu_mul_backward_no_grad", "_gelu_mul_backward_backward_no_grad",
        "_silu_mul_no_grad", "_silu_mul_no_grad", "_silu_mul_backward_no_grad",
        "_silu_mul_no_grad", "_silu_mul_backward_no_grad", "_square_no_grad", "_square_no_grad",
    ]  # fmt: skip
    given = found[2]["arguments"]
    assert given["x"] == {"dtype": "float32", "shape": [8, 5], "strides": [1, 8], "offset": 0, "device": "cpu"}
    assert (given["weight"], given["eps"]) == (None, 1e-6)
    assert [one and one["shape"] for one in found[7]["results"]] == [None, [8]]
    assert len(found[5]["arguments"]["params"]) == 2
    assert [path.name for path in tmp_path.iterdir()] == [f"calls-{found[0]['process']}.jsonl"]


WRONG = {
    "square": ("_square_no_grad", lambda y, *_: y * 1.01, lambda x: my_ops.square(x.detach())),
    "nan": ("_square_no_grad", lambda y, *_: y / 0, lambda x: my_ops.square(x.detach())),
    "overload": ("square", lambda y, *_: y + 1, lambda x: torch.ops.my_ops.square(x.detach())),
    "second output": ("_rope_no_grad", lambda y, *_: (y[0], -y[1]), lambda x: my_ops.rope(*angles())),
    "shape": ("_square_no_grad", lambda y, *_: y[:1], lambda x: my_ops.square(x.detach())),
    "integers": ("_quantize_per_token_no_grad", lambda y, *_: (y[0] + 9, y[1]),
                 lambda x: my_ops.quantize_per_token(x.detach())),
    "list": ("_global_norm_no_grad", lambda y, *_: y + 1, lambda x: my_ops.global_norm([x.detach(), x.detach()])),
    "in place": ("_adamw_step_no_grad", lambda y, params, *_: params[1].add_(1) and None,
                 lambda x: my_ops.adamw_step(*([torch.ones(1), torch.ones(1)] for _ in range(4)), 1)),
    "in-place form": ("_add_rms_norm__no_grad", lambda y, x, *_: x.add_(1) and None,
                      lambda x: my_ops.add_rms_norm_(torch.ones(1, 1), torch.ones(1, 1))),
    "backward": ("_square_backward_no_grad", lambda y, *_: -y, lambda x: my_ops.square(x).sum().backward()),
    "derived": ("_silu_mul_backward_no_grad", lambda y, *_: (y[1], y[0]),
                lambda x: my_ops.silu_mul(x, x + 1).sum().backward()),
    "one gradient of two": ("_rms_norm_backward_no_grad", lambda y, *_: (y[0], y[1]) if y[0] is None else (-y[0], None),
                            lambda x: my_ops.rms_norm(x, torch.rand(8)).sum().backward()),
    "compiled": ("square", lambda y, *_: y + 1,
                 lambda x: torch.compile(lambda x: my_ops.square(x) * 2, fullgraph=True)(x.detach())),
    "compiled backward": ("_square_backward_no_grad", lambda y, *_: -y,
                          lambda x: torch.compile(my_ops.square, fullgraph=True)(x).sum().backward()),
}  # fmt: skip


def angles() -> tuple[torch.Tensor, ...]:
    return torch.rand(1, 2, 1, 4), torch.rand(1, 2, 1, 4), torch.rand(2, 2), torch.rand(2, 2)


@pytest.mark.parametrize("case", WRONG)
def test_wrong_operators_are_found(case: str, breaks: Callable[..., None], tmp_path: Path) -> None:
    """One whose results are not right, however it is called; before and after nothing is said."""
    name, change, call = WRONG[case]
    breaks(name, change)
    x = torch.randn(5, 8, requires_grad=True)
    call(x)
    with my_ops.check_calls(log=True, folder=tmp_path), pytest.raises(RuntimeError) as caught:
        call(x)
    text, script = re.fullmatch(r"(?s)my_ops::(.+); to see it again: python (.+\.py)", str(caught.value)).groups()
    assert text.startswith(f"{name}: ")
    last = lines(tmp_path)[-1]
    assert f"{name}: {last['differs']}" == text
    assert Path(script).parent == tmp_path
    assert Path(script).exists()
    call(x)


REFERENCES = """
def silu_mul(gate, up):
    return gate + up

def add_rms_norm(x, residual, weight, eps, offset):
    return x + 1, residual + x
"""


def test_scripts_show_it_again(tmp_path: Path) -> None:
    """With the arguments as they lay in memory, which two of them share, and as they were before they were written."""
    (tmp_path / "right.py").write_text(REFERENCES)
    memory = torch.randn(4, 16)
    gate, up = memory[:, 1:8:2], memory.t()[3:7]
    x, residual = memory.clone()[:, :4], torch.ones(4, 4)
    before = x.clone()
    texts = []
    with my_ops.check_calls(folder=tmp_path / "out", references=tmp_path / "right.py"):
        for call in (lambda: my_ops.silu_mul(gate, up), lambda: my_ops.add_rms_norm_(x, residual)) * 2:
            with pytest.raises(RuntimeError) as caught:
                call()
            texts.append(str(caught.value))
    scripts = [Path(text.rpartition("python ")[2]) for text in texts[:2]]
    assert sorted((tmp_path / "out").iterdir()) == sorted([*scripts, *(path.with_suffix(".pt") for path in scripts)])
    assert "to see it again" not in "".join(texts[2:])  # one script for each operator
    saved = torch.load(scripts[0].with_suffix(".pt"), weights_only=True)["positional"]
    for one, other in zip((gate, up), saved, strict=True):
        assert torch.equal(one, other)
        assert (one.stride(), one.storage_offset()) == (other.stride(), other.storage_offset())
    assert saved[0].untyped_storage().data_ptr() == saved[1].untyped_storage().data_ptr()
    written = torch.load(scripts[1].with_suffix(".pt"), weights_only=True)["positional"]
    assert torch.equal(written[0], before)
    assert written[0].stride() == (16, 1)
    assert not torch.equal(x, before)
    again = "\n".join(
        f"try: runpy.run_path({str(script)!r})\nexcept RuntimeError as error: print(str(error).strip())"
        for script in scripts
    )
    assert output(f"import runpy\n{again}").split("\n") == [text.partition("; to see")[0] for text in texts[:2]]


def test_off_is_as_before(tmp_path: Path) -> None:
    """The dispatcher holds the library's kernels again, however contexts are nested; there is nothing in between."""
    entries = [entry for call in CALLS for entry in call.entries]
    registered = {op.partition("::")[2] for op in torch._C._dispatch_get_all_op_names() if op.startswith("my_ops::")}
    assert set(entries) == registered

    def tables() -> list[str]:
        return [torch._C._dispatch_dump_table(f"my_ops::{entry}") for entry in entries]

    before = tables()
    with my_ops.check_calls(folder=tmp_path):
        on = tables()
        assert all(re.search(r"^CPU: .*_verify.*\[kernel\]$", table, re.MULTILINE) for table in on)
        with my_ops.check_calls(compare=False, log=True, folder=tmp_path):
            my_ops.square(torch.ones(2))
            with my_ops.check_calls(False):
                assert tables() == before
                my_ops.square(torch.ones(2))
            assert tables() == on
        assert tables() == on
    assert tables() == before
    (line,) = lines(tmp_path)
    assert line["not_compared"] == "only logged"


def test_what_is_not_compared(tmp_path: Path) -> None:
    """A refused call keeps its error, and an operator without a reference is named once."""
    references = ModuleType("references")
    references.__file__ = "somewhere.py"
    with my_ops.check_calls(log=True, folder=tmp_path, references=references):
        with pytest.raises(RuntimeError, match=r"^my_ops::rms_norm: expected eps >= 0, got eps = -1$"):
            my_ops.rms_norm(torch.ones(2), eps=-1.0)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            my_ops.rms_norm_quantize(torch.ones(2))
            my_ops.rms_norm_quantize(torch.ones(2))
    texts = [str(warning.message) for warning in said]
    assert texts == [
        "my_ops.check_calls: rms_norm_quantize is not compared: there is no rms_norm_quantize in somewhere.py"
    ]
    first, *others = lines(tmp_path)
    assert first["error"] == "my_ops::rms_norm: expected eps >= 0, got eps = -1"
    assert [line["not_compared"] for line in others] == ["no reference rms_norm_quantize"] * 2
    with pytest.raises(RuntimeError, match=r"check_calls: references: there is no /nowhere\.py; `references=` names"):
        my_ops.check_calls(references="/nowhere.py")
    (tmp_path / "raises.py").write_text("def square(x):\n    raise ValueError('no')\n\nimport math")
    with my_ops.check_calls(scripts=False, references=tmp_path / "raises.py"), pytest.raises(RuntimeError) as caught:
        my_ops.square(torch.ones(2))
    assert str(caught.value) == "my_ops::_square_no_grad: its reference square raised ValueError: no"
    (tmp_path / "raises.py").write_text("import nothing_of_this_name")
    with pytest.raises(RuntimeError, match=r"raises\.py: ModuleNotFoundError: No module named 'nothing_of_this_name'"):
        my_ops.check_calls(references=tmp_path / "raises.py")


RANK = """
import sys, torch, my_ops
from torch import distributed
rank, folder = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
x = torch.full((2, 3), float(rank), requires_grad=True)
my_ops.square(x).sum().backward()
distributed.all_reduce(x.grad)
assert x.grad[0, 0] == 2
distributed.destroy_process_group()
"""


def test_ranks_from_the_environment(tmp_path: Path) -> None:
    """Turned on for two processes of one run, each of which writes a file of its own."""
    start = f"[subprocess.Popen([sys.executable, '-c', {RANK!r}, str(rank), {str(tmp_path)!r}]) for rank in (0, 1)]"
    code = f"import subprocess, sys\nprint([rank.wait(120) for rank in {start}])"
    set_ = {"MY_OPS_CHECK_CALLS": "compare,log", "MY_OPS_CHECK_CALLS_FOLDER": str(tmp_path / "calls")}
    assert output(code, **set_).splitlines()[-1] == "[0, 0]"
    files = sorted((tmp_path / "calls").iterdir())
    assert [path.name.partition("-")[2].partition("-")[0] for path in files] == ["rank0", "rank1"]
    assert names(tmp_path / "calls") == ["_square_no_grad", "_square_backward_no_grad"] * 2
    assert all(line["compared"] for line in lines(tmp_path / "calls"))


def test_wrong_words_in_the_environment() -> None:
    done = run("import my_ops", MY_OPS_CHECK_CALLS="yes")
    assert done.stderr.splitlines()[-1] == (
        "ImportError: MY_OPS_CHECK_CALLS: expected 1, compare, log or compare,log, got yes"
    )


@pytest.mark.cuda
def test_graph_capture(device: str, tmp_path: Path) -> None:
    """On a GPU calls are compared as on the CPU, and while a graph is captured only written down."""
    x = torch.randn(5, 8, device=device, requires_grad=True)
    with my_ops.check_calls(log=True, folder=tmp_path):
        my_ops.square(x).sum().backward()
        plain, graph = x.detach(), torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = my_ops.square(plain)
        graph.replay()
    assert torch.equal(y, plain * plain)
    found = lines(tmp_path)
    assert [line.get("compared") for line in found] == [True, True, None]
    assert found[-1]["not_compared"] == "a CUDA graph is captured"
