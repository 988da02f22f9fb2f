"""Options and fixtures of all tests, loaded by the conftest.py of tests/ and of generated/tests/."""

from __future__ import annotations

import pytest
import torch


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", default="cpu", help="where operators run: cpu, cuda, or cpu,cuda (default: cpu)")
    parser.addoption("--full", action="store_true", help="run memory tests at their full length")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cuda: collected only with --device cuda")


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
        metafunc.parametrize("device", devices or [NOWHERE])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cuda = "cuda" in _devices(config)
    items[:] = [item for item in items if _runs(item, cuda)]


def _runs(item: pytest.Item, cuda: bool) -> bool:
    """Whether a test can run on one of the devices asked for."""
    parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return parameters.get("device") != NOWHERE and (cuda or item.get_closest_marker("cuda") is None)


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to take the time that a test wants."""
    return bool(request.config.getoption("--full"))
