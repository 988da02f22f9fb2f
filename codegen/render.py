"""Fills templates with views. Decides nothing: every string of a view is final, and templates hold layout only.

What a template may do is `{{ field }}`, `for`, `if flag`, `include` and comments; tests/codegen/test_render.py walks
the syntax trees of all templates and refuses anything else.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import BytecodeCache, FileSystemLoader, StrictUndefined, compiler
from jinja2.bccache import Bucket
from jinja2.sandbox import SandboxedEnvironment

from codegen.wrap import wrapped

_LAYOUT = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}


class _Sandbox(SandboxedEnvironment):
    """Views hold strings, lists and booleans, no functions: public fields are all there is to see, and nothing can be
    called.
    """

    def getattr(self, obj: object, attribute: str) -> object:
        if attribute.startswith("_"):
            return self.unsafe_undefined(obj, attribute)
        try:
            return getattr(obj, attribute)
        except AttributeError:
            return self.undefined(obj=obj, name=attribute)

    def is_safe_callable(self, obj: object) -> bool:
        return False


class _Compiled(BytecodeCache):
    """Templates as bytecode, in __pycache__ like that of modules and under the same switches. One is taken only for the
    very text that it was made of, by the same compiler with the same layout.
    """

    def __init__(self) -> None:
        self.made_by = f"{compiler.__file__} {os.stat(compiler.__file__).st_mtime_ns} {_LAYOUT}"

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        return cache_from_source(filename or name)

    def get_source_checksum(self, source: str) -> str:
        return hashlib.sha256(f"{self.made_by}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError, EOFError, ValueError, TypeError):
            checksum, code = Path(bucket.key).read_bytes().split(b"\n", 1)
            if checksum.decode() == bucket.checksum:
                bucket.code = marshal.loads(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        # Where nothing can be written, the next run compiles again.
        with contextlib.suppress(OSError):
            Path(bucket.key).parent.mkdir(parents=True, exist_ok=True)
            own = Path(f"{bucket.key}.{os.getpid()}")
            own.write_bytes(bucket.checksum.encode() + b"\n" + marshal.dumps(bucket.code))
            own.replace(bucket.key)


class Renderer:
    """The templates of one folder. A field that a view does not have is an error, never an empty string."""

    def __init__(self, folder: Path) -> None:
        self.environment = _Sandbox(
            loader=FileSystemLoader(folder),
            undefined=StrictUndefined,
            auto_reload=False,
            cache_size=-1,
            bytecode_cache=_Compiled(),
            **_LAYOUT,
        )

    def render(self, template: str, view: object) -> bytes:
        """The file that `template` makes of `view`, a dataclass whose fields are the template's names."""
        layout = self.environment.get_template(template)
        # `shared`: without a copy of Jinja's globals, which are functions, for each file.
        text = "".join(layout.root_render_func(layout.new_context(vars(view), shared=True)))
        return (wrapped(text) if template.endswith(".py.j2") else text).encode()
