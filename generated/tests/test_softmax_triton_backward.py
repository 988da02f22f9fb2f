"""Tests of my_ops::softmax_triton_backward, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="softmax_triton_backward",
    arguments=("grad_y", "y"),
    keywords=(),
    types={"T": ("float32", "float16", "bfloat16")},
    tensors={"grad_y": "T", "y": "T"},
    scalars={},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"grad_x": "T"},
    saved={},
    mask=False,
    autograd="missing",
    second="",
    backward="",
    gradients=("grad_y", "y"),
    kept=(),
    reference="softmax_triton_backward",
    tolerance={},
)
# The first is the usual call.
SAMPLES = [
    {"grad_y": (2, 3, 7), "y": (2, 3, 7)},
    {"grad_y": (7,), "y": (7,)},
    {"grad_y": (1, 7), "y": (1, 7)},
    {"grad_y": (3, 7), "y": (3, 7)},
    {"grad_y": (0, 7), "y": (0, 7)},
    {"grad_y": (3, 0, 2, 7), "y": (3, 0, 2, 7)},
    {"grad_y": (1, 5, 1, 7), "y": (1, 5, 1, 7)},
    {"grad_y": (2, 3, 1), "y": (2, 3, 1)},
    {"grad_y": (2, 3, 2), "y": (2, 3, 2)},
    {"grad_y": (2, 3, 33), "y": (2, 3, 33)},
    {"grad_y": (2, 3, 64), "y": (2, 3, 64)},
    {"grad_y": (2, 3, 1000), "y": (2, 3, 1000)},
    {"grad_y": (2, 3, 1024), "y": (2, 3, 1024)},
    {"grad_y": (2, 3, 1100), "y": (2, 3, 1100)},
    {"grad_y": (2, 3, 0), "y": (2, 3, 0)},
    {"grad_y": (70001, 7), "y": (70001, 7)},
]
GROWING = [
    {"grad_y": (2, 7, 12), "y": (2, 7, 12)},
    {"grad_y": (3, 8, 13), "y": (3, 8, 13)},
    {"grad_y": (4, 9, 14), "y": (4, 9, 14)},
    {"grad_y": (5, 10, 15), "y": (5, 10, 15)},
]
LARGE = [
    {"grad_y": (306784806, 7), "y": (306784806, 7)},
]
WRONG = [
    Wrong({"grad_y": Tensor("float32", (1,) * 65)}, "grad_y: expected at most 64 dimensions, got 65"),
    Wrong({"y": Tensor("float32", (1,) * 65)}, "y: expected at most 64 dimensions, got 65"),
    Wrong({"grad_y": Tensor("int32", (2, 3, 7))}, "grad_y: expected dtype float32, float16 or bfloat16, got int32"),
    Wrong({"y": Tensor("int32", (2, 3, 7))}, "y: expected dtype float32 (as grad_y), got int32"),
    Wrong({"y": Tensor("float32", (2, 3, 7), other=True)}, "y: expected device {device} (as grad_y), got {other}"),
    Wrong({"grad_y": Tensor("float32", ())}, "grad_y: expected at least 1 dimension, got 0"),
    Wrong({"y": Tensor("float32", ())}, "y: expected at least 1 dimension, got 0"),
    Wrong(
        {"y": Tensor("float32", (2, 4, 7))},
        "y: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [2, 4, 7]",
    ),
    Wrong(
        {"y": Tensor("float32", (1, 2, 3, 7))},
        "y: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [1, 2, 3, 7]",
    ),
    Wrong(
        {"y": Tensor("float32", (2, 3, 8))},
        "y: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [2, 3, 8]",
    ),
    Wrong(
        {"grad_y": Tensor("float32", (2, 3, 16385)), "y": Tensor("float32", (2, 3, 16385))},
        "a row must fit the registers of a block (expected n <= 16384, got n = 16385)",
    ),
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
