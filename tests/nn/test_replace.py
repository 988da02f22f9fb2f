"""my_ops.nn.replace on made-up models: what it takes, and what it must not touch."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from my_ops import nn
from tests.nn.calls import operators
from tests.nn.made_up import MLP, Angles, Attention, Model, RMSNorm, apply_rotary

REPLACED = {
    "norm": ("RMSNorm", "my_ops.nn.RMSNorm", "my_ops::rms_norm"),
    "offset": ("OffsetNorm", "my_ops.nn.OffsetNorm", "my_ops::rms_norm"),
    "last": ("LayerNorm", "my_ops.nn.LayerNorm", "my_ops::layer_norm"),
    "tied": ("RMSNorm", "my_ops.nn.RMSNorm", "my_ops::rms_norm"),
    "attention": ("Attention", "my_ops.nn.Attention", "my_ops::rope"),
    "mlp": ("MLP", "my_ops.nn.MLP", "my_ops::silu_mul"),
    "loss": ("CrossEntropyLoss", "my_ops.nn.CrossEntropyLoss", "my_ops::cross_entropy"),
}


@pytest.fixture
def model(device: str) -> Model:
    torch.manual_seed(0)
    return Model().to(device)


@pytest.fixture
def x(device: str) -> Tensor:
    return torch.randn(2, 3, 8, device=device)


def gradients(model: torch.nn.Module, x: Tensor) -> list[Tensor]:
    model.zero_grad()
    y = model(x)
    y.pow(3).sum().backward()  # the squares of a normalised row have a constant sum
    return [y.detach(), *(parameter.grad for parameter in model.parameters())]


def test_one_of_each(model: Model, x: Tensor) -> None:
    """Results and gradients stay, and the operators run."""
    expected = gradients(model, x)
    report = nn.replace(model)
    assert {one.name: (one.before, one.after, one.operator) for one in report.replaced} == REPLACED
    assert report.left == []
    for found, wanted in zip(gradients(model, x), expected, strict=True):  # sums of terms as large as the largest
        torch.testing.assert_close(found, wanted, rtol=0, atol=2e-6 * wanted.abs().max().item())
    assert operators(lambda: model(x)) == {operator for *_, operator in REPLACED.values()} - {"my_ops::cross_entropy"}
    assert str(report).splitlines()[0] == "2 RMSNorm -> my_ops.nn.RMSNorm (my_ops::rms_norm)"
    assert "(offset): my_ops.nn.OffsetNorm()" in repr(model)


def test_what_stays(model: Model, x: Tensor) -> None:
    """Parameters, tied ones too, mode, hooks, attributes and random numbers; and other models of the same classes."""
    other = copy.deepcopy(model)
    model.offset.weight.requires_grad_(False)
    model.mlp.eval()
    heard: list[str] = []
    for name, module in model.named_modules():
        module.register_forward_hook(lambda *_, name=name: heard.append(name))
    model.mlp.act_fn._forward_hooks.clear()
    parameters, attributes = dict(model.named_parameters()), {name: vars(m).copy() for name, m in model.named_modules()}
    state = torch.get_rng_state()
    nn.replace(model)
    assert torch.equal(torch.get_rng_state(), state)
    assert {name: id(one) for name, one in model.named_parameters()} == {n: id(p) for n, p in parameters.items()}
    assert {name: vars(one) for name, one in model.named_modules()} == attributes
    assert model.tied.weight is model.norm.weight
    gradients(model, x)
    assert {*heard} == {name for name, _ in model.named_modules()} - {"mlp.act_fn", "loss"}
    assert isinstance(model.norm, RMSNorm)
    assert type(model.norm) is type(model.tied)
    assert type(model.norm).__name__ == "RMSNorm"
    assert operators(lambda: other(x)) == set()


def test_twice_and_back(model: Model, x: Tensor) -> None:
    """A second call changes nothing, and `undo` everything."""
    expected, classes = model(x), {name: type(one) for name, one in model.named_modules()}
    report = nn.replace(model)
    given = {name: type(one) for name, one in model.named_modules()}
    again = nn.replace(model)
    assert {name: type(one) for name, one in model.named_modules()} == given
    assert again.replaced == []
    assert {one.name: one.reason for one in again.left} == {
        name: f"runs {operator} already" for name, (*_, operator) in REPLACED.items()
    }
    for one in (again, report, report):
        one.undo()
    assert {name: type(one) for name, one in model.named_modules()} == classes
    assert torch.equal(model(x), expected)
    assert len(nn.replace(model).replaced) == len(REPLACED)


def test_undo_leaves_what_others_did(model: Model) -> None:
    """A module that has yet another class by then."""
    report = nn.replace(model)
    another = type("Another", (type(model.norm),), {})
    model.norm.__class__ = another
    report.undo()
    assert type(model.norm) is another
    assert type(model.tied) is RMSNorm


def test_kinds(model: Model) -> None:
    for kinds, names in (("norm", {"norm", "offset", "last", "tied"}), (["gated", "rotary"], {"mlp", "attention"})):
        report = nn.replace(model, kinds)
        assert {one.name for one in report.replaced} == names
        report.undo()
    with pytest.raises(ValueError, match="kinds: expected some of norm, gated, rotary, loss, got 'norms'"):
        nn.replace(model, ["norm", "norms"])
    assert type(model.norm) is RMSNorm
    with pytest.raises(TypeError, match=r"model: expected a torch\.nn\.Module, got list"):
        nn.replace([model])


def test_copies(model: Model, x: Tensor) -> None:
    """Copies and pickles are replaced, too, and go on in a process that has not replaced anything."""
    nn.replace(model)
    expected = model(x)
    made = nn.forms._MADE.copy()
    data = pickle.dumps(model)
    nn.forms._MADE.clear()
    loaded = pickle.loads(data)
    nn.forms._MADE.update(made)
    for other in (copy.deepcopy(model), loaded):
        assert torch.equal(other(x), expected)
        assert operators(lambda other=other: other(x)) == operators(lambda: model(x))
        assert other.tied.weight is other.norm.weight
        assert [one.reason[:4] for one in nn.replace(other).left] == ["runs"] * len(REPLACED)


def test_calls_that_operators_do_not_cover(model: Model, x: Tensor) -> None:
    """Mixed dtypes, keywords and shapes: the code of the class before, with its results and errors."""
    before = copy.deepcopy(model)
    nn.replace(model)
    for one in (before, model):
        one.mlp.up_proj.register_forward_hook(lambda *arguments: arguments[-1].bfloat16())
    calls: list[Callable[[Model], Tensor]] = [
        lambda model: model.norm(x.bfloat16()),
        lambda model: model.norm(hidden_states=x),
        lambda model: model.offset(x.bfloat16()),
        lambda model: model.mlp(x),
        lambda model: model.attention(x, [x[:1, :, :4].double()] * 2),
        lambda model: model.attention(x, [x[:1, :, :4].double(), x[:1, :, :4]]),
        lambda model: model.attention(x, [x[:1, :, :4].clone().requires_grad_()] * 2),
        lambda model: model.attention(x, [x[:1, :1, :4]] * 2),
        lambda model: model.attention(x.bfloat16(), model.angles(x, torch.arange(3, device=x.device).unsqueeze(0))),
    ]
    for call in calls:
        found, expected = call(model), call(before)
        assert found.dtype == expected.dtype
        assert torch.equal(found, expected)
        assert operators(lambda call=call: call(model)) == set()
    with pytest.raises(RuntimeError, match="must match the size"):
        model.norm(x[..., :7])
    with pytest.raises(TypeError, match="positional argument"):
        model.norm(x, x)


def test_compiled_before_and_after(model: Model, x: Tensor) -> None:
    """Right in any order; what is compiled after the replacement has the operators."""
    graphs: list[str] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> Callable[..., Any]:
        graphs.append(graph.code)
        return graph.forward

    compiled = torch.compile(model, fullgraph=True, backend=backend)
    expected = compiled(x)
    report = nn.replace(model)
    torch.testing.assert_close(compiled(x), expected)
    torch._dynamo.reset()
    torch.testing.assert_close(compiled(x), expected)
    assert "my_ops.rope" not in graphs[0]
    assert "my_ops.rope" in graphs[-1]
    count = len(graphs)
    compiled(x)
    assert len(graphs) == count
    report.undo()
    torch.testing.assert_close(compiled(x), expected)
    torch._dynamo.reset()


def test_meta_device() -> None:
    """What is seen without the module's numbers; the angles are such numbers."""
    with torch.device("meta"):
        model = Model()
    report = nn.replace(model)
    assert {one.name for one in report.replaced} == {*REPLACED} - {"attention"}
    assert report.left[0].reason == "what angles makes cannot be seen on the meta device"
    assert report.left[0].name == "attention"
    assert model(torch.empty(2, 3, 8, device="meta")).shape == (2, 3, 8)


