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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        devices = _devices(metafunc.config)
        if metafunc.definition.get_closest_marker("cuda"):
            devices = ["cuda"]
        metafunc.parametrize("device", devices)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "cuda" not in _devices(config):
        items[:] = [item for item in items if item.get_closest_marker("cuda") is None]


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to take the time that a test wants."""
    return bool(request.config.getoption("--full"))
