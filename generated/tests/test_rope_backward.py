"""Tests of my_ops::rope_backward, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="rope_backward",
    arguments=("grad_q_out", "grad_k_out", "cos", "sin", "interleaved"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16"), "C": ("float64", "float32", "float16", "bfloat16")},
    tensors={"grad_q_out": "T", "grad_k_out": "T", "cos": "C", "sin": "C"},
    scalars={"interleaved": True},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"grad_q": "T", "grad_k": "T"},
    saved={},
    mask=True,
    autograd="missing",
    second="",
    backward="",
    gradients=("grad_q_out", "grad_k_out"),
    kept=(),
    reference="rope_backward",
    tolerance={},
    words={"grad_q_out": ("inner",), "grad_k_out": ("inner",), "cos": ("rows", "no_grad"), "sin": ("rows", "no_grad")},
    mixed={"C": ("T", "float32")},
)
# The first is the usual call.
SAMPLES = [
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 6, 3, 64), "grad_k_out": (2, 6, 2, 64), "cos": (2, 6, 4), "sin": (2, 6, 4)},
    {"grad_q_out": (2, 7, 3, 64), "grad_k_out": (2, 7, 2, 64), "cos": (2, 7, 4), "sin": (2, 7, 4)},
    {"grad_q_out": (2, 64, 3, 64), "grad_k_out": (2, 64, 2, 64), "cos": (2, 64, 4), "sin": (2, 64, 4)},
    {"grad_q_out": (2, 0, 3, 64), "grad_k_out": (2, 0, 2, 64), "cos": (2, 0, 4), "sin": (2, 0, 4)},
    {"grad_q_out": (2, 5, 4, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 5, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 8, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 1, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 100), "grad_k_out": (2, 5, 2, 100), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 72), "grad_k_out": (2, 5, 2, 72), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 128), "grad_k_out": (2, 5, 2, 128), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 65), "grad_k_out": (2, 5, 2, 65), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 3, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 4, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 5, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 1, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (1, 5, 4), "sin": (1, 5, 4)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 8), "sin": (2, 5, 8)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 16), "sin": (2, 5, 16)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 32), "sin": (2, 5, 32)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 1), "sin": (2, 5, 1)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 3), "sin": (2, 5, 3)},
    {
        "grad_q_out": (2, 5, 3, 64),
        "grad_k_out": (2, 5, 2, 64),
        "cos": (2, 5, 4),
        "sin": (2, 5, 4),
        "interleaved": False,
    },
]
GROWING = [
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (3, 6, 4, 100), "grad_k_out": (3, 6, 3, 100), "cos": (3, 6, 8), "sin": (3, 6, 8)},
    {"grad_q_out": (4, 7, 5, 72), "grad_k_out": (4, 7, 4, 72), "cos": (4, 7, 16), "sin": (4, 7, 16)},
    {"grad_q_out": (5, 64, 8, 128), "grad_k_out": (5, 64, 5, 128), "cos": (5, 64, 32), "sin": (5, 64, 32)},
]
LARGE = [
    {
        "grad_q_out": (2, 5592431, 3, 64),
        "grad_k_out": (2, 5592431, 2, 64),
        "cos": (2, 5592431, 4),
        "sin": (2, 5592431, 4),
    },
    {"grad_q_out": (2, 5, 3355458, 64), "grad_k_out": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 71583121), "grad_k_out": (2, 5, 2, 71583121), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"grad_q_out": (2, 5, 3, 64), "grad_k_out": (2, 5, 3355458, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
]
WRONG = [
    Wrong({"grad_q_out": Tensor("float64", (1,) * 65)}, "grad_q_out: expected at most 64 dimensions, got 65"),
    Wrong({"grad_k_out": Tensor("float64", (1,) * 65)}, "grad_k_out: expected at most 64 dimensions, got 65"),
    Wrong({"cos": Tensor("float64", (1,) * 65)}, "cos: expected at most 64 dimensions, got 65"),
    Wrong({"sin": Tensor("float64", (1,) * 65)}, "sin: expected at most 64 dimensions, got 65"),
    Wrong(
        {"grad_q_out": Tensor("int32", (2, 5, 3, 64))},
        "grad_q_out: expected dtype float64, float32, float16 or bfloat16, got int32",
    ),
    Wrong(
        {"grad_k_out": Tensor("int32", (2, 5, 2, 64))}, "grad_k_out: expected dtype float64 (as grad_q_out), got int32"
    ),
    Wrong({"cos": Tensor("int32", (2, 5, 4))}, "cos: expected dtype float64 (T) or float32, got int32"),
    Wrong({"sin": Tensor("int32", (2, 5, 4))}, "sin: expected dtype float64 (as cos), got int32"),
    Wrong(
        {"grad_k_out": Tensor("float64", (2, 5, 2, 64), other=True)},
        "grad_k_out: expected device {device} (as grad_q_out), got {other}",
    ),
    Wrong(
        {"cos": Tensor("float64", (2, 5, 4), other=True)}, "cos: expected device {device} (as grad_q_out), got {other}"
    ),
    Wrong(
        {"sin": Tensor("float64", (2, 5, 4), other=True)}, "sin: expected device {device} (as grad_q_out), got {other}"
    ),
    Wrong({"grad_q_out": Tensor("float64", (2, 5, 3, 64, 1))}, "grad_q_out: expected 4 dimensions, got 5"),
    Wrong({"grad_k_out": Tensor("float64", (2, 5, 2, 64, 1))}, "grad_k_out: expected 4 dimensions, got 5"),
    Wrong({"cos": Tensor("float64", (2,))}, "cos: expected at least 2 dimensions, got 1"),
    Wrong({"sin": Tensor("float64", (2,))}, "sin: expected at least 2 dimensions, got 1"),
    Wrong(
        {"grad_k_out": Tensor("float64", (3, 5, 2, 64))},
        "grad_k_out: expected shape [b, s, hk, d] with b = 2 (from grad_q_out), s = 5 (from grad_q_out), d = 64 (from grad_q_out), got [3, 5, 2, 64]",
    ),
    Wrong(
        {"grad_k_out": Tensor("float64", (2, 6, 2, 64))},
        "grad_k_out: expected shape [b, s, hk, d] with b = 2 (from grad_q_out), s = 5 (from grad_q_out), d = 64 (from grad_q_out), got [2, 6, 2, 64]",
    ),
    Wrong(
        {"grad_k_out": Tensor("float64", (2, 5, 2, 65))},
        "grad_k_out: expected shape [b, s, hk, d] with b = 2 (from grad_q_out), s = 5 (from grad_q_out), d = 64 (from grad_q_out), got [2, 5, 2, 65]",
    ),
    Wrong(
        {"cos": Tensor("float64", (2, 6, 4))},
        "cos: expected shape [*cb, s, r] with s = 5 (from grad_q_out), got [2, 6, 4]",
    ),
    Wrong(
        {"sin": Tensor("float64", (3, 5, 4))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from grad_q_out), r = 4 (from cos), got [3, 5, 4]",
    ),
    Wrong(
        {"sin": Tensor("float64", (1, 2, 5, 4))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from grad_q_out), r = 4 (from cos), got [1, 2, 5, 4]",
    ),
    Wrong(
        {"sin": Tensor("float64", (2, 6, 4))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from grad_q_out), r = 4 (from cos), got [2, 6, 4]",
    ),
    Wrong(
        {"sin": Tensor("float64", (2, 5, 5))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from grad_q_out), r = 4 (from cos), got [2, 5, 5]",
    ),
    Wrong(
        {"grad_q_out": Tensor("float64", (3, 5, 3, 64)), "grad_k_out": Tensor("float64", (3, 5, 2, 64))},
        "expected cb == 1 or cb == b, got cb = 2, b = 3",
    ),
    Wrong(
        {"grad_q_out": Tensor("float64", (2, 5, 3, 1)), "grad_k_out": Tensor("float64", (2, 5, 2, 1))},
        "expected 2 * r <= d, got r = 4, d = 1",
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


def test_no_grad(device):
    gradients.no_grad(OP, device, SAMPLES[0])


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
