"""The records that cross into a room or come back from one, and the one encoding of all records.

Apart from `records`, because the rooms import this one and not the others, and start-up counts there: for
the same reason its records are named tuples, which need no `dataclasses`. `to_json` turns any record into
plain JSON, `from_json` builds any; nothing else encodes or decodes one.
"""

from __future__ import annotations

import functools
import types
import typing
from typing import Any, Literal, NamedTuple

Kind = Literal[
    "rule",
    "exception",
    "timeout",
    "crash",
    "memory",
    "output",
    "protocol",
    "missing_name",
    "load",
]
ProblemKind = Literal[
    "not_a_file",
    "too_large",
    "encoding",
    "syntax_error",
    "import_error",
    "load_timeout",
    "load_crash",
]


class Limits(NamedTuple):
    """What a submission may use. Times in seconds, sizes in bytes."""

    submission_bytes: int = 1 << 20
    scene_cpu_s: float = 2.0
    scene_wall_s: float = 10.0  # generous, so that a loaded machine fails nobody
    hurried_wall_s: float = 1.25  # once `patience` scenes have used up the wall limit
    patience: int = 2
    total_s: float = 60.0
    memory_bytes: int = 256 << 20
    processes: int = 64
    cpus: float = 1.0
    frame_bytes: int = 1 << 20
    stdout_bytes: int = 8 << 10
    judge_s: float = 30.0  # how long the judge may think between two frames; its silence is ours


class Problem(NamedTuple):
    """One cause for the whole file: said once, the tests it stops are `not_run`."""

    kind: ProblemKind
    message: str
    line: int | None = None
    help: str = ""


class SceneFault(NamedTuple):
    """A scene that gave no observation, and why. What the stage says instead of what was seen."""

    kind: Kind | Literal["scene"]  # "scene": a fault in our own scene, never the submission's
    message: str
    line: int | None = None
    traceback: tuple[str, ...] = ()
    stdout: str = ""
    name: str = ""  # of a missing name: what is missing


class Seen(NamedTuple):
    """How a job's process ended, as the stage saw it."""

    status: int | None = None  # below 0 the signal that ended it; None: it was not seen to end
    cpu_s: float = 0.0
    timed_out: bool = False  # its time on the clock was up
    out_of_memory: bool = False  # the kernel ended something for want of memory meanwhile


def fields_of(record: Any) -> tuple[str, ...]:
    """The names of a record's fields, or of a record type's; () for anything else."""
    dataclass: dict[str, Any] = getattr(record, "__dataclass_fields__", {})
    named: tuple[str, ...] = getattr(record, "_fields", ())
    return tuple(dataclass) or named


def to_json(record: Any) -> Any:
    """A record, or a tuple of records, as plain JSON. `schema_version` comes first."""
    if names := fields_of(record):
        ordered = sorted(names, key=lambda name: name != "schema_version")
        return {name: to_json(getattr(record, name)) for name in ordered}
    if isinstance(record, (list, tuple)):
        return [to_json(item) for item in record]
    return record


def from_json(wanted: Any, data: Any) -> Any:
    """Build `wanted`, a record type or a type built from some, from plain JSON.

    Raises:
        ValueError: `data` does not have the shape that `wanted` asks for.
    """
    origin = typing.get_origin(wanted)
    if fields_of(wanted):
        return _record_from_json(wanted, data)
    if origin is tuple:
        if not isinstance(data, list):
            raise ValueError(f"expected a list, got {type(data).__name__}")
        return tuple(from_json(typing.get_args(wanted)[0], item) for item in data)
    if origin is Literal:
        if data not in typing.get_args(wanted):
            raise ValueError(f"expected one of {typing.get_args(wanted)}, got {data!r}")
        return data
    if origin is types.UnionType or origin is typing.Union:
        return _union_from_json(typing.get_args(wanted), data)
    if wanted is float and type(data) is int:
        return float(data)
    if type(data) is not wanted:
        raise ValueError(f"expected {wanted.__name__}, got {type(data).__name__}")
    return data


def _record_from_json(wanted: Any, data: Any) -> Any:
    if not isinstance(data, dict):
        raise ValueError(  # noqa: TRY004 - one exception for whatever is wrong with the data
            f"{wanted.__name__}: expected an object, got {type(data).__name__}"
        )
    hints = _hints(wanted)
    unknown = sorted(set(data) - set(hints))
    if unknown:
        raise ValueError(f"{wanted.__name__}: unknown field {unknown[0]!r}")
    try:
        return wanted(**{name: from_json(hints[name], value) for name, value in data.items()})
    except TypeError as exc:
        raise ValueError(str(exc)) from exc


@functools.cache
def _hints(wanted: Any) -> dict[str, Any]:
    return typing.get_type_hints(wanted)


def _union_from_json(choices: tuple[Any, ...], data: Any) -> Any:
    if data is None and types.NoneType in choices:
        return None
    reasons = []
    for choice in choices:
        if choice is not types.NoneType:
            try:
                return from_json(choice, data)
            except ValueError as exc:
                reasons.append(str(exc))
    raise ValueError(" or ".join(reasons))
