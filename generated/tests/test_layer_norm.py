"""Tests of my_ops::layer_norm, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused, transforms
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="layer_norm",
    arguments=("x", "weight", "bias", "eps"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"x": "T", "weight": "T", "bias": "T"},
    scalars={"eps": 0.1},
    absences=((), ("weight", "bias"), ("weight",), ("bias",)),
    defaults=("weight", "bias"),
    written=(),
    variants={},
    outputs={"y": "T"},
    saved={"mean": "acc(T)", "rstd": "acc(T)"},
    mask=False,
    autograd="declared",
    second="missing",
    backward="layer_norm_backward",
    gradients=("x", "weight", "bias"),
    kept=("x", "weight", "bias"),
    reference="layer_norm",
    tolerance={},
    words={"mean": ("saved",), "rstd": ("saved",)},
)
# The first is the usual call.
SAMPLES = [
    {"x": (2, 3, 7), "weight": (7,), "bias": (7,)},
    {"x": (7,), "weight": (7,), "bias": (7,)},
    {"x": (1, 7), "weight": (7,), "bias": (7,)},
    {"x": (3, 7), "weight": (7,), "bias": (7,)},
    {"x": (0, 7), "weight": (7,), "bias": (7,)},
    {"x": (3, 0, 2, 7), "weight": (7,), "bias": (7,)},
    {"x": (1, 5, 1, 7), "weight": (7,), "bias": (7,)},
    {"x": (2, 3, 1), "weight": (1,), "bias": (1,)},
    {"x": (2, 3, 2), "weight": (2,), "bias": (2,)},
    {"x": (2, 3, 33), "weight": (33,), "bias": (33,)},
    {"x": (2, 3, 64), "weight": (64,), "bias": (64,)},
    {"x": (2, 3, 1000), "weight": (1000,), "bias": (1000,)},
    {"x": (2, 3, 1024), "weight": (1024,), "bias": (1024,)},
    {"x": (2, 3, 1100), "weight": (1100,), "bias": (1100,)},
    {"x": (2, 3, 7), "weight": (7,), "bias": (7,), "eps": 1e-05},
    {"x": (70001, 7), "weight": (7,), "bias": (7,)},
]
GROWING = [
    {"x": (2, 7, 12), "weight": (12,), "bias": (12,)},
    {"x": (3, 8, 13), "weight": (13,), "bias": (13,)},
    {"x": (4, 9, 14), "weight": (14,), "bias": (14,)},
    {"x": (5, 10, 15), "weight": (15,), "bias": (15,)},
]
LARGE = [
    {"x": (306784806, 7), "weight": (7,), "bias": (7,)},
    {"x": (2, 3, 357915608), "weight": (357915608,), "bias": (357915608,)},
]
WRONG = [
    Wrong({"x": Tensor("float64", (1,) * 65)}, "x: expected at most 64 dimensions, got 65"),
    Wrong({"weight": Tensor("float64", (1,) * 65)}, "weight: expected at most 64 dimensions, got 65"),
    Wrong({"bias": Tensor("float64", (1,) * 65)}, "bias: expected at most 64 dimensions, got 65"),
    Wrong({"x": Tensor("int32", (2, 3, 7))}, "x: expected dtype float64, float32, float16 or bfloat16, got int32"),
    Wrong({"weight": Tensor("int32", (7,))}, "weight: expected dtype float64 (as x), got int32"),
    Wrong({"bias": Tensor("int32", (7,))}, "bias: expected dtype float64 (as x), got int32"),
    Wrong({"weight": Tensor("float64", (7,), other=True)}, "weight: expected device {device} (as x), got {other}"),
    Wrong({"bias": Tensor("float64", (7,), other=True)}, "bias: expected device {device} (as x), got {other}"),
    Wrong({"x": Tensor("float64", ())}, "x: expected at least 1 dimension, got 0"),
    Wrong({"weight": Tensor("float64", (7, 1))}, "weight: expected 1 dimension, got 2"),
    Wrong({"bias": Tensor("float64", (7, 1))}, "bias: expected 1 dimension, got 2"),
    Wrong({"weight": Tensor("float64", (8,))}, "weight: expected shape [n] with n = 7 (from x), got [8]"),
    Wrong({"bias": Tensor("float64", (8,))}, "bias: expected shape [n] with n = 7 (from x), got [8]"),
    Wrong(
        {"x": Tensor("float64", (2, 3, 0)), "weight": Tensor("float64", (0,)), "bias": Tensor("float64", (0,))},
        "expected n > 0, got n = 0",
    ),
    Wrong({"eps": -1.0}, "expected eps >= 0, got eps = -1"),
]
# Any two values of two axes meet in a case.
AXES = {
    "mode": matrix.MODES,
    "entry": matrix.ENTRY_POINTS,
    "dtypes": OP.choices(),
    "layout": LAYOUTS,
    "sample": range(len(SAMPLES)),
    "absent": OP.absences,
    "upstream": matrix.UPSTREAMS,
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


def test_gradcheck(device):
    gradients.passes_gradcheck(OP, device, [SAMPLES[0], *GROWING[:1]])


def test_shared_leaf(device):
    gradients.shared(OP, device, SAMPLES[0])


def test_partial_gradients(device):
    gradients.partial(OP, device, SAMPLES[0])


def test_saved_tensors(device):
    gradients.saved_tensors(OP, device, SAMPLES[0])


def test_memory(device):
    gradients.memory(OP, device, SAMPLES[0])


def test_checkpoint(device):
    gradients.checkpoints(OP, device, SAMPLES[0])


def test_second_order(device):
    gradients.second_order(OP, device, SAMPLES[0])


def test_transforms(device):
    gradients.transforms(OP, device, SAMPLES[0])


def test_jacobians(device):
    transforms.jacobians(OP, device, SAMPLES[0])


def test_compiled_transform(device):
    transforms.compiled_is_right_or_refused(OP, device, SAMPLES[0])


def test_compiled_training(device):
    compiled.training(OP, device, GROWING)


def test_compiled_partial_gradients(device):
    compiled.partial(OP, device, SAMPLES[0])


def test_batch(device):
    batched.agrees(OP, device, SAMPLES[0])


def test_batch_gradients(device):
    batched.gradients_agree(OP, device, SAMPLES[0])


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
