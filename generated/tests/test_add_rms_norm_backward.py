"""Tests of my_ops::add_rms_norm_backward, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import batched, compiled, cuda, direct, forward, gradients, matrix, refused
from tests.harness.contract import Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="add_rms_norm_backward",
    arguments=("grad_y", "grad_residual_out", "residual_out", "weight", "rstd", "offset"),
    keywords=(),
    types={"T": ("float64", "float32", "float16", "bfloat16")},
    tensors={"grad_y": "T", "grad_residual_out": "T", "residual_out": "T", "weight": "T", "rstd": "acc(T)"},
    scalars={"offset": 1.0},
    absences=((), ("grad_residual_out", "weight"), ("grad_residual_out",), ("weight",)),
    defaults=(),
    written=(),
    variants={},
    outputs={"grad_x": "T", "grad_weight": "T"},
    saved={},
    mask=True,
    autograd="missing",
    second="",
    backward="",
    gradients=("grad_y", "grad_residual_out", "residual_out", "weight", "rstd"),
    kept=(),
    reference="add_rms_norm_backward",
    tolerance={},
)
# The first is the usual call.
SAMPLES = [
    {"grad_y": (2, 3, 7), "grad_residual_out": (2, 3, 7), "residual_out": (2, 3, 7), "weight": (7,), "rstd": (2, 3)},
    {"grad_y": (7,), "grad_residual_out": (7,), "residual_out": (7,), "weight": (7,), "rstd": ()},
    {"grad_y": (1, 7), "grad_residual_out": (1, 7), "residual_out": (1, 7), "weight": (7,), "rstd": (1,)},
    {"grad_y": (3, 7), "grad_residual_out": (3, 7), "residual_out": (3, 7), "weight": (7,), "rstd": (3,)},
    {"grad_y": (0, 7), "grad_residual_out": (0, 7), "residual_out": (0, 7), "weight": (7,), "rstd": (0,)},
    {
        "grad_y": (3, 0, 2, 7),
        "grad_residual_out": (3, 0, 2, 7),
        "residual_out": (3, 0, 2, 7),
        "weight": (7,),
        "rstd": (3, 0, 2),
    },
    {
        "grad_y": (1, 5, 1, 7),
        "grad_residual_out": (1, 5, 1, 7),
        "residual_out": (1, 5, 1, 7),
        "weight": (7,),
        "rstd": (1, 5, 1),
    },
    {"grad_y": (2, 3, 1), "grad_residual_out": (2, 3, 1), "residual_out": (2, 3, 1), "weight": (1,), "rstd": (2, 3)},
    {"grad_y": (2, 3, 2), "grad_residual_out": (2, 3, 2), "residual_out": (2, 3, 2), "weight": (2,), "rstd": (2, 3)},
    {
        "grad_y": (2, 3, 33),
        "grad_residual_out": (2, 3, 33),
        "residual_out": (2, 3, 33),
        "weight": (33,),
        "rstd": (2, 3),
    },
    {
        "grad_y": (2, 3, 64),
        "grad_residual_out": (2, 3, 64),
        "residual_out": (2, 3, 64),
        "weight": (64,),
        "rstd": (2, 3),
    },
    {
        "grad_y": (2, 3, 1000),
        "grad_residual_out": (2, 3, 1000),
        "residual_out": (2, 3, 1000),
        "weight": (1000,),
        "rstd": (2, 3),
    },
    {
        "grad_y": (2, 3, 1024),
        "grad_residual_out": (2, 3, 1024),
        "residual_out": (2, 3, 1024),
        "weight": (1024,),
        "rstd": (2, 3),
    },
    {
        "grad_y": (2, 3, 1100),
        "grad_residual_out": (2, 3, 1100),
        "residual_out": (2, 3, 1100),
        "weight": (1100,),
        "rstd": (2, 3),
    },
    {"grad_y": (2, 3, 0), "grad_residual_out": (2, 3, 0), "residual_out": (2, 3, 0), "weight": (0,), "rstd": (2, 3)},
    {
        "grad_y": (70001, 7),
        "grad_residual_out": (70001, 7),
        "residual_out": (70001, 7),
        "weight": (7,),
        "rstd": (70001,),
    },
]
GROWING = [
    {
        "grad_y": (2, 7, 12),
        "grad_residual_out": (2, 7, 12),
        "residual_out": (2, 7, 12),
        "weight": (12,),
        "rstd": (2, 7),
    },
    {
        "grad_y": (3, 8, 13),
        "grad_residual_out": (3, 8, 13),
        "residual_out": (3, 8, 13),
        "weight": (13,),
        "rstd": (3, 8),
    },
    {
        "grad_y": (4, 9, 14),
        "grad_residual_out": (4, 9, 14),
        "residual_out": (4, 9, 14),
        "weight": (14,),
        "rstd": (4, 9),
    },
    {
        "grad_y": (5, 10, 15),
        "grad_residual_out": (5, 10, 15),
        "residual_out": (5, 10, 15),
        "weight": (15,),
        "rstd": (5, 10),
    },
]
LARGE = [
    {
        "grad_y": (306784806, 7),
        "grad_residual_out": (306784806, 7),
        "residual_out": (306784806, 7),
        "weight": (7,),
        "rstd": (306784806,),
    },
    {
        "grad_y": (2, 3, 357915608),
        "grad_residual_out": (2, 3, 357915608),
        "residual_out": (2, 3, 357915608),
        "weight": (357915608,),
        "rstd": (2, 3),
    },
]
WRONG = [
    Wrong({"grad_y": Tensor("float64", (1,) * 65)}, "grad_y: expected at most 64 dimensions, got 65"),
    Wrong(
        {"grad_residual_out": Tensor("float64", (1,) * 65)}, "grad_residual_out: expected at most 64 dimensions, got 65"
    ),
    Wrong({"residual_out": Tensor("float64", (1,) * 65)}, "residual_out: expected at most 64 dimensions, got 65"),
    Wrong({"weight": Tensor("float64", (1,) * 65)}, "weight: expected at most 64 dimensions, got 65"),
    Wrong({"rstd": Tensor("float64", (1,) * 65)}, "rstd: expected at most 64 dimensions, got 65"),
    Wrong(
        {"grad_y": Tensor("int32", (2, 3, 7))},
        "grad_y: expected dtype float64, float32, float16 or bfloat16, got int32",
    ),
    Wrong({"residual_out": Tensor("int32", (2, 3, 7))}, "residual_out: expected dtype float64 (as grad_y), got int32"),
    Wrong({"rstd": Tensor("int32", (2, 3))}, "rstd: expected dtype float64 (accumulation dtype of grad_y), got int32"),
    Wrong(
        {"grad_residual_out": Tensor("int32", (2, 3, 7))},
        "grad_residual_out: expected dtype float64 (as grad_y), got int32",
    ),
    Wrong({"weight": Tensor("int32", (7,))}, "weight: expected dtype float64 (as grad_y), got int32"),
    Wrong(
        {"grad_residual_out": Tensor("float64", (2, 3, 7), other=True)},
        "grad_residual_out: expected device {device} (as grad_y), got {other}",
    ),
    Wrong(
        {"residual_out": Tensor("float64", (2, 3, 7), other=True)},
        "residual_out: expected device {device} (as grad_y), got {other}",
    ),
    Wrong({"weight": Tensor("float64", (7,), other=True)}, "weight: expected device {device} (as grad_y), got {other}"),
    Wrong({"rstd": Tensor("float64", (2, 3), other=True)}, "rstd: expected device {device} (as grad_y), got {other}"),
    Wrong({"grad_y": Tensor("float64", ())}, "grad_y: expected at least 1 dimension, got 0"),
    Wrong({"grad_residual_out": Tensor("float64", ())}, "grad_residual_out: expected at least 1 dimension, got 0"),
    Wrong({"residual_out": Tensor("float64", ())}, "residual_out: expected at least 1 dimension, got 0"),
    Wrong({"weight": Tensor("float64", (7, 1))}, "weight: expected 1 dimension, got 2"),
    Wrong(
        {"grad_residual_out": Tensor("float64", (2, 4, 7))},
        "grad_residual_out: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [2, 4, 7]",
    ),
    Wrong(
        {"grad_residual_out": Tensor("float64", (1, 2, 3, 7))},
        "grad_residual_out: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [1, 2, 3, 7]",
    ),
    Wrong(
        {"grad_residual_out": Tensor("float64", (2, 3, 8))},
        "grad_residual_out: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [2, 3, 8]",
    ),
    Wrong(
        {"residual_out": Tensor("float64", (2, 4, 7))},
        "residual_out: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [2, 4, 7]",
    ),
    Wrong(
        {"residual_out": Tensor("float64", (1, 2, 3, 7))},
        "residual_out: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [1, 2, 3, 7]",
    ),
    Wrong(
        {"residual_out": Tensor("float64", (2, 3, 8))},
        "residual_out: expected shape [*rows, n] with rows = [2, 3] (from grad_y), n = 7 (from grad_y), got [2, 3, 8]",
    ),
    Wrong({"weight": Tensor("float64", (8,))}, "weight: expected shape [n] with n = 7 (from grad_y), got [8]"),
    Wrong(
        {"rstd": Tensor("float64", (2, 4))}, "rstd: expected shape [*rows] with rows = [2, 3] (from grad_y), got [2, 4]"
    ),
    Wrong(
        {"rstd": Tensor("float64", (1, 2, 3))},
        "rstd: expected shape [*rows] with rows = [2, 3] (from grad_y), got [1, 2, 3]",
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
    "absent": OP.absences,
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
