"""The scenes of lesson 90: call a function, write down what came back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.inside.actor import Actor


def call(actor: Actor, function: str, values: list[Any]) -> dict[str, Any]:
    """Call `function` with `values`."""
    return {"value": actor.plain(actor.call(function, actor.need(function), *values))}
