"""Options and fixtures of all tests, loaded by the conftest.py of tests/ and of generated/tests/."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

# Before PyTorch is loaded. Threads that spin while they wait take the cores of processes that run beside them, and
# Inductor's pool of compilers takes longer to start than the little that there is to compile.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

# So that processes side by side do not ask for every core each. Two threads, where there are no more: work is split.
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    share = (os.cpu_count() or 1) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    os.environ.setdefault("OMP_NUM_THREADS", str(max(2, share)))

import torch


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default="cpu", help="cpu (default), cuda: only what runs on a GPU, or both: cpu,cuda")
    parser.addoption("--full-matrix", action="store_true", help="run every case of an operator's matrix: select some")
    parser.addoption("--full", action="store_true", help="run memory tests at their full length")
    parser.addini("long_tests", "files that begin first where there are several processes, longest first", "args")
    parser.addini("single_tests", "files whose tests go to processes one by one, not all to one", "args")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cuda(devices=1): needs a GPU, or so many of them; collected where they are")


def _devices(config: pytest.Config) -> list[str]:
    devices = config.getoption("--device").split(",")
    unknown = [device for device in devices if device not in ("cpu", "cuda")]
    if unknown:
        raise pytest.UsageError(f"--device: expected cpu, cuda or cpu,cuda, got {','.join(devices)}")
    if "cuda" in devices and not torch.cuda.is_available():
        raise pytest.UsageError(f"--device cuda: PyTorch {torch.__version__} sees no GPU here")
    return devices


NOWHERE = "nowhere"  # the device of tests that none of the devices asked for can run


def _built_for(module: object) -> tuple[str, ...]:
    """The devices of the operator that a generated test is about: none, where this PyTorch lacks a dtype of it."""
    operator = getattr(module, "OP", None)
    if operator is None:
        return ("cpu", "cuda")
    return operator.runs_on if operator.callable_here else ()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        devices = [device for device in _devices(metafunc.config) if device in _built_for(metafunc.module)]
        if metafunc.definition.get_closest_marker("cuda"):
            devices = [device for device in ("cuda",) if device in _built_for(metafunc.module)]
        if "case" in metafunc.fixturenames:
            _parametrize_cases(metafunc, devices)
        else:
            metafunc.parametrize("device", devices or [NOWHERE])


def _parametrize_cases(metafunc: pytest.Metafunc, devices: list[str]) -> None:
    """The case matrix of an operator, which may differ from device to device."""
    from tests.harness import matrix

    full = bool(metafunc.config.getoption("--full-matrix"))
    pairs = [(device, case) for device in devices for case in matrix.cases(metafunc.module, device, full=full)]
    metafunc.parametrize(
        ("device", "case"), pairs or [(NOWHERE, None)], ids=[f"{device}-{case}" for device, case in pairs] or [NOWHERE]
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    devices = _devices(config)
    items[:] = [item for item in items if _runs(item, devices)]
    if hasattr(config, "workerinput"):  # one of several processes: what takes long begins early
        long: list[str] = config.getini("long_tests")
        items.sort(key=lambda item: _rank(item.nodeid, long))


def _rank(test: str, long: list[str]) -> int:
    """The place of a test among all: those of `long` files, then those of operators, then the rest."""
    places = [place for place, file in enumerate(long) if test.startswith(file)]
    return places[0] if places else len(long) + (not test.startswith("generated/"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each process takes one file after the other, since tests of a file share what they build; of those in
    `single_tests` it takes single tests.
    """
    from xdist.scheduler import LoadScopeScheduling

    alone = tuple(config.getini("single_tests"))

    class Files(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith(alone) else nodeid.partition("::")[0]

    config.option.loadscopereorder = False
    return Files(config, log)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    layouts = sys.modules.get("tests.harness.layouts")
    if layouts is not None:  # else nothing is pinned, and the library may not be there
        layouts.release_pinned()


def _runs(item: pytest.Item, devices: list[str]) -> bool:
    """Whether a test can run on one of the devices asked for. One that asks for none runs with those of the CPU."""
    marker = item.get_closest_marker("cuda")
    if marker is not None and ("cuda" not in devices or torch.cuda.device_count() < marker.kwargs.get("devices", 1)):
        return False
    if not isinstance(item, pytest.Function):
        return "cpu" in devices
    if marker is None and not {"device", "devices"} & set(item.fixturenames):
        return "cpu" in devices
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("device") != NOWHERE


@pytest.fixture
def devices(request: pytest.FixtureRequest) -> str:
    """The option --device, for a test that starts others."""
    return str(request.config.getoption("--device"))


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to take the time that a test wants."""
    return bool(request.config.getoption("--full"))
