"""Tests of my_ops::adamw_step, made from its contract in ops.yaml. What they do stands in tests/harness/."""

import pytest

from tests.harness import compiled, cuda, direct, forward, matrix, refused, written
from tests.harness.contract import Alias, Contract, Tensor, Wrong
from tests.harness.layouts import LAYOUTS

OP = Contract(
    namespace="my_ops",
    name="adamw_step",
    arguments=(
        "params",
        "grads",
        "exp_avgs",
        "exp_avg_sqs",
        "step",
        "grad_scale",
        "lr",
        "betas",
        "eps",
        "weight_decay",
        "maximize",
    ),
    keywords=("lr", "betas", "eps", "weight_decay", "maximize"),
    types={"T": ("float64", "float32", "float16", "bfloat16"), "S": ("float64", "float32", "float16", "bfloat16")},
    tensors={"params": "T", "grads": "T", "exp_avgs": "S", "exp_avg_sqs": "S", "grad_scale": "acc(T)"},
    scalars={"step": 1, "lr": 0.5, "betas": [0.9, 0.999], "eps": 1e-08, "weight_decay": 0.01, "maximize": False},
    absences=((), ("grad_scale",)),
    defaults=("grad_scale", "betas", "eps", "weight_decay", "maximize"),
    written=("params", "exp_avgs", "exp_avg_sqs"),
    variants={},
    outputs={},
    saved={},
    mask=False,
    autograd="never",
    second="",
    backward="",
    gradients=("params", "grads", "exp_avgs", "exp_avg_sqs", "grad_scale"),
    kept=(),
    reference="adamw_step",
    tolerance={},
    lists=("params", "grads", "exp_avgs", "exp_avg_sqs"),
    among={"exp_avg_sqs": (0.0, 0.25, 1.0, 3.0)},
    mixed={"S": ("T", "float32")},
)
# The first is the usual call.
SAMPLES = [
    {
        "params": [(2, 3), (5,)],
        "grads": [(2, 3), (5,)],
        "exp_avgs": [(2, 3), (5,)],
        "exp_avg_sqs": [(2, 3), (5,)],
        "grad_scale": (),
    },
    {"params": [(), (5,)], "grads": [(), (5,)], "exp_avgs": [(), (5,)], "exp_avg_sqs": [(), (5,)], "grad_scale": ()},
    {
        "params": [(1,), (5,)],
        "grads": [(1,), (5,)],
        "exp_avgs": [(1,), (5,)],
        "exp_avg_sqs": [(1,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(3,), (5,)],
        "grads": [(3,), (5,)],
        "exp_avgs": [(3,), (5,)],
        "exp_avg_sqs": [(3,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(0,), (5,)],
        "grads": [(0,), (5,)],
        "exp_avgs": [(0,), (5,)],
        "exp_avg_sqs": [(0,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(3, 0, 2), (5,)],
        "grads": [(3, 0, 2), (5,)],
        "exp_avgs": [(3, 0, 2), (5,)],
        "exp_avg_sqs": [(3, 0, 2), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(1, 5, 1), (5,)],
        "grads": [(1, 5, 1), (5,)],
        "exp_avgs": [(1, 5, 1), (5,)],
        "exp_avg_sqs": [(1, 5, 1), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(2,), (5,)],
        "grads": [(2,), (5,)],
        "exp_avgs": [(2,), (5,)],
        "exp_avg_sqs": [(2,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(7,), (5,)],
        "grads": [(7,), (5,)],
        "exp_avgs": [(7,), (5,)],
        "exp_avg_sqs": [(7,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(33,), (5,)],
        "grads": [(33,), (5,)],
        "exp_avgs": [(33,), (5,)],
        "exp_avg_sqs": [(33,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(64,), (5,)],
        "grads": [(64,), (5,)],
        "exp_avgs": [(64,), (5,)],
        "exp_avg_sqs": [(64,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(1000,), (5,)],
        "grads": [(1000,), (5,)],
        "exp_avgs": [(1000,), (5,)],
        "exp_avg_sqs": [(1000,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(1024,), (5,)],
        "grads": [(1024,), (5,)],
        "exp_avgs": [(1024,), (5,)],
        "exp_avg_sqs": [(1024,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(1100,), (5,)],
        "grads": [(1100,), (5,)],
        "exp_avgs": [(1100,), (5,)],
        "exp_avg_sqs": [(1100,), (5,)],
        "grad_scale": (),
    },
    {
        "params": [(2, 3), (5,)],
        "grads": [(2, 3), (5,)],
        "exp_avgs": [(2, 3), (5,)],
        "exp_avg_sqs": [(2, 3), (5,)],
        "grad_scale": (),
        "step": 2,
    },
    {
        "params": [(2, 3), (5,)],
        "grads": [(2, 3), (5,)],
        "exp_avgs": [(2, 3), (5,)],
        "exp_avg_sqs": [(2, 3), (5,)],
        "grad_scale": (),
        "step": 1000,
    },
    {
        "params": [(2, 3), (5,)],
        "grads": [(2, 3), (5,)],
        "exp_avgs": [(2, 3), (5,)],
        "exp_avg_sqs": [(2, 3), (5,)],
        "grad_scale": (),
        "maximize": True,
    },
    {"params": [(2, 3)], "grads": [(2, 3)], "exp_avgs": [(2, 3)], "exp_avg_sqs": [(2, 3)], "grad_scale": ()},
    {
        "params": [(2, 3), (5,), (), (2, 0), (3, 1, 2)],
        "grads": [(2, 3), (5,), (), (2, 0), (3, 1, 2)],
        "exp_avgs": [(2, 3), (5,), (), (2, 0), (3, 1, 2)],
        "exp_avg_sqs": [(2, 3), (5,), (), (2, 0), (3, 1, 2)],
        "grad_scale": (),
    },
    {
        "params": [(70001,), (5,)],
        "grads": [(70001,), (5,)],
        "exp_avgs": [(70001,), (5,)],
        "exp_avg_sqs": [(70001,), (5,)],
        "grad_scale": (),
    },
]
GROWING = [
    {
        "params": [(2, 7), (5,)],
        "grads": [(2, 7), (5,)],
        "exp_avgs": [(2, 7), (5,)],
        "exp_avg_sqs": [(2, 7), (5,)],
        "grad_scale": (),
        "step": 2,
    },
    {
        "params": [(3, 8), (5,)],
        "grads": [(3, 8), (5,)],
        "exp_avgs": [(3, 8), (5,)],
        "exp_avg_sqs": [(3, 8), (5,)],
        "grad_scale": (),
        "step": 3,
    },
    {
        "params": [(4, 9), (5,)],
        "grads": [(4, 9), (5,)],
        "exp_avgs": [(4, 9), (5,)],
        "exp_avg_sqs": [(4, 9), (5,)],
        "grad_scale": (),
        "step": 4,
    },
    {
        "params": [(5, 10), (5,)],
        "grads": [(5, 10), (5,)],
        "exp_avgs": [(5, 10), (5,)],
        "exp_avg_sqs": [(5, 10), (5,)],
        "grad_scale": (),
        "step": 5,
    },
]
LARGE = [
    {
        "params": [(2147493648,), (5,)],
        "grads": [(2147493648,), (5,)],
        "exp_avgs": [(2147493648,), (5,)],
        "exp_avg_sqs": [(2147493648,), (5,)],
        "grad_scale": (),
    },
]
WRONG = [
    Wrong({"params[1]": Tensor("float64", (1,) * 65)}, "params[1]: expected at most 64 dimensions, got 65"),
    Wrong({"grads[1]": Tensor("float64", (1,) * 65)}, "grads[1]: expected at most 64 dimensions, got 65"),
    Wrong({"exp_avgs[1]": Tensor("float64", (1,) * 65)}, "exp_avgs[1]: expected at most 64 dimensions, got 65"),
    Wrong({"exp_avg_sqs[1]": Tensor("float64", (1,) * 65)}, "exp_avg_sqs[1]: expected at most 64 dimensions, got 65"),
    Wrong({"grad_scale": Tensor("float64", (1,) * 65)}, "grad_scale: expected at most 64 dimensions, got 65"),
    Wrong({"params": []}, "params: expected at least one tensor"),
    Wrong({"grads": []}, "grads: expected at least one tensor"),
    Wrong({"exp_avgs": []}, "exp_avgs: expected at least one tensor"),
    Wrong({"exp_avg_sqs": []}, "exp_avg_sqs: expected at least one tensor"),
    Wrong(
        {"grads": [Tensor("float64", (2, 3)), Tensor("float64", (5,)), Tensor("float64", ())]},
        "grads: expected 2 tensors (as params), got 3",
    ),
    Wrong(
        {"exp_avgs": [Tensor("float64", (2, 3)), Tensor("float64", (5,)), Tensor("float64", ())]},
        "exp_avgs: expected 2 tensors (as params), got 3",
    ),
    Wrong(
        {"exp_avg_sqs": [Tensor("float64", (2, 3)), Tensor("float64", (5,)), Tensor("float64", ())]},
        "exp_avg_sqs: expected 2 tensors (as params), got 3",
    ),
    Wrong(
        {"params[0]": Tensor("int32", (2, 3))},
        "params[0]: expected dtype float64, float32, float16 or bfloat16, got int32",
    ),
    Wrong({"params[1]": Tensor("int32", (5,))}, "params[1]: expected dtype float64 (as params[0]), got int32"),
    Wrong({"grads[1]": Tensor("int32", (5,))}, "grads[1]: expected dtype float64 (as params[0]), got int32"),
    Wrong(
        {"grad_scale": Tensor("int32", ())},
        "grad_scale: expected dtype float64 (accumulation dtype of params[0]), got int32",
    ),
    Wrong({"exp_avgs[0]": Tensor("int32", (2, 3))}, "exp_avgs[0]: expected dtype float64 (T) or float32, got int32"),
    Wrong({"exp_avgs[1]": Tensor("int32", (5,))}, "exp_avgs[1]: expected dtype float64 (as exp_avgs[0]), got int32"),
    Wrong(
        {"exp_avg_sqs[1]": Tensor("int32", (5,))}, "exp_avg_sqs[1]: expected dtype float64 (as exp_avgs[0]), got int32"
    ),
    Wrong(
        {"params[1]": Tensor("float64", (5,), other=True)},
        "params[1]: expected device {device} (as params[0]), got {other}",
    ),
    Wrong(
        {"grads[1]": Tensor("float64", (5,), other=True)},
        "grads[1]: expected device {device} (as params[0]), got {other}",
    ),
    Wrong(
        {"exp_avgs[1]": Tensor("float64", (5,), other=True)},
        "exp_avgs[1]: expected device {device} (as params[0]), got {other}",
    ),
    Wrong(
        {"exp_avg_sqs[1]": Tensor("float64", (5,), other=True)},
        "exp_avg_sqs[1]: expected device {device} (as params[0]), got {other}",
    ),
    Wrong(
        {"grad_scale": Tensor("float64", (), other=True)},
        "grad_scale: expected device {device} (as params[0]), got {other}",
    ),
    Wrong({"betas": [0.5, 0.5, 0.5]}, "betas: expected 2 floats, got 3"),
    Wrong({"grad_scale": Tensor("float64", (1,))}, "grad_scale: expected 0 dimensions, got 1"),
    Wrong(
        {"grads[1]": Tensor("float64", (6,))}, "grads[1]: expected shape [*s] with s = [5] (from params[1]), got [6]"
    ),
    Wrong(
        {"grads[1]": Tensor("float64", (1, 5))},
        "grads[1]: expected shape [*s] with s = [5] (from params[1]), got [1, 5]",
    ),
    Wrong(
        {"exp_avgs[1]": Tensor("float64", (6,))},
        "exp_avgs[1]: expected shape [*s] with s = [5] (from params[1]), got [6]",
    ),
    Wrong(
        {"exp_avgs[1]": Tensor("float64", (1, 5))},
        "exp_avgs[1]: expected shape [*s] with s = [5] (from params[1]), got [1, 5]",
    ),
    Wrong(
        {"exp_avg_sqs[1]": Tensor("float64", (6,))},
        "exp_avg_sqs[1]: expected shape [*s] with s = [5] (from params[1]), got [6]",
    ),
    Wrong(
        {"exp_avg_sqs[1]": Tensor("float64", (1, 5))},
        "exp_avg_sqs[1]: expected shape [*s] with s = [5] (from params[1]), got [1, 5]",
    ),
    Wrong({"step": 0}, "expected step > 0, got step = 0"),
    Wrong({"lr": -1.0}, "expected lr >= 0, got lr = -1"),
    Wrong({"betas": [1.0, 0.5]}, "expected 0 <= betas[0] < 1 and 0 <= betas[1] < 1, got betas[0] = 1, betas[1] = 0.5"),
    Wrong({"eps": -1.0}, "expected eps >= 0, got eps = -1"),
    Wrong({"weight_decay": -1.0}, "expected weight_decay >= 0, got weight_decay = -1"),
    Wrong(
        {"params[1]": Tensor("float64", (5,), strides=(0,))},
        "params[1]: expected no overlap among its own elements, got strides (0,)",
        memory=True,
    ),
    Wrong({"params[1]": Alias("params[0]")}, "params[1]: expected no overlap with params[0]", memory=True),
    Wrong({"params[1]": Alias("grads[1]")}, "params[1]: expected no overlap with grads[1]", memory=True),
    Wrong({"params[1]": Alias("grad_scale")}, "params[1]: expected no overlap with grad_scale", memory=True),
    Wrong(
        {"exp_avgs[1]": Tensor("float64", (5,), strides=(0,))},
        "exp_avgs[1]: expected no overlap among its own elements, got strides (0,)",
        memory=True,
    ),
    Wrong({"exp_avgs[1]": Alias("exp_avgs[0]")}, "exp_avgs[1]: expected no overlap with exp_avgs[0]", memory=True),
    Wrong({"exp_avgs[1]": Alias("params[1]")}, "exp_avgs[1]: expected no overlap with params[1]", memory=True),
    Wrong({"exp_avgs[1]": Alias("grads[1]")}, "exp_avgs[1]: expected no overlap with grads[1]", memory=True),
    Wrong({"exp_avgs[1]": Alias("grad_scale")}, "exp_avgs[1]: expected no overlap with grad_scale", memory=True),
    Wrong(
        {"exp_avg_sqs[1]": Tensor("float64", (5,), strides=(0,))},
        "exp_avg_sqs[1]: expected no overlap among its own elements, got strides (0,)",
        memory=True,
    ),
    Wrong(
        {"exp_avg_sqs[1]": Alias("exp_avg_sqs[0]")},
        "exp_avg_sqs[1]: expected no overlap with exp_avg_sqs[0]",
        memory=True,
    ),
    Wrong({"exp_avg_sqs[1]": Alias("params[1]")}, "exp_avg_sqs[1]: expected no overlap with params[1]", memory=True),
    Wrong({"exp_avg_sqs[1]": Alias("grads[1]")}, "exp_avg_sqs[1]: expected no overlap with grads[1]", memory=True),
    Wrong(
        {"exp_avg_sqs[1]": Alias("exp_avgs[1]")}, "exp_avg_sqs[1]: expected no overlap with exp_avgs[1]", memory=True
    ),
    Wrong({"exp_avg_sqs[1]": Alias("grad_scale")}, "exp_avg_sqs[1]: expected no overlap with grad_scale", memory=True),
]
# Any two values of two axes meet in a case.
AXES = {
    "mode": matrix.MODES,
    "entry": matrix.ENTRY_POINTS,
    "dtypes": OP.choices(),
    "layout": LAYOUTS,
    "sample": range(len(SAMPLES)),
    "absent": OP.absences,
    "defaults": matrix.DEFAULTS,
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


def test_returned(device):
    written.returned(OP, device, SAMPLES[0])


def test_versions(device):
    written.versions(OP, device, SAMPLES[0])


def test_kinds_are_refused(device):
    written.kinds_are_refused(OP, device, SAMPLES[0])


def test_recording_is_refused(device):
    written.recording_is_refused(OP, device, SAMPLES[0])


def test_recording_is_refused_compiled(device):
    written.recording_is_refused_compiled(OP, device, SAMPLES[0])


def test_functional_graph(device):
    written.functional_graph(OP, device, SAMPLES[0])


def test_only_its_elements(device):
    written.only_its_elements(OP, device, SAMPLES[0])


def test_transforms_are_refused(device):
    written.transforms_are_refused(OP, device, SAMPLES[0], has_batch=False)


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
