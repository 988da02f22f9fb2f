"""Tests of my_ops::softmax_backward, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="softmax_backward",
    arguments=("grad_y", "y", "scale", "causal"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"grad_y": "T", "y": "T"},
    scalars={"scale": 1.0, "causal": True},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"grad_x": "T", "grad_bias": "acc(T)"},
    saved={},
    mask=True,
    autograd="missing",
    second="",
    backward="",
    gradients=("grad_y", "y"),
    kept=(),
    reference="softmax_backward",
    tolerance={},
)
# The first is the usual call.
SAMPLES = [
    {"grad_y": (2, 3, 7, 9), "y": (2, 3, 7, 9)},
    {"grad_y": (7, 9), "y": (7, 9)},
    {"grad_y": (1, 7, 9), "y": (1, 7, 9)},
    {"grad_y": (3, 7, 9), "y": (3, 7, 9)},
    {"grad_y": (0, 7, 9), "y": (0, 7, 9)},
    {"grad_y": (3, 0, 2, 7, 9), "y": (3, 0, 2, 7, 9)},
    {"grad_y": (1, 5, 1, 7, 9), "y": (1, 5, 1, 7, 9)},
    {"grad_y": (2, 3, 1, 9), "y": (2, 3, 1, 9)},
    {"grad_y": (2, 3, 2, 9), "y": (2, 3, 2, 9)},
    {"grad_y": (2, 3, 33, 9), "y": (2, 3, 33, 9)},
    {"grad_y": (2, 3, 64, 9), "y": (2, 3, 64, 9)},
    {"grad_y": (2, 3, 1000, 9), "y": (2, 3, 1000, 9)},
    {"grad_y": (2, 3, 1024, 9), "y": (2, 3, 1024, 9)},
    {"grad_y": (2, 3, 1100, 9), "y": (2, 3, 1100, 9)},
    {"grad_y": (2, 3, 0, 9), "y": (2, 3, 0, 9)},
    {"grad_y": (2, 3, 7, 1), "y": (2, 3, 7, 1)},
    {"grad_y": (2, 3, 7, 2), "y": (2, 3, 7, 2)},
    {"grad_y": (2, 3, 7, 7), "y": (2, 3, 7, 7)},
    {"grad_y": (2, 3, 7, 33), "y": (2, 3, 7, 33)},
    {"grad_y": (2, 3, 7, 64), "y": (2, 3, 7, 64)},
    {"grad_y": (2, 3, 7, 1000), "y": (2, 3, 7, 1000)},
    {"grad_y": (2, 3, 7, 1024), "y": (2, 3, 7, 1024)},
    {"grad_y": (2, 3, 7, 1100), "y": (2, 3, 7, 1100)},
    {"grad_y": (2, 3, 7, 0), "y": (2, 3, 7, 0)},
    {"grad_y": (2, 3, 7, 9), "y": (2, 3, 7, 9), "causal": False},
    {"grad_y": (70001, 7, 9), "y": (70001, 7, 9)},
]
GROWING = [
    {"grad_y": (2, 7, 12, 22), "y": (2, 7, 12, 22)},
    {"grad_y": (3, 8, 13, 23), "y": (3, 8, 13, 23)},
    {"grad_y": (4, 9, 14, 24), "y": (4, 9, 14, 24)},
    {"grad_y": (5, 10, 15, 25), "y": (5, 10, 15, 25)},
]
LARGE = [
    {"grad_y": (34087200, 7, 9), "y": (34087200, 7, 9)},
    {"grad_y": (2, 3, 39768400, 9), "y": (2, 3, 39768400, 9)},
    {"grad_y": (2, 3, 7, 51130801), "y": (2, 3, 7, 51130801)},
]
WRONG = [
    Wrong({"grad_y": Tensor("float64", (1,) * 65)}, "grad_y: expected at most 64 dimensions, got 65"),
    Wrong({"y": Tensor("float64", (1,) * 65)}, "y: expected at most 64 dimensions, got 65"),
    Wrong(
        {"grad_y": Tensor("int32", (2, 3, 7, 9))},
        "grad_y: expected dtype float64, float32, float16 or bfloat16, got int32",
    ),
    Wrong({"y": Tensor("int32", (2, 3, 7, 9))}, "y: expected dtype float64 (as grad_y), got int32"),
    Wrong({"y": Tensor("float64", (2, 3, 7, 9), other=True)}, "y: expected device {device} (as grad_y), got {other}"),
    Wrong({"grad_y": Tensor("float64", (2,))}, "grad_y: expected at least 2 dimensions, got 1"),
    Wrong({"y": Tensor("float64", (2,))}, "y: expected at least 2 dimensions, got 1"),
    Wrong(
        {"y": Tensor("float64", (2, 4, 7, 9))},
        "y: expected shape [*batch, m, n] with batch = [2, 3] (from grad_y), m = 7 (from grad_y), n = 9 (from grad_y), got [2, 4, 7, 9]",
    ),
    Wrong(
        {"y": Tensor("float64", (1, 2, 3, 7, 9))},
        "y: expected shape [*batch, m, n] with batch = [2, 3] (from grad_y), m = 7 (from grad_y), n = 9 (from grad_y), got [1, 2, 3, 7, 9]",
    ),
    Wrong(
        {"y": Tensor("float64", (2, 3, 8, 9))},
        "y: expected shape [*batch, m, n] with batch = [2, 3] (from grad_y), m = 7 (from grad_y), n = 9 (from grad_y), got [2, 3, 8, 9]",
    ),
    Wrong(
        {"y": Tensor("float64", (2, 3, 7, 10))},
        "y: expected shape [*batch, m, n] with batch = [2, 3] (from grad_y), m = 7 (from grad_y), n = 9 (from grad_y), got [2, 3, 7, 10]",
    ),
    Wrong({"grad_mask": [True, True, True]}, "grad_mask: expected 2 bools, got 3"),
]
# Any two values of two axes meet in a case.
AXES = {
    "mode": matrix.MODES,
    "entry": matrix.ENTRY_POINTS,
    "dtypes": OP.choices(),
    "layout": LAYOUTS,
    "sample": range(len(SAMPLES)),
}


def test_case(device, case):
    matrix.run(OP, SAMPLES, case, device)


@pytest.mark.parametrize("dtypes", OP.choices(), ids="-".join)
def test_special_values(device, dtypes):
    forward.special_values(OP, device, dtypes, SAMPLES[0])


def test_call_styles(device):
    forward.call_styles(OP, device, SAMPLES[0])


def test_direct(device):
    direct.agrees(OP, device, SAMPLES)


def test_one_tensor_for_all(device):
    forward.one_tensor_for_all(OP, device, SAMPLES[0])


def test_copies(device):
    forward.copies(OP, device, SAMPLES[0])


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_opcheck(device, grad):
    forward.passes_opcheck(OP, device, SAMPLES[0], grad=grad)


def test_masks(device):
    forward.masks_agree(OP, device, SAMPLES[0])


def test_batch(device):
    batched.agrees(OP, device, SAMPLES[0])


def test_gradient_is_missing(device):
    gradients.missing(OP, device, SAMPLES[0])


def test_gradient_is_missing_compiled(device):
    compiled.missing(OP, device, SAMPLES[0])


def test_compiled_dynamic(device):
    compiled.dynamic(OP, device, GROWING)


def test_compiled_inductor(device):
    compiled.inductor(OP, device, SAMPLES[0])


def test_export(device):
    compiled.exports(OP, device, SAMPLES[0])


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.text)
def test_refused(device, wrong):
    refused.eager(OP, device, SAMPLES[0], wrong)


@pytest.mark.parametrize(
    "wrong", [wrong for wrong in WRONG if not (wrong.elements or wrong.memory)], ids=lambda wrong: wrong.text
)
def test_refused_fake(device, wrong):
    refused.fake(OP, device, SAMPLES[0], wrong)


def test_refused_compiled(device):
    refused.compiled(OP, device, SAMPLES[0], WRONG[0])


@pytest.mark.cuda
def test_graph_capture(device):
    cuda.graph_capture(OP, __file__)


@pytest.mark.cuda(devices=2)
def test_other_device(device):
    cuda.other_device(OP, SAMPLES[0])


@pytest.mark.cuda
def test_fresh_thread(device):
    cuda.fresh_thread(OP, device, SAMPLES[0])


@pytest.mark.cuda
def test_no_synchronisation(device):
    cuda.no_synchronisation(OP, device, SAMPLES)


@pytest.mark.cuda
def test_beyond_32_bits(device):
    cuda.beyond_32_bits(OP, device, LARGE, SAMPLES[0])
