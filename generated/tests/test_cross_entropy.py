"""Tests of my_ops::cross_entropy, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused, transforms
from tests.harness.contract import Contract, Elements, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="cross_entropy",
    arguments=("logits", "target", "ignore_index", "label_smoothing", "z_loss"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"logits": "T", "target": "int64"},
    scalars={"ignore_index": -100, "label_smoothing": 0.0, "z_loss": 0.0},
    absences=((),),
    defaults=("ignore_index", "label_smoothing", "z_loss"),
    written=(),
    variants={},
    outputs={"loss": "acc(T)"},
    saved={"lse": "acc(T)"},
    mask=False,
    autograd="declared",
    second="missing",
    backward="cross_entropy_backward",
    gradients=("logits",),
    kept=("logits", "target"),
    reference="cross_entropy",
    tolerance={},
    words={"lse": ("saved",)},
)
# The first is the usual call.
SAMPLES = [
    {"logits": (2, 3, 7), "target": Elements((2, 3), 0, 7, also=(-100,))},
    {"logits": (7,), "target": Elements((), 0, 7, also=(-100,))},
    {"logits": (1, 7), "target": Elements((1,), 0, 7, also=(-100,))},
    {"logits": (3, 7), "target": Elements((3,), 0, 7, also=(-100,))},
    {"logits": (0, 7), "target": Elements((0,), 0, 100)},
    {"logits": (3, 0, 2, 7), "target": Elements((3, 0, 2), 0, 100)},
    {"logits": (1, 5, 1, 7), "target": Elements((1, 5, 1), 0, 7, also=(-100,))},
    {"logits": (2, 3, 1), "target": Elements((2, 3), 0, 1, also=(-100,))},
    {"logits": (2, 3, 2), "target": Elements((2, 3), 0, 2, also=(-100,))},
    {"logits": (2, 3, 33), "target": Elements((2, 3), 0, 33, also=(-100,))},
    {"logits": (2, 3, 64), "target": Elements((2, 3), 0, 64, also=(-100,))},
    {"logits": (2, 3, 1000), "target": Elements((2, 3), 0, 1000, also=(-100,))},
    {"logits": (2, 3, 1024), "target": Elements((2, 3), 0, 1024, also=(-100,))},
    {"logits": (2, 3, 1100), "target": Elements((2, 3), 0, 1100, also=(-100,))},
    {"logits": (70001, 7), "target": Elements((70001,), 0, 7, also=(-100,))},
]
GROWING = [
    {"logits": (2, 7, 12), "target": Elements((2, 7), 0, 12, also=(-100,))},
    {"logits": (3, 8, 13), "target": Elements((3, 8), 0, 13, also=(-100,))},
    {"logits": (4, 9, 14), "target": Elements((4, 9), 0, 14, also=(-100,))},
    {"logits": (5, 10, 15), "target": Elements((5, 10), 0, 15, also=(-100,))},
]
LARGE = [
    {"logits": (306784806, 7), "target": Elements((306784806,), 0, 7, also=(-100,))},
    {"logits": (2, 3, 357915608), "target": Elements((2, 3), 0, 357915608, also=(-100,))},
]
WRONG = [
    Wrong({"logits": Tensor("float64", (1,) * 65)}, "logits: expected at most 64 dimensions, got 65"),
    Wrong({"target": Tensor("int64", (1,) * 65)}, "target: expected at most 64 dimensions, got 65"),
    Wrong(
        {"logits": Tensor("int32", (2, 3, 7))},
        "logits: expected dtype float64, float32, float16 or bfloat16, got int32",
    ),
    Wrong({"target": Tensor("int32", (2, 3))}, "target: expected dtype int64, got int32"),
    Wrong({"target": Tensor("int64", (2, 3), other=True)}, "target: expected device {device} (as logits), got {other}"),
    Wrong({"logits": Tensor("float64", ())}, "logits: expected at least 1 dimension, got 0"),
    Wrong(
        {"target": Tensor("int64", (2, 4))},
        "target: expected shape [*rows] with rows = [2, 3] (from logits), got [2, 4]",
    ),
    Wrong(
        {"target": Tensor("int64", (1, 2, 3))},
        "target: expected shape [*rows] with rows = [2, 3] (from logits), got [1, 2, 3]",
    ),
    Wrong({"label_smoothing": -1.0}, "expected 0 <= label_smoothing <= 1, got label_smoothing = -1"),
    Wrong(
        {"target": Tensor("int64", (2, 3), elements=(0, 0, 0, 0, 0, -1))},
        "target: expected 0 <= target < n or target == ignore_index with n = 7, ignore_index = -100, got target[1, 2] = -1",
        elements=True,
    ),
    Wrong(
        {"target": Tensor("int64", (2, 3), elements=(0, 0, 0, 0, 0, 7))},
        "target: expected 0 <= target < n or target == ignore_index with n = 7, ignore_index = -100, got target[1, 2] = 7",
        elements=True,
    ),
]
# Any two values of two axes meet in a case.
AXES = {
    "mode": matrix.MODES,
    "entry": matrix.ENTRY_POINTS,
    "dtypes": OP.choices(),
    "layout": LAYOUTS,
    "sample": range(len(SAMPLES)),
    "defaults": matrix.DEFAULTS,
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
