"""The JSON Schema of a report, made from the records. `python -m grader.schema` prints it.

docs/report.schema.json is a copy of it, kept in step by a test.
"""

from __future__ import annotations

import json
import types
import typing
from typing import Any, Literal

from grader.carried import fields_of
from grader.records import SCHEMA_VERSION, Report

_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def report_schema() -> dict[str, Any]:
    """A draft 2020-12 schema for what `to_json(report)` gives."""
    definitions: dict[str, Any] = {}
    root = _record(Report, definitions)
    root["properties"]["schema_version"] = {"const": SCHEMA_VERSION}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lab_check report",
        **root,
        "$defs": definitions,
    }


def _record(record: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(record)
    names = list(fields_of(record))
    return {
        "type": "object",
        "description": (record.__doc__ or "").strip().split("\n")[0],
        "properties": {name: _schema(hints[name], definitions) for name in names},
        "required": names,
        "additionalProperties": False,
    }


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin = typing.get_origin(hint)
    if fields_of(hint):
        name = hint.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _record(hint, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if origin is tuple:
        return {"type": "array", "items": _schema(typing.get_args(hint)[0], definitions)}
    if origin is Literal:
        return {"enum": list(typing.get_args(hint))}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_schema(choice, definitions) for choice in typing.get_args(hint)]}
    return {"type": _PLAIN[hint]}


if __name__ == "__main__":
    print(json.dumps(report_schema(), indent=2))  # noqa: T201 - a program's output
