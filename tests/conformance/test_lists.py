"""Lists of tensors: which elements may lie on which others, and lists of other lengths than generated tests have."""

from __future__ import annotations

import random
from typing import Any

import conformance
import pytest
import torch

X = torch.ones(3, dtype=torch.float64)


def outcome(xs: list[torch.Tensor], factors: list[torch.Tensor]) -> str:
    """What is wrong with scaling xs, "" when nothing is."""
    try:
        conformance.scale_list(xs, factors, torch.ones(2, dtype=xs[0].dtype))
    except RuntimeError as error:
        return str(error).removeprefix("conformance::scale_list: ")
    return ""


def places(view: torch.Tensor) -> set[int]:
    """Where each element of a view of one dim lies."""
    return {view.storage_offset() + i * view.stride(0) for i in range(view.shape[0])}


@pytest.mark.parametrize("seed", range(10))
def test_overlap_is_found_exactly(seed: int) -> None:
    choose, found = random.Random(seed), set()
    for _ in range(200):
        memory = torch.ones(400)
        views = [
            memory.as_strided((choose.randint(0, 8),), (choose.randint(1, 9),), choose.randint(0, 300))
            for _ in range(choose.randint(1, 6))
        ]
        at = [places(view) for view in views]
        pairs = [(j, i) for i in range(len(views)) for j in range(i) if at[i] & at[j]]
        text = outcome(views, [torch.ones_like(view) for view in views])
        assert (text == "") == (not pairs)
        assert text in ["", *(f"xs[{i}]: expected no overlap with xs[{j}]" for j, i in pairs)]
        found.add(text == "")
    assert found == {True, False}


def test_overlap_with_another_list() -> None:
    memory = torch.ones(4, 10)
    rows = list(memory)
    assert outcome(rows[:2], rows[2:]) == ""
    assert outcome([rows[0], rows[2]], [rows[1], rows[2]]) == "xs[1]: expected no overlap with factors[1]"
    assert outcome([rows[0][:5], rows[2]], [rows[3][:5], rows[0]]) == "xs[0]: expected no overlap with factors[1]"
    assert outcome([rows[0][::2]], [rows[0][1::2]]) == ""


def test_long_lists() -> None:
    xs = [torch.full((i % 7,), float(i), dtype=torch.float64) for i in range(3000)]
    factors = [torch.full_like(x, 2.0) for x in xs]
    assert outcome(xs, factors) == ""
    assert all(torch.equal(x, torch.full_like(x, 4.0 * i)) for i, x in enumerate(xs))
    assert outcome([*xs, xs[1]], [*factors, factors[1]]) == "xs[3000]: expected no overlap with xs[1]"


def test_a_tuple_is_as_good_as_a_list() -> None:
    xs = (torch.ones(2), torch.ones(3, 1))
    assert torch.equal(conformance.list_norm(xs)[1], torch.tensor([2.0, 3.0]))
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="no gradient is declared"):
        conformance.list_norm((xs[0], leaf))[0].sum().backward()


@pytest.mark.parametrize("packet", [conformance, torch.ops.conformance], ids=["wrapper", "torch.ops"])
def test_views_that_negate_or_conjugate_in_optional_lists(packet: Any) -> None:
    """PyTorch does not resolve these in lists that may lack tensors, as it does elsewhere."""
    x = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex64)
    negated = x.conj().imag
    assert (negated.is_neg(), x.conj().is_conj()) == (True, True)
    assert torch.equal(packet.some_firsts(x, [x.conj(), None, x]), torch.tensor([1 - 2j, 1 + 2j, 1 + 2j]))
    assert torch.equal(packet.some_firsts(torch.ones(2), [None, negated]), torch.tensor([1.0, -2.0]))
    y = packet.maybe_lists([None], [None], torch.ones(2, dtype=torch.float16), [negated], [None], counts=[None])[1]
    assert y.item() == 1 - 2 + 4


