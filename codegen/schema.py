"""codegen/ops.schema.json: the form of a spec as JSON Schema, for editors (yaml-language-server reads it).

Made of keys.py, so that an editor knows exactly the keys that the checks know, and shows their docs. A schema knows
forms only: names, shapes and conditions are seen by `python -m codegen check`. Editors type scalars as YAML does,
so wherever the language has a text or an expression, a number or a bool is one too.
"""

from __future__ import annotations

import json
from typing import TypeAlias

from codegen import keys
from codegen.keys import Form, Key, Table, Word
from codegen.parse_type import SCALAR_KINDS
from codegen.types import DTYPES, GROUPS

NAME = "ops.schema.json"
Json: TypeAlias = "dict[str, Json] | list[Json] | str | bool | int"

_NAME = "^[A-Za-z][A-Za-z0-9_]{0,63}$"
_TEXT: list[Json] = ["string", "number", "boolean"]
# `T[...]`, `acc(T)[...]`, or a scalar with its marks and its default.
_TYPE = rf"^\s*(acc\(.*\)\s*\[|[A-Za-z]\w*\[|({'|'.join(SCALAR_KINDS)})(\W|$))"


def schema() -> bytes:
    """The file."""
    top = _table(keys.TOP)
    top = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "ops.yaml",
        "description": "Every operator of a library. The language is described in docs/language.md.",
        **top,
    }
    return (json.dumps(top, indent=1) + "\n").encode()


def _table(table: Table) -> dict[str, Json]:
    known: dict[str, Json] = {key.name: _key(key) for key in table.keys}
    found: dict[str, Json] = {"type": "object", "properties": known, "additionalProperties": False}
    required: list[Json] = [key.name for key in table.keys if key.required]
    return found | ({"required": required} if required else {})


def _key(key: Key) -> dict[str, Json]:
    return {"description": key.doc, **_form(key.form)}


def _form(form: Form) -> dict[str, Json]:
    match form:
        case keys.Text() | keys.Expression():
            return {"type": _TEXT}
        case keys.TypeText():
            return {"type": "string", "pattern": _TYPE, "description": _type_doc(form.section)}
        case keys.Name():
            return {"type": "string", "pattern": _NAME}
        case keys.Flag():
            return {"type": "boolean"}
        case keys.Number():
            return {"type": "number"}
        case keys.OneOf():
            return {"enum": list(form.words)}
        case keys.Dtypes():
            named: list[Json] = [*dict.fromkeys((*GROUPS, *DTYPES))]
            # An item may be an earlier variable, whose name is free.
            item: Json = {"anyOf": [{"enum": [*DTYPES]}, {"type": "string", "pattern": _NAME}]}
            return {"anyOf": [{"enum": named}, {"type": "array", "items": item, "minItems": 1}]}
        case keys.ListOf():
            return {"type": "array", "items": _form(form.item)}
        case keys.Named():
            return {"type": "object", "additionalProperties": _form(form.item)}
        case keys.Table():
            return _table(form)
        case keys.Either():
            return {"anyOf": [_form(one) for one in form.forms]}


def _type_doc(section: str) -> str:
    words = "; ".join(f"{_word(word)}: {word.doc}" for word in keys.WORDS[section])
    return f"dtype[dims], then ?, [], ?, !, words, = default. Words here: {words}."


def _word(word: Word) -> str:
    return f"{word.name}({word.argument})" if word.argument else word.name
