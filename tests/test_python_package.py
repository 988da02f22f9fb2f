"""The typed wrappers as other tools see them, and PyTorch's modes around them."""

from __future__ import annotations

import inspect
import io
import re
import typing
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import my_ops
from tests.harness.gradients import Recorder
from tests.process import PACKAGE, output

ENTRY_POINTS = [my_ops.rms_norm, torch.ops.my_ops.rms_norm]


def test_signatures() -> None:
    """Names, order and defaults are those of the schema; every parameter has a type, for type checkers too."""
    assert (PACKAGE / "py.typed").exists()
    operators = [name for name in my_ops.__all__ if hasattr(torch.ops.my_ops, name)]
    assert set(my_ops.__all__) - set(operators) == {"BytesCounterMode", "check_calls", "check_values"}
    for name in operators:
        function = getattr(my_ops, name)
        schema = getattr(torch.ops.my_ops, name).default._schema
        parameters = inspect.signature(function).parameters.values()
        assert [parameter.name for parameter in parameters] == [argument.name for argument in schema.arguments]
        for parameter, argument in zip(parameters, schema.arguments, strict=True):
            assert (parameter.kind is parameter.KEYWORD_ONLY) == argument.kwarg_only
            if argument.has_default_value():
                default = parameter.default
                if isinstance(default, torch.dtype):  # schemas hold its number
                    parsed = torch._C.parse_schema(f"f(ScalarType dtype={str(default).removeprefix('torch.')}) -> ()")
                    default = parsed.arguments[0].default_value
                assert argument.default_value == (list(default) if isinstance(default, tuple) else default)
        assert set(typing.get_type_hints(function)) == {*inspect.signature(function).parameters, "return"}
        assert ("in place" if name.endswith("_") else "T is ") in function.__doc__


def test_modules_written_by_hand() -> None:
    """They are packages of the wheel, hide no operator, and wait until they are asked for."""
    names = [path.parent.name for path in PACKAGE.parents[1].glob("python/*/__init__.py")]
    text = (PACKAGE.parents[1] / "pyproject.toml").read_text()
    assert "nn" in names
    assert not {*names} & {*my_ops.__all__}
    for name in names:
        assert f'"my_ops.{name}"' in text.split("packages = ")[1].splitlines()[0]
        assert f'"my_ops.{name}" = "python/{name}"' in text
        assert output(f"import sys, my_ops; print('my_ops.{name}' in sys.modules)") == "False"
        assert output(f"import my_ops; print(my_ops.{name}.__name__)") == f"my_ops.{name}"
    for absent in ("nothing", "_nothing"):
        with pytest.raises(AttributeError, match=f"module 'my_ops' has no attribute '{absent}'"):
            getattr(my_ops, absent)
    assert output("import sys; from my_ops import nn; print('transformers' in sys.modules)") == "False"


@pytest.mark.parametrize("function", ENTRY_POINTS, ids=["wrapper", "torch.ops"])
def test_vmap(function: Callable[..., torch.Tensor], device: str) -> None:
    """Gradients come out of it too."""
    x = torch.randn(3, 4, 8, device=device, requires_grad=True)
    weight = torch.randn(8, device=device, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batched, whole = torch.vmap(function, (0, None))(x, weight), function(x, weight)
        assert torch.equal(batched, whole)
        found = torch.autograd.grad(batched.square().sum(), [x, weight])
        expected = torch.autograd.grad(whole.square().sum(), [x, weight])
        only_x = torch.autograd.grad(torch.vmap(function, (0, None))(x, weight.detach()).square().sum(), [x])
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, expected, strict=True))
    assert torch.allclose(only_x[0], expected[0], atol=1e-5)


