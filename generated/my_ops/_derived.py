"""The references of gradient operators of my_ops that were derived: PyTorch's gradient of what the
operator computes that one belongs to.
"""
# mypy: disable-error-code="no-any-return,no-untyped-call"

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Derived:
    """What a gradient operator is the gradient of: a function with these arguments and outputs, by its inputs in
    `wanted`. The function is a reference, or, with `of`, itself the gradient of one.
    """

    tensors: Mapping[str, str]  # and their dtypes in the usual call
    scalars: Mapping[str, Any]
    outputs: tuple[str, ...]
    wanted: tuple[str, ...]
    of: Derived | None = None
    lists: tuple[str, ...] = ()  # which of the tensors are lists; then all outputs are

    @property
    def first(self) -> Derived:
        """That of the operator itself, whose arguments and outputs are those of the reference."""
        return self if self.of is None else self.of.first

    def function(self, reference: Callable[..., Any]) -> Callable[..., Any]:
        """The reference of the gradient operator. Tensors are broadcast to the shape of the gradients that it takes;
        what it does not take makes no difference.
        """
        inner = self.of.function(reference) if self.of is not None else reference

        def of_lists(**given: Any) -> tuple[list[torch.Tensor], ...]:
            lists = {name: value for name, value in given.items() if isinstance(value, list)}
            each = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
            found = [gradients(**{**given, **one}) for one in each]
            return tuple(map(list, zip(*found, strict=True)))

        def gradients(**given: Any) -> tuple[Any, ...]:
            upstream = [given[f"grad_{name}"] for name in self.outputs]
            like = next(gradient for gradient in upstream if gradient is not None)
            with torch.enable_grad():
                inputs = {name: self._input(name, given, like) for name in self.tensors}
                scalars = {name: given.get(name, value) for name, value in self.scalars.items()}
                of_one = {name: [value] if name in self.lists else value for name, value in inputs.items()}
                results = inner(**of_one, **scalars)
                results = results if isinstance(results, tuple) else (results,)
                results = tuple(one[0] if isinstance(one, list) else one for one in results)
                both = zip(self._floating(results), upstream, strict=True)
                pairs = [(r, g) for r, g in both if g is not None and r is not None and r.requires_grad]
                leaves = {name: inputs[name] for name in self.wanted if inputs[name] is not None}
                found = (
                    torch.autograd.grad(
                        [r for r, _ in pairs],
                        list(leaves.values()),
                        [g for _, g in pairs],
                        create_graph=True,
                        allow_unused=True,
                    )
                    if pairs and leaves
                    else [None] * len(leaves)
                )
                by_name = dict(zip(leaves, found, strict=True))
                zero = torch.zeros_like(like)
                return tuple(zero if by_name.get(name) is None else by_name[name] for name in self.wanted)

        return of_lists if self.lists else gradients

    def _input(self, name: str, given: Mapping[str, Any], like: torch.Tensor) -> Any:
        tensor = given.get(name)
        if tensor is None and name in given:
            return None
        if tensor is None:
            usual = getattr(torch, self.tensors[name])
            dtype = torch.complex128 if usual.is_complex else torch.float64 if usual.is_floating_point else usual
            tensor = torch.zeros(like.shape, dtype=dtype, device=like.device)
        tensor = tensor.expand(like.shape)
        if name not in self.wanted:
            return tensor
        return tensor.clone() if tensor.requires_grad else tensor.clone().requires_grad_()

    def _floating(self, results: tuple[torch.Tensor | None, ...]) -> list[torch.Tensor | None]:
        """The results that have a gradient, which are those of `outputs`; None for one that is not there."""
        return [result for result in results if result is None or result.is_floating_point() or result.is_complex()]
