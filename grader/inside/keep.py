"""What a stage holds for one submission, taken in from the first frame that it is sent."""

from __future__ import annotations

import importlib
import re
import sys
import types
from typing import TYPE_CHECKING, Any

from grader.carried import Limits, from_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Of the standard library, what harnesses are written with, and what does nothing when it is imported. It is
# imported once, where the source seems to, instead of in each process that plays a scene.
_FAMILIAR = frozenset(
    [
        "abc",
        "asyncio",
        "bisect",
        "collections",
        "contextlib",
        "copy",
        "dataclasses",
        "datetime",
        "enum",
        "functools",
        "heapq",
        "inspect",
        "itertools",
        "json",
        "logging",
        "math",
        "operator",
        "queue",
        "random",
        "re",
        "string",
        "textwrap",
        "threading",
        "time",
        "typing",
        "uuid",
    ]
)


class Keep:
    """One submission, and what it is played with.

    Args:
        source: the submission's text.
        scenes: by name.
        limits: what a scene may use.

    Attributes:
        processes: more than this many may not run under the player's user; None: nobody counts them.
        code: the source compiled, for `marshal`; empty where that has not been done, or can't be.
    """

    def __init__(
        self, source: str, scenes: Mapping[str, Callable[..., Any]], limits: Limits
    ) -> None:
        self.source = source
        self.scenes = scenes
        self.limits = limits
        self.processes: int | None = None
        self.code = b""


def take_in(first: dict[str, Any]) -> Keep:
    """Make a `Keep` of the first frame: our own modules and scenes are executed here, once."""
    import lab  # noqa: F401, PLC0415 - so that a player has it already

    for name in _FAMILIAR.intersection(re.findall(r"\b(?:import|from)\s+(\w+)", first["source"])):
        importlib.import_module(name)
    for name, source in first["modules"].items():
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(source, f"{name}.py", "exec", dont_inherit=True), module.__dict__)
    scenes: dict[str, Any] = {"__name__": "scenes"}
    exec(compile(first["scenes"], "scenes.py", "exec", dont_inherit=True), scenes)
    return Keep(
        first["source"],
        {name: scene for name, scene in scenes.items() if callable(scene)},
        from_json(Limits, first["limits"]),
    )