@pytest.mark.parametrize("function", ENTRY_POINTS, ids=["wrapper", "torch.ops"])
def test_batched_gradients(function: Callable[..., torch.Tensor], device: str) -> None:
    x = torch.randn(4, 8, device=device, requires_grad=True)
    y = function(x, torch.ones(8, device=device))
    upstream = torch.randn(3, 4, 8, device=device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = torch.autograd.grad(y, x, upstream, is_grads_batched=True, retain_graph=True)[0]
    expected = torch.stack([torch.autograd.grad(y, x, one, retain_graph=True)[0] for one in upstream])
    assert torch.allclose(found, expected, atol=1e-6)


def test_compiled_func_grad_is_right_or_refused(device: str) -> None:
    """torch.compile before 2.14 would lose the gradient of a Function under torch.func without a word."""
    x, weight = torch.randn(4, 8, device=device), torch.ones(8, device=device)
    expected = torch.func.grad(lambda x: torch.nn.functional.rms_norm(x, (8,), weight, 1e-6).sum())(x)
    for function in ENTRY_POINTS:
        compiled = torch.compile(
            torch.func.grad(lambda x, function=function: function(x, weight).sum()), backend="aot_eager"
        )
        found, text = None, ""
        try:
            found = compiled(x)
        except Exception as error:
            text = str(error)
        assert found is not None or "torch.func transforms differentiate" in text
        assert found is None or torch.allclose(found, expected)
        torch._dynamo.reset()


def test_compiled_autograd(device: str) -> None:
    """The backward pass of an eager graph is traced too."""
    x = torch.randn(4, 8, device=device, requires_grad=True)
    for function in ENTRY_POINTS:
        y = function(x, torch.ones(8, device=device))
        expected = torch.autograd.grad(y.square().sum(), x, retain_graph=True)[0]
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager")):
            y.square().sum().backward()
        assert torch.allclose(x.grad, expected)
        x.grad = None


def test_no_upstream_gradient(device: str) -> None:
    """A Function after ours that gives no gradient: none, and no zeros are made."""

    class Nothing(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, y: torch.Tensor) -> torch.Tensor:
            return y.clone()

        @staticmethod
        def backward(ctx: object, grad: torch.Tensor) -> None:
            return None

    x = torch.randn(4, 8, device=device, requires_grad=True)
    for function in ENTRY_POINTS:
        Nothing.apply(function(x, torch.ones(8, device=device))).sum().backward()
        assert x.grad is None


def test_graph_names(device: str) -> None:
    """What people see when they print a tensor."""
    x = torch.randn(4, 8, device=device, requires_grad=True)
    assert "RmsNormBackward" in repr(my_ops.rms_norm(x, torch.ones(8, device=device)).grad_fn)


def test_public_name_under_modes(device: str) -> None:
    """A call that records nothing shows the public operator to modes, to the FLOP counter for instance. What a mode
    makes of it, a graph, can be differentiated later.
    """
    x, weight = torch.randn(4, 8, device=device), torch.ones(8, device=device)
    for function in ENTRY_POINTS:
        with Recorder() as recorder:
            function(x, weight)
        assert [name for name, _ in recorder.calls] == ["my_ops::rms_norm"]
        graph = make_fx(partial(function, eps=1e-6))(x, weight)
        assert torch.ops.my_ops.rms_norm.default in [node.target for node in graph.graph.nodes]
        leaf = x.clone().requires_grad_()
        expected = torch.autograd.grad(function(leaf, weight).square().sum(), leaf)[0]
        assert torch.equal(torch.autograd.grad(graph(leaf, weight).square().sum(), leaf)[0], expected)


def test_public_name_in_graphs_of_fx(device: str) -> None:
    """torch.fx records what objects with a __torch_function__ are shown: the public operators, which have gradients;
    a mode of that kind sees them, too.
    """
    x, weight = torch.randn(4, 8, device=device, requires_grad=True), torch.ones(8, device=device, requires_grad=True)
    graph = torch.fx.symbolic_trace(lambda x, weight: my_ops.rms_norm(my_ops.silu_mul(x, x), weight))
    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert targets == [torch.ops.my_ops.silu_mul.default, torch.ops.my_ops.rms_norm.default]
    expected = torch.autograd.grad(my_ops.rms_norm(my_ops.silu_mul(x, x), weight).square().sum(), [x, weight])
    assert all(map(torch.equal, torch.autograd.grad(graph(x, weight).square().sum(), [x, weight]), expected))

    graph = torch.fx.symbolic_trace(lambda q, k, angle: my_ops.rope_(q, k, angle, angle))
    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert targets == [torch.ops.my_ops.rope_.default]
    graph = torch.fx.symbolic_trace(lambda x, target: my_ops.cross_entropy_gradient_(x, target))
    targets = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    assert targets == [torch.ops.my_ops.cross_entropy_gradient_.default]

    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **kwargs or {})

    with Mode():
        my_ops.rms_norm(x, weight)
    assert seen == [torch.ops.my_ops.rms_norm.default]


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_public_name_in_graphs_of_jit() -> None:
    """The graph of torch.jit.trace holds public operators, whether gradients were recorded while it was made or not: a
    model that is traced under no_grad can be trained.
    """

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
            self.weight = torch.nn.Parameter(torch.randn(8))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = my_ops.rms_norm(self.first(x), self.weight)
            return self.last(my_ops.add_rms_norm_(y + 1, y * 2)[0])

    module, x = Module(), torch.randn(3, 4)
    parameters = list(module.parameters())
    expected = torch.autograd.grad(module(x).square().sum(), parameters)
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            traced = torch.jit.trace(module, torch.randn(5, 4), check_trace=mode is torch.enable_grad)
        names = re.findall(r"my_ops::(\w+)", str(traced.graph))
        assert names == ["rms_norm", "add_rms_norm_"]
        assert all(map(torch.equal, torch.autograd.grad(traced(x).square().sum(), parameters), expected))
    stream = io.BytesIO()
    torch.jit.save(traced, stream)
    stream.seek(0)
    assert torch.equal(torch.jit.load(stream)(x), module(x))


def test_public_name_without_dynamo(device: str) -> None:
    """torch.export runs the wrapper as it stands and only sets a flag: the graph holds the public operator."""

    class Module(torch.nn.Module):
        def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
            return my_ops.rms_norm(x, weight)

    inputs = torch.randn(4, 8, device=device), torch.ones(8, device=device, requires_grad=True)
    graph = torch.export.export(Module(), inputs, strict=False).graph
    assert torch.ops.my_ops.rms_norm.default in [node.target for node in graph.nodes]


def test_flag_of_a_later_pytorch() -> None:
    """Without the flag that wrappers look at, the public function is asked."""
    answers = output("""
        import torch
        del torch.compiler._is_compiling_flag
        answer = False
        torch.compiler.is_compiling = lambda: answer
        import my_ops
        print(my_ops._runtime.compiler._is_compiling_flag)
        answer = True
        print(my_ops._runtime.compiler._is_compiling_flag)
    """)
    assert answers.split() == ["False", "True"]


def test_overhead() -> None:
    """The wrapper costs at most 0.4 us above the bare overload, more on a loaded machine: the ratio is what counts."""
    figures = output("""
        import timeit, torch, my_ops
        torch.set_num_threads(1)
        x, w, bare = torch.randn(4, 8), torch.randn(8), torch.ops.my_ops._rms_norm_no_grad.default
        def fastest(call):
            return min(timeit.repeat(call, number=2000, repeat=30))
        print(fastest(lambda: my_ops.rms_norm(x, w)) / fastest(lambda: bare(x, w, 1e-6)))
    """)
    assert float(figures) < 1.5