class Scaled(RMSNorm):
    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return scale * super().forward(x)


class ScaledMLP(MLP):
    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return scale * super().forward(x)


class HeadsLast(Attention):
    def forward(self, x: Tensor, positions: tuple[Tensor, Tensor]) -> Tensor:
        heads = x.unflatten(-1, (2, 4))
        return apply_rotary(heads, heads, *positions, unsqueeze_dim=2)[0].flatten(2)


def test_arguments_that_operators_do_not_know(x: Tensor, device: str) -> None:
    """A factor, and heads in another place; as many heads as positions, so that no shape tells them apart."""
    torch.manual_seed(0)
    model = torch.nn.ModuleList([Scaled(), ScaledMLP(), HeadsLast(), Angles()]).to(device)
    positions = model[3](x, torch.arange(2, device=device).unsqueeze(0))

    def results() -> list[Tensor]:
        scaled = [module(x, scale=3.0) for module in model[:2]] + [module(x, 3.0) for module in model[:2]]
        return [*scaled, model[2](x[:, :2], positions)]

    expected = results()
    assert len(nn.replace(model).replaced) == 3
    assert all(torch.equal(one, other) for one, other in zip(results(), expected, strict=True))


def test_products_of_two_shapes(x: Tensor, device: str) -> None:
    """A projection to one column is broadcast."""
    mlp = MLP()
    mlp.up_proj = torch.nn.Linear(8, 1)
    expected = mlp.to(device)(x)
    assert len(nn.replace(mlp).replaced) == 1
    assert torch.equal(mlp(x), expected)


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_scripts_are_passed_over() -> None:
    model = torch.nn.Sequential(torch.jit.script(torch.nn.LayerNorm(8)))
    assert str(nn.replace(model)) == ""
    assert model(torch.ones(2, 8)).shape == (2, 8)


