"""Tests of my_ops::rope, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused, transforms, variants
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="rope",
    arguments=("q", "k", "cos", "sin", "interleaved"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16"), "C": ("float64", "float32", "float16", "bfloat16")},
    tensors={"q": "T", "k": "T", "cos": "C", "sin": "C"},
    scalars={"interleaved": False},
    absences=((),),
    defaults=("interleaved",),
    written=(),
    variants={"inplace": (("q_out", "q"), ("k_out", "k"))},
    outputs={"q_out": "T", "k_out": "T"},
    saved={},
    mask=False,
    autograd="declared",
    second="missing",
    backward="rope_backward",
    gradients=("q", "k"),
    kept=("cos", "sin"),
    reference="rope",
    tolerance={},
    words={
        "q": ("inner",),
        "k": ("inner",),
        "cos": ("rows", "no_grad"),
        "sin": ("rows", "no_grad"),
        "q_out": ("like(q)",),
        "k_out": ("like(k)",),
    },
    mixed={"C": ("T", "float32")},
)
# The first is the usual call.
SAMPLES = [
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 6, 3, 64), "k": (2, 6, 2, 64), "cos": (2, 6, 4), "sin": (2, 6, 4)},
    {"q": (2, 7, 3, 64), "k": (2, 7, 2, 64), "cos": (2, 7, 4), "sin": (2, 7, 4)},
    {"q": (2, 64, 3, 64), "k": (2, 64, 2, 64), "cos": (2, 64, 4), "sin": (2, 64, 4)},
    {"q": (2, 0, 3, 64), "k": (2, 0, 2, 64), "cos": (2, 0, 4), "sin": (2, 0, 4)},
    {"q": (2, 5, 4, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 5, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 8, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 1, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 100), "k": (2, 5, 2, 100), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 72), "k": (2, 5, 2, 72), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 128), "k": (2, 5, 2, 128), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 65), "k": (2, 5, 2, 65), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 3, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 4, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 5, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 1, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (1, 5, 4), "sin": (1, 5, 4)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 8), "sin": (2, 5, 8)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 16), "sin": (2, 5, 16)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 32), "sin": (2, 5, 32)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 1), "sin": (2, 5, 1)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 3), "sin": (2, 5, 3)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4), "interleaved": True},
]
GROWING = [
    {"q": (2, 5, 3, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (3, 6, 4, 100), "k": (3, 6, 3, 100), "cos": (3, 6, 8), "sin": (3, 6, 8)},
    {"q": (4, 7, 5, 72), "k": (4, 7, 4, 72), "cos": (4, 7, 16), "sin": (4, 7, 16)},
    {"q": (5, 64, 8, 128), "k": (5, 64, 5, 128), "cos": (5, 64, 32), "sin": (5, 64, 32)},
]
LARGE = [
    {"q": (2, 5592431, 3, 64), "k": (2, 5592431, 2, 64), "cos": (2, 5592431, 4), "sin": (2, 5592431, 4)},
    {"q": (2, 5, 3355458, 64), "k": (2, 5, 2, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 71583121), "k": (2, 5, 2, 71583121), "cos": (2, 5, 4), "sin": (2, 5, 4)},
    {"q": (2, 5, 3, 64), "k": (2, 5, 3355458, 64), "cos": (2, 5, 4), "sin": (2, 5, 4)},
]
WRONG = [
    Wrong({"q": Tensor("float64", (1,) * 65)}, "q: expected at most 64 dimensions, got 65"),
    Wrong({"k": Tensor("float64", (1,) * 65)}, "k: expected at most 64 dimensions, got 65"),
    Wrong({"cos": Tensor("float64", (1,) * 65)}, "cos: expected at most 64 dimensions, got 65"),
    Wrong({"sin": Tensor("float64", (1,) * 65)}, "sin: expected at most 64 dimensions, got 65"),
    Wrong({"q": Tensor("int32", (2, 5, 3, 64))}, "q: expected dtype float64, float32, float16 or bfloat16, got int32"),
    Wrong({"k": Tensor("int32", (2, 5, 2, 64))}, "k: expected dtype float64 (as q), got int32"),
    Wrong({"cos": Tensor("int32", (2, 5, 4))}, "cos: expected dtype float64 (T) or float32, got int32"),
    Wrong({"sin": Tensor("int32", (2, 5, 4))}, "sin: expected dtype float64 (as cos), got int32"),
    Wrong({"k": Tensor("float64", (2, 5, 2, 64), other=True)}, "k: expected device {device} (as q), got {other}"),
    Wrong({"cos": Tensor("float64", (2, 5, 4), other=True)}, "cos: expected device {device} (as q), got {other}"),
    Wrong({"sin": Tensor("float64", (2, 5, 4), other=True)}, "sin: expected device {device} (as q), got {other}"),
    Wrong({"q": Tensor("float64", (2, 5, 3, 64, 1))}, "q: expected 4 dimensions, got 5"),
    Wrong({"k": Tensor("float64", (2, 5, 2, 64, 1))}, "k: expected 4 dimensions, got 5"),
    Wrong({"cos": Tensor("float64", (2,))}, "cos: expected at least 2 dimensions, got 1"),
    Wrong({"sin": Tensor("float64", (2,))}, "sin: expected at least 2 dimensions, got 1"),
    Wrong(
        {"k": Tensor("float64", (3, 5, 2, 64))},
        "k: expected shape [b, s, hk, d] with b = 2 (from q), s = 5 (from q), d = 64 (from q), got [3, 5, 2, 64]",
    ),
    Wrong(
        {"k": Tensor("float64", (2, 6, 2, 64))},
        "k: expected shape [b, s, hk, d] with b = 2 (from q), s = 5 (from q), d = 64 (from q), got [2, 6, 2, 64]",
    ),
    Wrong(
        {"k": Tensor("float64", (2, 5, 2, 65))},
        "k: expected shape [b, s, hk, d] with b = 2 (from q), s = 5 (from q), d = 64 (from q), got [2, 5, 2, 65]",
    ),
    Wrong({"cos": Tensor("float64", (2, 6, 4))}, "cos: expected shape [*cb, s, r] with s = 5 (from q), got [2, 6, 4]"),
    Wrong(
        {"sin": Tensor("float64", (3, 5, 4))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from q), r = 4 (from cos), got [3, 5, 4]",
    ),
    Wrong(
        {"sin": Tensor("float64", (1, 2, 5, 4))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from q), r = 4 (from cos), got [1, 2, 5, 4]",
    ),
    Wrong(
        {"sin": Tensor("float64", (2, 6, 4))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from q), r = 4 (from cos), got [2, 6, 4]",
    ),
    Wrong(
        {"sin": Tensor("float64", (2, 5, 5))},
        "sin: expected shape [*cb, s, r] with cb = [2] (from cos), s = 5 (from q), r = 4 (from cos), got [2, 5, 5]",
    ),
    Wrong(
        {"q": Tensor("float64", (3, 5, 3, 64)), "k": Tensor("float64", (3, 5, 2, 64))},
        "expected cb == 1 or cb == b, got cb = 2, b = 3",
    ),
    Wrong(
        {"q": Tensor("float64", (2, 5, 3, 1)), "k": Tensor("float64", (2, 5, 2, 1))},
        "expected 2 * r <= d, got r = 4, d = 1",
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
    "used": (matrix.ALL, "q_out", "k_out"),
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


def test_no_grad(device):
    gradients.no_grad(OP, device, SAMPLES[0])


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


@pytest.mark.parametrize("kind", OP.variants)
def test_variant_writes(device, kind):
    variants.writes(OP, kind, device, SAMPLES[0])


@pytest.mark.parametrize("kind", OP.variants)
def test_variant_gradients(device, kind):
    variants.gradients(OP, kind, device, SAMPLES[0])


@pytest.mark.parametrize("kind", OP.variants)
def test_variant_leaves(device, kind):
    variants.leaves_are_protected(OP, kind, device, SAMPLES[0])


@pytest.mark.parametrize("kind", OP.variants)
def test_variant_versions(device, kind):
    variants.versions(OP, kind, device, SAMPLES[0])


@pytest.mark.parametrize("kind", OP.variants)
def test_variant_compiled(device, kind):
    variants.compiled(OP, kind, device, SAMPLES[0])


@pytest.mark.parametrize("kind", [kind for kind in OP.variants if kind == "inplace"])
def test_variant_batch(device, kind):
    batched.in_place_agrees(OP, device, SAMPLES[0])


@pytest.mark.parametrize("kind", OP.variants)
def test_variant_refused(device, kind):
    variants.refused(OP, kind, device, SAMPLES[0])


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
