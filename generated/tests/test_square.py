"""Tests of my_ops::square, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused, transforms
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="square",
    arguments=("x",),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"x": "T"},
    scalars={},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"y": "T"},
    saved={},
    mask=False,
    autograd="declared",
    second="missing",
    backward="square_backward",
    gradients=("x",),
    kept=("x",),
    reference="square",
    tolerance={},
)
# The first is the usual call.
SAMPLES = [
    {"x": (2, 3)},
    {"x": ()},
    {"x": (1,)},
    {"x": (3,)},
    {"x": (0,)},
    {"x": (3, 0, 2)},
    {"x": (1, 5, 1)},
    {"x": (2,)},
    {"x": (7,)},
    {"x": (33,)},
    {"x": (64,)},
    {"x": (1000,)},
    {"x": (1024,)},
    {"x": (1100,)},
    {"x": (70001,)},
]
GROWING = [
    {"x": (2, 7)},
    {"x": (3, 8)},
    {"x": (4, 9)},
    {"x": (5, 10)},
]
LARGE = [
    {"x": (2147493648,)},
]
WRONG = [
    Wrong({"x": Tensor("float64", (1,) * 65)}, "x: expected at most 64 dimensions, got 65"),
    Wrong({"x": Tensor("int32", (2, 3))}, "x: expected dtype float64, float32, float16 or bfloat16, got int32"),
]
# Any two values of two axes meet in a case.
AXES = {
    "mode": matrix.MODES,
    "entry": matrix.ENTRY_POINTS,
    "dtypes": OP.choices(),
    "layout": LAYOUTS,
    "sample": range(len(SAMPLES)),
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