def test_autocast(model: Model, x: Tensor, device: str) -> None:
    """Norms of float32 and products of bfloat16: the dtypes of before, from operators."""
    with torch.autocast(device, torch.bfloat16):
        expected, inner = model(x), model.mlp(x)
        nn.replace(model)
        torch.testing.assert_close(model(x), expected, rtol=0.016, atol=0.016)
        assert (model(x).dtype, model.mlp(x).dtype) == (expected.dtype, inner.dtype) == (torch.float32, torch.bfloat16)
        assert {"my_ops::rms_norm", "my_ops::layer_norm", "my_ops::silu_mul"} <= operators(lambda: model(x))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(approximate: str, x: Tensor, device: str) -> None:
    mlp = MLP(torch.nn.GELU(approximate)).to(device)
    expected = gradients(mlp, x)
    assert nn.replace(mlp).replaced[0].operator == "my_ops::gelu_mul"
    torch.testing.assert_close(gradients(mlp, x), expected)


def test_other_names(x: Tensor, device: str) -> None:
    """A norm without `norm` in its name, and an eps of 0."""

    class Scale(RMSNorm):
        pass

    scale = Scale(eps=0.0).to(device)
    expected = scale(x)
    assert nn.replace(scale).replaced[0].name == ""
    torch.testing.assert_close(scale(x), expected)
    assert operators(lambda: scale(x)) == {"my_ops::rms_norm"}


def test_a_recorder_that_leaves_its_forward(model: Model, x: Tensor) -> None:
    """transformers 4 wraps modules for a call, and leaves their own forward bound to them."""
    model.norm.forward = model.norm.forward
    report = nn.replace(model)
    assert operators(lambda: model.norm(x)) == {"my_ops::rms_norm"}
    model.norm.forward = model.norm.forward
    report.undo()
    assert operators(lambda: model.norm(x)) == set()