@pytest.mark.parametrize("packet", [conformance, torch.ops.conformance], ids=["wrapper", "torch.ops"])
def test_each_tensor_of_a_list_is_broadcast_in_its_own_way(packet: Any) -> None:
    """Also one that only negates another; its gradient has the sizes that it came with."""
    make = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=make)

    xs = [drawn(2, 3, 4), drawn(5), drawn(0, 2), drawn(3, 1)]
    negated = torch._neg_view(drawn(3, 1))
    biases = [negated, drawn(1), None, drawn()]
    scales, terms, by = [drawn(4), drawn(5), drawn(1, 2), drawn(1, 1)], [drawn(1, 3), drawn(), drawn(2, 3)], drawn(3)
    for leaf in (*xs, *scales, *terms, biases[1], biases[3]):
        leaf.requires_grad_()
    ys, sums = packet.biased_lists(xs, biases, scales, by=by, terms=terms)
    wanted = [x * s + (0 if b is None else b) for x, b, s in zip(xs, biases, scales, strict=True)]
    torch.testing.assert_close([*ys, *sums], [*wanted, *((by * t.expand(2, 3)).sum() for t in terms)])
    leaves = [leaf for leaf in (*xs, *biases, *scales, *terms) if leaf is not None and leaf.requires_grad]
    assert len(leaves) == 13
    found = torch.autograd.grad(sum(y.sum() for y in (*ys, sums)), leaves)
    again = torch.autograd.grad(sum(y.sum() for y in wanted) + sum((by * t.expand(2, 3)).sum() for t in terms), leaves)
    torch.testing.assert_close(found, again)


def test_lines_see_one_tensor_of_each_list_at_a_time() -> None:
    """Some without elements, some that take several launches, each with sizes and strides of its own."""
    make = torch.Generator().manual_seed(0)
    shapes = [(0, 3), (2, 3, 2, 3, 2, 5), (4,), (2, 0), (3, 1)]
    xs = [torch.randn(shape, dtype=torch.float64, generator=make) for shape in shapes]
    xs[1] = xs[1].permute(5, 2, 0, 3, 1, 4)
    gates = [torch.randn(x.shape[-1:], dtype=torch.float64, generator=make) for x in xs]
    for leaf in (xs[1], xs[4], gates[1], gates[2]):
        leaf.requires_grad_()
    ys, parts = conformance.gated_lists(xs, gates, X[0])
    wanted = [x * torch.sigmoid(gate) for x, gate in zip(xs, gates, strict=True)]
    torch.testing.assert_close(ys, wanted)
    torch.testing.assert_close(parts, [2 * x * x / x.shape[-1] for x in xs])
    assert [y.stride() for y in ys] == [torch.empty_like(x).stride() for x in xs]
    leaves = [xs[1], xs[4], gates[1], gates[2]]
    found = torch.autograd.grad(sum((y * y).sum() for y in ys), leaves)
    torch.testing.assert_close(found, torch.autograd.grad(sum((y * y).sum() for y in wanted), leaves))


def test_lists_that_lack_tensors_compile() -> None:
    """Also where which are absent changes from call to call."""
    compiled = torch.compile(conformance.some_firsts, fullgraph=True, backend="aot_eager")
    x, ones = torch.zeros(2), torch.ones(2, 3)
    for xs in ([ones, None], [None, ones], [None, None], [ones]):
        assert torch.equal(compiled(x, xs), conformance.some_firsts(x, xs))


@pytest.mark.parametrize("packet", [conformance, torch.ops.conformance], ids=["wrapper", "torch.ops"])
def test_sparse_tensors_are_refused(packet: Any) -> None:
    """With all tensors in lists the operator has a kernel for calls without any, and these end up there."""
    with pytest.raises(RuntimeError, match=r"conformance::list_norm: (.*sparse|aoti_torch_copy_ failed)"):
        packet.list_norm([torch.ones(2, 2).to_sparse()])


