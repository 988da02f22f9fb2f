"""Why targets are missed, as far as it is known: limits.yaml."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from .targets import Verdict

FILE = Path(__file__).with_name("limits.yaml")


def reasons(device: str, file: Path = FILE) -> dict[str, str]:
    """By operator."""
    return dict((yaml.safe_load(file.read_text()) or {}).get(device, {}))


def of_missed(found: Iterable[Verdict], known: Mapping[str, str]) -> list[str]:
    """A line for each operator that misses a target and has a reason."""
    missed = dict.fromkeys(one.operator for one in found if not one.met)
    lines = [f"- `{operator}`: {known[operator]}" for operator in missed if operator in known]
    return ["What limits operators that miss a target, where that is known:", "", *lines, ""] if lines else []
