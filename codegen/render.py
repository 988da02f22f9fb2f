"""Fills templates with views. Decides nothing: every string of a view is final, and templates hold layout only.

What a template may do is `{{ field }}`, `for`, `if flag`, `include` and comments; tests/codegen/test_render.py walks
the syntax trees of all templates and refuses anything else.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined
from jinja2.sandbox import SandboxedEnvironment


class _Sandbox(SandboxedEnvironment):
    """Views hold strings, lists and booleans, no functions: public fields are all there is to see, and nothing can be
    called.
    """

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        return not attr.startswith("_")

    def is_safe_callable(self, obj: object) -> bool:
        return False


class Renderer:
    """The templates of one folder. A field that a view does not have is an error, never an empty string."""

    def __init__(self, folder: Path) -> None:
        self.environment = _Sandbox(
            loader=FileSystemLoader(folder),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
            cache_size=-1,
        )

    def render(self, template: str, view: object) -> bytes:
        """The file that `template` makes of `view`, a dataclass whose fields are the template's names."""
        values = {field.name: getattr(view, field.name) for field in fields(view)}  # type: ignore[arg-type]
        return self.environment.get_template(template).render(values).encode()