def somewhere(grad: bool) -> torch.Tensor:
    """Two elements to write to, of which autograd keeps a history or not."""
    return torch.full((2,), 7.0, requires_grad=grad) * 1


@pytest.mark.parametrize("grad", [False, True])
def test_lists_of_the_caller_are_filled_and_returned(grad: bool) -> None:
    """Whatever lies in them; where autograd records, the operator runs, and its results are copied."""
    xs, x = [torch.ones(3), torch.zeros(4)], torch.tensor([2.0, 3.0])
    ys, y = [torch.full((3,), 7.0), torch.full((8,), 7.0)[::2]], somewhere(grad)
    found = conformance.shifted_list(xs, x, ys=ys, y=y)
    assert found[0] is ys
    assert found[1] is y
    torch.testing.assert_close(found, conformance.shifted_list(xs, x))
    given, y = tuple(one.clone() for one in xs), x * somewhere(grad) / 7
    assert conformance.shifted_list_(given, y)[0] is given
    torch.testing.assert_close((list(given), y), found)


@pytest.mark.parametrize("grad", [False, True])
def test_written_lists_keep_apart(grad: bool) -> None:
    """From other arguments and among their own tensors, also in long lists; and they are as long as the list."""
    rows, others = list(torch.ones(3000, 4)), list(torch.zeros(3000, 4))
    x = torch.tensor([2.0, 3.0])
    wrong = {
        "ys[2999]: expected no overlap with ys[1]": (rows, [*others[:-1], others[1]], somewhere(grad)),
        "ys[1]: expected no overlap with xs[2999]": (rows, [others[0], rows[2999], *others[2:]], somewhere(grad)),
        "y: expected no overlap with ys[0]": ([x], [whole := somewhere(grad)], whole),
        "ys: expected 3000 tensors (as xs), got 2": (rows, others[:2], somewhere(grad)),
        "ys[1]: expected a tensor, got None": (rows[:2], [others[0], None], somewhere(grad)),
        "ys: expected a list of tensors, got int": (rows, 3, somewhere(grad)),
        "ys: expected a list of tensors, as for the other outputs": (rows, None, somewhere(grad)),
        "y: expected a tensor, as for the other outputs": (rows, others, None),
    }
    for text, (xs, ys, y) in wrong.items():
        with pytest.raises(RuntimeError) as caught:
            conformance.shifted_list(xs, x, ys=ys, y=y)
        assert str(caught.value) == f"conformance::shifted_list: {text}"
    conformance.shifted_list(rows, x, ys=others, y=somewhere(grad))  # views of one tensor are no reason
    with pytest.raises(RuntimeError, match=r"xs\[2\]: expected no overlap with xs\[0\]$"):
        conformance.shifted_list_([*rows[:2], rows[0]], somewhere(grad))


@pytest.mark.parametrize(
    ("operator", "arguments", "text"),
    [
        ("squared_list", (None, X[0]), "xs: expected a list of tensors, got None"),
        ("squared_list", (X, X[0]), "xs: expected a list of tensors, got Tensor"),
        ("squared_list", ([X, None], X[0]), "xs[1]: expected a tensor, got None"),
        ("squared_list", ([X, [1.0]], X[0]), "xs[1]: expected a tensor, got list"),
        ("added_lists", (X, None), "xs: expected a list of tensors, got None"),
        ("added_lists", (X, [None, 1.0]), "xs[1]: expected a tensor or None, got float"),
        ("added_lists", (X, [X], [X, None]), "more[1]: expected a tensor, got None"),
        ("added_lists", (X, [X], X), "more: expected a list of tensors, got Tensor"),
        ("scale_list", ([X, None], [X, X], X[:2]), "xs[1]: expected a tensor, got None"),
        ("scale_list", ([X], [X], 2.0), "by: expected a tensor, got float"),
        ("list_sum_", (X.float(), None), "xs: expected a list of tensors, got None"),
        ("shifted_list_", (X.float(), X[:2]), "xs: expected a list of tensors, got Tensor"),
        ("shifted_list_", (2, X[:2].float()), "xs: expected a list of tensors, got int"),
    ],
)
@pytest.mark.parametrize("grad", [False, True])
def test_what_is_no_list_of_tensors(operator: str, arguments: tuple[Any, ...], text: str, grad: bool) -> None:
    last = arguments[-1]
    if grad and isinstance(last, torch.Tensor):
        arguments = (*arguments[:-1], last.clone().requires_grad_())
    with pytest.raises(RuntimeError) as caught:
        getattr(conformance, operator)(*arguments)
    assert str(caught.value) == f"conformance::{operator}: {text}"


