"""Calls that the schema itself refuses, and tensors of kinds that have no kernel: errors, never a crash."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map_only

import my_ops

THINGS = [None, 1, 1.5, "x", [1.0], object(), torch.float32, {}, [torch.ones(3)], torch.Size([3])]

OPERATORS = [name for name in my_ops.__all__ if hasattr(torch.ops.my_ops, name)]  # and not check_values or check_calls
# In-place variants say the texts of the operator that they are variants of.
NAMES = [name for name in OPERATORS if name.removesuffix("_") not in OPERATORS or not name.endswith("_")]


def _calls(device: str) -> dict[str, tuple[Any, ...]]:
    x, weight, rstd = (torch.ones(shape, device=device) for shape in ((2, 3), (3,), (2,)))
    heads, angles = torch.ones(1, 2, 3, 4, device=device), torch.ones(1, 2, 2, device=device)
    index = torch.tensor([0, 1], device=device)
    return {
        "square": (x,),
        "square_backward": (x, x),
        "rms_norm": (x, weight, 1e-6),
        "rms_norm_backward": (x, x, weight, rstd, 0.0),
        "add_rms_norm": (x, x, weight, 1e-6),
        "add_rms_norm_backward": (x, x, x, weight, rstd, 0.0),
        "layer_norm": (x, weight, weight, 1e-5),
        "layer_norm_backward": (x, x, weight, weight, rstd, rstd),
        "softmax": (x,),
        "softmax_backward": (x, x, 1.0, False),
        "softmax_triton": (x,),
        "softmax_triton_backward": (x, x),
        "silu_mul": (x, x),
        "silu_mul_backward": (x, x, x),
        "silu_mul_backward_backward": (x, x, x, x, x),
        "gelu_mul": (x, x),
        "gelu_mul_backward": (x, x, x, "none"),
        "gelu_mul_backward_backward": (x, x, x, x, x, "none"),
        "gather_rows": (x, index),
        "cross_entropy": (x, index),
        "cross_entropy_backward": (rstd, x, index, rstd, -100, 0.0, 0.0),
        "cross_entropy_gradient_": (x, index),
        "quantize_per_token": (x,),
        "rms_norm_quantize": (x, weight, 1e-6),
        "adamw_step": ([x], [x + 1], [x + 2], [x + 3], 1),
        "global_norm": ([x],),
        "rope": (heads, heads, angles, angles),
        "rope_backward": (heads, heads, angles, angles, False),
    }


def _lists_tensors(thing: Any) -> bool:
    return isinstance(thing, list) and all(isinstance(one, torch.Tensor) for one in thing)


@pytest.mark.parametrize("name", NAMES)
def test_no_tensor(device: str, name: str) -> None:
    """Everything in the place of every tensor, and everything but numbers in the place of numbers."""
    right = _calls(device)[name]
    arguments = getattr(torch.ops.my_ops, name).default._schema.arguments
    for function in (getattr(my_ops, name), getattr(torch.ops.my_ops, name)):
        function(*right)
        for position in range(len(right)):
            for thing in THINGS:
                if thing is None and arguments[position].type.kind() == "OptionalType":
                    continue
                if isinstance(right[position], (int, float)) and isinstance(thing, (int, float)):
                    continue
                if len(right) == 1 and all(map(_lists_tensors, (right[0], thing))):
                    continue
                # For every operator of PyTorch None is false, and a dtype is a whole number.
                if (type(right[position]), type(thing)) in ((bool, type(None)), (int, torch.dtype)):
                    continue
                with pytest.raises((RuntimeError, TypeError), match=name) as caught:
                    function(*right[:position], thing, *right[position + 1 :])
                kind = str(arguments[position].type)
                # Without any tensor PyTorch finds no kernel that could say so.
                seen = thing is None and sum(isinstance(value, torch.Tensor) for value in right) > 1
                if "Tensor" in kind and (seen or function is not getattr(torch.ops.my_ops, name)):
                    if "List" in kind and isinstance(thing, (list, tuple)):
                        continue  # test_lists.py of the conformance project
                    wanted = "a tensor or None" if kind.startswith("Optional") else "a tensor"
                    wanted = "a list of tensors" if "List" in kind else wanted
                    got = "None" if thing is None else type(thing).__name__
                    text = f"my_ops::{name}: {arguments[position].name}: expected {wanted}, got {got}"
                    assert str(caught.value) == text


def test_no_scalar(device: str) -> None:
    """Scalars that are of the right Python type, and do not fit all the same, and what a dtype is called."""
    x, target = torch.ones(2, 3, device=device), torch.zeros(2, dtype=torch.int64, device=device)
    too_large = (
        "my_ops::cross_entropy: ignore_index: expected int, got 9223372036854775808, which PyTorch cannot pass on"
    )
    for call, text in (
        (lambda: my_ops.cross_entropy(x, target, 2**63), too_large),
        (lambda: my_ops.cross_entropy(x, target, 1.5), "my_ops::cross_entropy: ignore_index: expected int, got float"),
        (
            lambda: my_ops.quantize_per_token(x, dtype="int8"),
            "my_ops::quantize_per_token: dtype: expected dtype, got str",
        ),
        (lambda: my_ops.rms_norm(x, eps=None), "my_ops::rms_norm: eps: expected float, got None"),
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert str(caught.value) == text


@pytest.mark.parametrize("name", NAMES)
def test_number_of_arguments(device: str, name: str) -> None:
    right = _calls(device)[name]
    for function in (getattr(my_ops, name), getattr(torch.ops.my_ops, name)):
        for arguments in ((), (*right, 1, 2, 3)):
            with pytest.raises((RuntimeError, TypeError), match=name):
                function(*arguments)
        with pytest.raises((RuntimeError, TypeError), match=name):
            function(*right, unknown=1)


@pytest.mark.parametrize("name", NAMES)
def test_kinds_of_tensors(device: str, name: str) -> None:
    """Sparse and nested tensors are refused; meta tensors work."""
    right = _calls(device)[name]
    listed = isinstance(right[0], list)
    x = right[0][0] if listed else right[0]
    strange = [
        x.to_sparse(),
        torch.nested.nested_tensor([x, x]),
        x.to_mkldnn() if device == "cpu" else torch.ones(2, 3, device=device).to_sparse_csr(),
    ]
    for function in (getattr(my_ops, name), getattr(torch.ops.my_ops, name)):
        for tensor in strange:
            with pytest.raises(RuntimeError):  # PyTorch's own NotImplementedError is one
                function([tensor] if listed else tensor, *right[1:])
        results = function(*tree_map_only(torch.Tensor, lambda value: value.to("meta"), right))
        for result in tree_leaves(results) if results is not None else ():
            assert result.device.type == "meta"


def test_numbers_of_another_kind() -> None:
    """What PyTorch refuses in terms of an internal operator, the wrapper says of the operator itself; and anything else
    that goes wrong is left as it is.
    """
    x = torch.ones(2, 3)
    for given in (x, x.clone().requires_grad_()):
        with pytest.raises(RuntimeError, match=r"^my_ops::rms_norm: eps: expected float, got str$"):
            my_ops.rms_norm(given, None, "small")  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match=r"^my_ops::rms_norm: eps: expected float, got None$"):
            my_ops.rms_norm(given, eps=None)  # type: ignore[arg-type]
        with pytest.raises(RuntimeError, match=r"^my_ops::rms_norm: expected eps >= 0, got eps = -1$") as caught:
            my_ops.rms_norm(given, eps=-1)
        assert caught.value.__cause__ is None


def test_conjugate_and_negative_bits(device: str) -> None:
    """Views that only carry a bit are resolved before a kernel sees them."""
    table = torch.randn(3, 4, dtype=torch.complex64, device=device)
    index = torch.tensor([2, 0], device=device)
    assert torch.equal(my_ops.gather_rows(table.conj(), index), table[index].conj().resolve_conj())
    negative = torch.imag(table.conj())
    assert negative.is_neg()
    assert torch.equal(my_ops.gather_rows(negative, index), negative[index].resolve_neg())


@pytest.mark.parametrize("packet", [my_ops, torch.ops.my_ops], ids=["wrapper", "torch.ops"])
def test_negative_bits_beside_what_is_written(packet: Any, device: str) -> None:
    """What is only read may have them, in lists too."""
    grad = torch.randn(5, dtype=torch.complex64, device=device).conj().imag
    assert grad.is_neg()
    params, firsts, seconds = [[torch.ones(5, device=device), torch.ones(5, device=device)] for _ in range(3)]
    packet.adamw_step(params[:1], [grad], firsts[:1], seconds[:1], 1)
    packet.adamw_step(params[1:], [grad.resolve_neg()], firsts[1:], seconds[1:], 1)
    for one, other in (params, firsts, seconds):
        assert torch.equal(one, other)
        assert one._version == 1


def test_integer_for_a_float(device: str) -> None:
    x, weight = torch.randn(2, 3, device=device), torch.ones(3, device=device)
    assert torch.equal(my_ops.rms_norm(x, weight, 1), my_ops.rms_norm(x, weight, 1.0))


@pytest.mark.parametrize("eps", [float("nan"), -0.5, -1e-300, -float("inf")])
def test_floats_are_spelled(device: str, eps: float) -> None:
    x, weight = torch.ones(2, 3, device=device), torch.ones(3, device=device)
    with pytest.raises(RuntimeError) as caught:
        my_ops.rms_norm(x, weight, eps)
    assert str(caught.value) == f"my_ops::rms_norm: expected eps >= 0, got eps = {eps:g}"
    with pytest.raises(RuntimeError) as caught:
        my_ops.rms_norm(x.to("meta"), weight.to("meta"), eps)
    assert str(caught.value) == f"my_ops::rms_norm: expected eps >= 0, got eps = {eps:g}"


class Model(torch.nn.Module):
    """A module that calls the operators in both ways."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return my_ops.rms_norm(x, self.weight) + torch.ops.my_ops.square(x)


