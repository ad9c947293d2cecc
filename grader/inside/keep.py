"""What a stage holds for one submission, taken in from the first frame that it is sent."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.carried import Limits, from_json

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Keep:
    """One submission, and what it is played with.

    Args:
        source: the submission's text.
        scenes: by name.
        limits: what a scene may use.
        processes: more than this many may not run under the player's user; None: nobody counts them.
        code: the source compiled, for `marshal`; empty where that has not been done, or can't be.
    """

    source: str
    scenes: dict[str, Callable[..., Any]]
    limits: Limits
    processes: int | None = None
    code: bytes = b""


def take_in(first: dict[str, Any]) -> Keep:
    """Make a `Keep` of the first frame: our own modules and scenes are executed here, once."""
    import lab  # noqa: F401, PLC0415 - so that a player has it already

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
