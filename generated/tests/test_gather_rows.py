"""Tests of my_ops::gather_rows, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused
from tests.harness.contract import Contract, Elements, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="gather_rows",
    arguments=("table", "index"),
    keywords=(),
    types={
        "T": (
            "float64",
            "float32",
            "float16",
            "bfloat16",
            "uint8",
            "int8",
            "int16",
            "int32",
            "int64",
            "bool",
            "complex64",
            "complex128",
        ),
        "I": ("int32", "int64"),
    },
    tensors={"table": "T", "index": "I"},
    scalars={},
    absences=((),),
    defaults=(),
    written=(),
    variants={},
    outputs={"y": "T"},
    saved={},
    mask=False,
    autograd="never",
    second="",
    backward="",
    gradients=("table",),
    kept=(),
    reference="gather_rows",
    tolerance={},
)
# The first is the usual call.
SAMPLES = [
    {"table": (7, 9), "index": Elements((11,), 0, 7)},
    {"table": (1, 9), "index": Elements((11,), 0, 1)},
    {"table": (2, 9), "index": Elements((11,), 0, 2)},
    {"table": (33, 9), "index": Elements((11,), 0, 33)},
    {"table": (64, 9), "index": Elements((11,), 0, 64)},
    {"table": (1000, 9), "index": Elements((11,), 0, 1000)},
    {"table": (1024, 9), "index": Elements((11,), 0, 1024)},
    {"table": (1100, 9), "index": Elements((11,), 0, 1100)},
    {"table": (7, 1), "index": Elements((11,), 0, 7)},
    {"table": (7, 2), "index": Elements((11,), 0, 7)},
    {"table": (7, 7), "index": Elements((11,), 0, 7)},
    {"table": (7, 33), "index": Elements((11,), 0, 7)},
    {"table": (7, 64), "index": Elements((11,), 0, 7)},
    {"table": (7, 1000), "index": Elements((11,), 0, 7)},
    {"table": (7, 1024), "index": Elements((11,), 0, 7)},
    {"table": (7, 1100), "index": Elements((11,), 0, 7)},
    {"table": (7, 0), "index": Elements((11,), 0, 7)},
    {"table": (7, 9), "index": Elements((1,), 0, 7)},
    {"table": (7, 9), "index": Elements((2,), 0, 7)},
    {"table": (7, 9), "index": Elements((7,), 0, 7)},
    {"table": (7, 9), "index": Elements((33,), 0, 7)},
    {"table": (7, 9), "index": Elements((64,), 0, 7)},
    {"table": (7, 9), "index": Elements((1000,), 0, 7)},
    {"table": (7, 9), "index": Elements((1024,), 0, 7)},
    {"table": (7, 9), "index": Elements((1100,), 0, 7)},
    {"table": (7, 9), "index": Elements((0,), 0, 100)},
]
GROWING = [
    {"table": (2, 12), "index": Elements((22,), 0, 2)},
    {"table": (3, 13), "index": Elements((23,), 0, 3)},
    {"table": (4, 14), "index": Elements((24,), 0, 4)},
    {"table": (5, 15), "index": Elements((25,), 0, 5)},
]
LARGE = [
    {"table": (238610405, 9), "index": Elements((11,), 0, 238610405)},
    {"table": (7, 195226695), "index": Elements((11,), 0, 7)},
    {"table": (7, 9), "index": Elements((238610405,), 0, 7)},
]
WRONG = [
    Wrong({"table": Tensor("float64", (1,) * 65)}, "table: expected at most 64 dimensions, got 65"),
    Wrong({"index": Tensor("int32", (1,) * 65)}, "index: expected at most 64 dimensions, got 65"),
    Wrong(
        {"table": Tensor("float8_e5m2", (7, 9))},
        "table: expected dtype float64, float32, float16, bfloat16, uint8, int8, int16, int32, int64, bool, complex64 or complex128, got float8_e5m2",
    ),
    Wrong({"index": Tensor("float32", (11,))}, "index: expected dtype int32 or int64, got float32"),
    Wrong({"index": Tensor("int32", (11,), other=True)}, "index: expected device {device} (as table), got {other}"),
    Wrong({"table": Tensor("float64", (7, 9, 1))}, "table: expected 2 dimensions, got 3"),
    Wrong({"index": Tensor("int32", (11, 1))}, "index: expected 1 dimension, got 2"),
    Wrong(
        {"index": Tensor("int32", (11,), elements=(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1))},
        "index: expected 0 <= index < m with m = 7, got index[10] = -1",
        elements=True,
    ),
    Wrong(
        {"index": Tensor("int32", (11,), elements=(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))},
        "index: expected 0 <= index < m with m = 7, got index[10] = 7",
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
