"""Tests of my_ops::silu_mul_backward, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused, transforms
from tests.harness.contract import Contract, Derived, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="silu_mul_backward",
    arguments=("grad_y", "gate", "up"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"grad_y": "T", "gate": "T", "up": "T"},
    scalars={},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"grad_gate": "T", "grad_up": "T"},
    saved={},
    mask=True,
    autograd="declared",
    second="missing",
    backward="silu_mul_backward_backward",
    gradients=("grad_y", "gate", "up"),
    kept=("grad_y", "gate", "up"),
    reference="silu_mul",
    tolerance={},
    words={
        "grad_y": ("strided",),
        "gate": ("strided",),
        "up": ("strided",),
        "grad_gate": ("like(grad_y)",),
        "grad_up": ("like(grad_y)",),
    },
    is_elementwise=True,
    forward_mode=True,
    derived=Derived({"gate": "float64", "up": "float64"}, {}, ("y",), ("gate", "up")),
)
# The first is the usual call.
SAMPLES = [
    {"grad_y": (2, 3), "gate": (2, 3), "up": (2, 3)},
    {"grad_y": (), "gate": (), "up": ()},
    {"grad_y": (1,), "gate": (1,), "up": (1,)},
    {"grad_y": (3,), "gate": (3,), "up": (3,)},
    {"grad_y": (0,), "gate": (0,), "up": (0,)},
    {"grad_y": (3, 0, 2), "gate": (3, 0, 2), "up": (3, 0, 2)},
    {"grad_y": (1, 5, 1), "gate": (1, 5, 1), "up": (1, 5, 1)},
    {"grad_y": (2,), "gate": (2,), "up": (2,)},
    {"grad_y": (7,), "gate": (7,), "up": (7,)},
    {"grad_y": (33,), "gate": (33,), "up": (33,)},
    {"grad_y": (64,), "gate": (64,), "up": (64,)},
    {"grad_y": (1000,), "gate": (1000,), "up": (1000,)},
    {"grad_y": (1024,), "gate": (1024,), "up": (1024,)},
    {"grad_y": (1100,), "gate": (1100,), "up": (1100,)},
    {"grad_y": (70001,), "gate": (70001,), "up": (70001,)},
]
GROWING = [
    {"grad_y": (2, 7), "gate": (2, 7), "up": (2, 7)},
    {"grad_y": (3, 8), "gate": (3, 8), "up": (3, 8)},
    {"grad_y": (4, 9), "gate": (4, 9), "up": (4, 9)},
    {"grad_y": (5, 10), "gate": (5, 10), "up": (5, 10)},
]
LARGE = [
    {"grad_y": (2147493648,), "gate": (2147493648,), "up": (2147493648,)},
]
WRONG = [
    Wrong({"grad_y": Tensor("float64", (1,) * 65)}, "grad_y: expected at most 64 dimensions, got 65"),
    Wrong({"gate": Tensor("float64", (1,) * 65)}, "gate: expected at most 64 dimensions, got 65"),
    Wrong({"up": Tensor("float64", (1,) * 65)}, "up: expected at most 64 dimensions, got 65"),
    Wrong(
        {"grad_y": Tensor("int32", (2, 3))}, "grad_y: expected dtype float64, float32, float16 or bfloat16, got int32"
    ),
    Wrong({"gate": Tensor("int32", (2, 3))}, "gate: expected dtype float64 (as grad_y), got int32"),
    Wrong({"up": Tensor("int32", (2, 3))}, "up: expected dtype float64 (as grad_y), got int32"),
    Wrong({"gate": Tensor("float64", (2, 3), other=True)}, "gate: expected device {device} (as grad_y), got {other}"),
    Wrong({"up": Tensor("float64", (2, 3), other=True)}, "up: expected device {device} (as grad_y), got {other}"),
    Wrong(
        {"gate": Tensor("float64", (2, 4))},
        "gate: expected shape [*shape] with shape = [2, 3] (from grad_y), got [2, 4]",
    ),
    Wrong(
        {"gate": Tensor("float64", (1, 2, 3))},
        "gate: expected shape [*shape] with shape = [2, 3] (from grad_y), got [1, 2, 3]",
    ),
    Wrong(
        {"up": Tensor("float64", (2, 4))}, "up: expected shape [*shape] with shape = [2, 3] (from grad_y), got [2, 4]"
    ),
    Wrong(
        {"up": Tensor("float64", (1, 2, 3))},
        "up: expected shape [*shape] with shape = [2, 3] (from grad_y), got [1, 2, 3]",
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
    "upstream": matrix.UPSTREAMS,
    "used": (matrix.ALL, "grad_gate", "grad_up"),
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
