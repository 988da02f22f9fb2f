"""Tests of my_ops::silu_mul_backward_backward, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused
from tests.harness.contract import Contract, Derived, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="silu_mul_backward_backward",
    arguments=("grad_grad_gate", "grad_grad_up", "grad_y", "gate", "up"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"grad_grad_gate": "T", "grad_grad_up": "T", "grad_y": "T", "gate": "T", "up": "T"},
    scalars={},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"grad_grad_y": "T", "grad_gate": "T", "grad_up": "T"},
    saved={},
    mask=True,
    autograd="missing",
    second="",
    backward="",
    gradients=("grad_grad_gate", "grad_grad_up", "grad_y", "gate", "up"),
    kept=(),
    reference="silu_mul",
    tolerance={},
    words={
        "grad_grad_gate": ("strided",),
        "grad_grad_up": ("strided",),
        "grad_y": ("strided",),
        "gate": ("strided",),
        "up": ("strided",),
        "grad_grad_y": ("like(grad_grad_gate)",),
        "grad_gate": ("like(grad_grad_gate)",),
        "grad_up": ("like(grad_grad_gate)",),
    },
    is_elementwise=True,
    derived=Derived(
        {"grad_y": "float64", "gate": "float64", "up": "float64"},
        {},
        ("grad_gate", "grad_up"),
        ("grad_y", "gate", "up"),
        Derived({"gate": "float64", "up": "float64"}, {}, ("y",), ("gate", "up")),
    ),
)
# The first is the usual call.
SAMPLES = [
    {"grad_grad_gate": (2, 3), "grad_grad_up": (2, 3), "grad_y": (2, 3), "gate": (2, 3), "up": (2, 3)},
    {"grad_grad_gate": (), "grad_grad_up": (), "grad_y": (), "gate": (), "up": ()},
    {"grad_grad_gate": (1,), "grad_grad_up": (1,), "grad_y": (1,), "gate": (1,), "up": (1,)},
    {"grad_grad_gate": (3,), "grad_grad_up": (3,), "grad_y": (3,), "gate": (3,), "up": (3,)},
    {"grad_grad_gate": (0,), "grad_grad_up": (0,), "grad_y": (0,), "gate": (0,), "up": (0,)},
    {"grad_grad_gate": (3, 0, 2), "grad_grad_up": (3, 0, 2), "grad_y": (3, 0, 2), "gate": (3, 0, 2), "up": (3, 0, 2)},
    {"grad_grad_gate": (1, 5, 1), "grad_grad_up": (1, 5, 1), "grad_y": (1, 5, 1), "gate": (1, 5, 1), "up": (1, 5, 1)},
    {"grad_grad_gate": (2,), "grad_grad_up": (2,), "grad_y": (2,), "gate": (2,), "up": (2,)},
    {"grad_grad_gate": (7,), "grad_grad_up": (7,), "grad_y": (7,), "gate": (7,), "up": (7,)},
    {"grad_grad_gate": (33,), "grad_grad_up": (33,), "grad_y": (33,), "gate": (33,), "up": (33,)},
    {"grad_grad_gate": (64,), "grad_grad_up": (64,), "grad_y": (64,), "gate": (64,), "up": (64,)},
    {"grad_grad_gate": (1000,), "grad_grad_up": (1000,), "grad_y": (1000,), "gate": (1000,), "up": (1000,)},
    {"grad_grad_gate": (1024,), "grad_grad_up": (1024,), "grad_y": (1024,), "gate": (1024,), "up": (1024,)},
    {"grad_grad_gate": (1100,), "grad_grad_up": (1100,), "grad_y": (1100,), "gate": (1100,), "up": (1100,)},
    {"grad_grad_gate": (70001,), "grad_grad_up": (70001,), "grad_y": (70001,), "gate": (70001,), "up": (70001,)},
]
GROWING = [
    {"grad_grad_gate": (2, 7), "grad_grad_up": (2, 7), "grad_y": (2, 7), "gate": (2, 7), "up": (2, 7)},
    {"grad_grad_gate": (3, 8), "grad_grad_up": (3, 8), "grad_y": (3, 8), "gate": (3, 8), "up": (3, 8)},
    {"grad_grad_gate": (4, 9), "grad_grad_up": (4, 9), "grad_y": (4, 9), "gate": (4, 9), "up": (4, 9)},
    {"grad_grad_gate": (5, 10), "grad_grad_up": (5, 10), "grad_y": (5, 10), "gate": (5, 10), "up": (5, 10)},
]
LARGE = [
    {
        "grad_grad_gate": (2147493648,),
        "grad_grad_up": (2147493648,),
        "grad_y": (2147493648,),
        "gate": (2147493648,),
        "up": (2147493648,),
    },
]
WRONG = [
    Wrong({"grad_grad_gate": Tensor("float64", (1,) * 65)}, "grad_grad_gate: expected at most 64 dimensions, got 65"),
    Wrong({"grad_grad_up": Tensor("float64", (1,) * 65)}, "grad_grad_up: expected at most 64 dimensions, got 65"),
    Wrong({"grad_y": Tensor("float64", (1,) * 65)}, "grad_y: expected at most 64 dimensions, got 65"),
    Wrong({"gate": Tensor("float64", (1,) * 65)}, "gate: expected at most 64 dimensions, got 65"),
    Wrong({"up": Tensor("float64", (1,) * 65)}, "up: expected at most 64 dimensions, got 65"),
    Wrong(
        {"grad_grad_gate": Tensor("int32", (2, 3))},
        "grad_grad_gate: expected dtype float64, float32, float16 or bfloat16, got int32",
    ),
    Wrong(
        {"grad_grad_up": Tensor("int32", (2, 3))}, "grad_grad_up: expected dtype float64 (as grad_grad_gate), got int32"
    ),
    Wrong({"grad_y": Tensor("int32", (2, 3))}, "grad_y: expected dtype float64 (as grad_grad_gate), got int32"),
    Wrong({"gate": Tensor("int32", (2, 3))}, "gate: expected dtype float64 (as grad_grad_gate), got int32"),
    Wrong({"up": Tensor("int32", (2, 3))}, "up: expected dtype float64 (as grad_grad_gate), got int32"),
    Wrong(
        {"grad_grad_up": Tensor("float64", (2, 3), other=True)},
        "grad_grad_up: expected device {device} (as grad_grad_gate), got {other}",
    ),
    Wrong(
        {"grad_y": Tensor("float64", (2, 3), other=True)},
        "grad_y: expected device {device} (as grad_grad_gate), got {other}",
    ),
    Wrong(
        {"gate": Tensor("float64", (2, 3), other=True)},
        "gate: expected device {device} (as grad_grad_gate), got {other}",
    ),
    Wrong(
        {"up": Tensor("float64", (2, 3), other=True)}, "up: expected device {device} (as grad_grad_gate), got {other}"
    ),
    Wrong(
        {"grad_grad_up": Tensor("float64", (2, 4))},
        "grad_grad_up: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [2, 4]",
    ),
    Wrong(
        {"grad_grad_up": Tensor("float64", (1, 2, 3))},
        "grad_grad_up: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [1, 2, 3]",
    ),
    Wrong(
        {"grad_y": Tensor("float64", (2, 4))},
        "grad_y: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [2, 4]",
    ),
    Wrong(
        {"grad_y": Tensor("float64", (1, 2, 3))},
        "grad_y: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [1, 2, 3]",
    ),
    Wrong(
        {"gate": Tensor("float64", (2, 4))},
        "gate: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [2, 4]",
    ),
    Wrong(
        {"gate": Tensor("float64", (1, 2, 3))},
        "gate: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [1, 2, 3]",
    ),
    Wrong(
        {"up": Tensor("float64", (2, 4))},
        "up: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [2, 4]",
    ),
    Wrong(
        {"up": Tensor("float64", (1, 2, 3))},
        "up: expected shape [*shape] with shape = [2, 3] (from grad_grad_gate), got [1, 2, 3]",
    ),
    Wrong({"grad_mask": [True, True, True, True]}, "grad_mask: expected 3 bools, got 4"),
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
