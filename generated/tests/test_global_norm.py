"""Tests of my_ops::global_norm, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="global_norm",
    arguments=("xs",),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"xs": "T"},
    scalars={},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"norm": "acc(T)"},
    saved={},
    mask=False,
    autograd="never",
    second="",
    backward="",
    gradients=("xs",),
    kept=(),
    reference="global_norm",
    tolerance={},
    lists=("xs",),
)
# The first is the usual call.
SAMPLES = [
    {"xs": [(2, 3), (5,)]},
    {"xs": [(), (5,)]},
    {"xs": [(1,), (5,)]},
    {"xs": [(3,), (5,)]},
    {"xs": [(0,), (5,)]},
    {"xs": [(3, 0, 2), (5,)]},
    {"xs": [(1, 5, 1), (5,)]},
    {"xs": [(2,), (5,)]},
    {"xs": [(7,), (5,)]},
    {"xs": [(33,), (5,)]},
    {"xs": [(64,), (5,)]},
    {"xs": [(1000,), (5,)]},
    {"xs": [(1024,), (5,)]},
    {"xs": [(1100,), (5,)]},
    {"xs": [(2, 3)]},
    {"xs": [(2, 3), (5,), (), (2, 0), (3, 1, 2)]},
    {"xs": [(70001,), (5,)]},
]
GROWING = [
    {"xs": [(2, 7), (5,)]},
    {"xs": [(3, 8), (5,)]},
    {"xs": [(4, 9), (5,)]},
    {"xs": [(5, 10), (5,)]},
]
LARGE = [
    {"xs": [(2147493648,), (5,)]},
]
WRONG = [
    Wrong({"xs[1]": Tensor("float64", (1,) * 65)}, "xs[1]: expected at most 64 dimensions, got 65"),
    Wrong({"xs": []}, "xs: expected at least one tensor"),
    Wrong({"xs[0]": Tensor("int32", (2, 3))}, "xs[0]: expected dtype float64, float32, float16 or bfloat16, got int32"),
    Wrong({"xs[1]": Tensor("int32", (5,))}, "xs[1]: expected dtype float64 (as xs[0]), got int32"),
    Wrong({"xs[1]": Tensor("float64", (5,), other=True)}, "xs[1]: expected device {device} (as xs[0]), got {other}"),
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


def test_gradient_never(device):
    gradients.never(OP, device, SAMPLES[0])


def test_gradient_never_compiled(device):
    compiled.never(OP, device, SAMPLES[0])


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