def test_modules_copy_and_pickle(device: str) -> None:
    model = Model().to(device)
    x = torch.randn(4, 8, device=device)
    expected = model(x)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(other(x), expected)
    assert pickle.loads(pickle.dumps(my_ops.rms_norm)) is my_ops.rms_norm
    expected.sum().backward()
    assert model.weight.grad is not None


@pytest.mark.parametrize("name", NAMES)
def test_too_many_dimensions(device: str, name: str) -> None:
    """torch.ones takes any number of them; what is fake says the same."""
    right = _calls(device)[name]
    for position, argument in enumerate(right):
        if not isinstance(argument, torch.Tensor):
            continue
        many = torch.ones([1] * 65, dtype=argument.dtype, device=device)
        wrong = [*right[:position], many, *right[position + 1 :]]
        text = f"my_ops::{name}: [a-z_]*: expected at most 64 dimensions, got 65"
        with pytest.raises(RuntimeError, match=text) as real:
            getattr(my_ops, name)(*wrong)
        with FakeTensorMode() as mode:
            wrong = [mode.from_tensor(thing) if isinstance(thing, torch.Tensor) else thing for thing in wrong]
            with pytest.raises(RuntimeError) as fake:
                getattr(my_ops, name)(*wrong)
        assert str(real.value) in str(fake.value)