def test_gradients_that_are_not_wanted_have_no_memory() -> None:
    """Of a list as well: what a call allocates are the gradients of the tensors that require them."""
    xs = [torch.ones(1000, dtype=torch.float64, requires_grad=i == 1) for i in range(3)]
    ys, sums = conformance.squared_list(xs, X[0])
    loss = sum(y.sum() for y in ys) + sums.sum()
    with torch.profiler.profile(profile_memory=True) as profiler:
        loss.backward()
    made = [event.self_cpu_memory_usage for event in profiler.events() if "squared_list_backward" in event.name]
    assert 1000 * 8 <= sum(made) < 2 * 1000 * 8
    assert [x.grad is None for x in xs] == [True, False, True]


@pytest.mark.parametrize("packet", [conformance, torch.ops.conformance], ids=["wrapper", "torch.ops"])
def test_more_elements_than_can_be_counted(packet: Any) -> None:
    """In all tensors of a list together; they have memory for one."""
    huge, x = torch.ones(()).expand(2**31, 2**31), torch.ones(2)
    few = packet.joined_list(x, [x, None, torch.zeros(1, 3)])
    assert torch.equal(few, torch.tensor([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
    with pytest.raises(
        RuntimeError, match=r"joined_list: expected numel\(xs\) < 4000000000, got numel\(xs\) = 4611686"
    ):
        packet.joined_list(x, [huge, None])
    with (
        pytest.raises(RuntimeError, match=r"joined_list: numel\(xs\) < 4000000000 does not fit"),
        torch._subclasses.FakeTensorMode() as mode,
    ):
        packet.joined_list(mode.from_tensor(x), [mode.from_tensor(huge)] * 2)
    with pytest.raises(RuntimeError, match=r"joined_list: numel\(xs\) < 4000000000 does not fit"):
        packet.joined_list(x, [huge, huge])


def test_batches_of_lists() -> None:
    """torch.vmap calls the operator for each part, and looks at each tensor of a list: some may be absent, or have no
    batch.
    """
    x, first, more = (torch.randn(*sizes, dtype=torch.float64) for sizes in ((3, 4), (4, 3), (2,)))
    found = torch.vmap(lambda x, one: conformance.added_lists(x, [one, None], [more]), (0, 1))(x, first)
    parts = [conformance.added_lists(x[i], [first[:, i], None], [more]) for i in range(3)]
    assert torch.equal(found, torch.stack(parts))
    empty = torch.vmap(lambda x: conformance.added_lists(x, [x], None))(x[:0])
    assert empty.shape == (0, 4)


def test_batch_in_a_list_that_may_be_none() -> None:
    """PyTorch looks for none there, and would speak of itself."""
    x, more = torch.ones(4, dtype=torch.float64), torch.ones(3, 2, dtype=torch.float64)
    text = r"^conformance::added_lists: more: torch.vmap finds no batch in a list that may be None; give another"
    with pytest.raises(RuntimeError, match=text):
        torch.vmap(lambda one: conformance.added_lists(x, [x], [one]))(more)
    y = torch.vmap(lambda x, one: conformance.added_lists(x, [x], [one]))(x.expand(3, 4), more)
    assert torch.equal(y, conformance.added_lists(x, [x], [more[0]]).expand(3, 4))
