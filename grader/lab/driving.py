"""Listening to a run, to its end or until one has heard enough."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Event = dict[str, Any]

__all__ = ["drive"]


async def drive(
    run: Iterator[Event] | AsyncIterator[Event], stop_after: int | None = None
) -> list[Event]:
    """Take the events of a run, plain or async, and hand them back as a list.

    A run is closed when this stops early, and also when it raises: that is how a consumer walks
    away (page 10, "The user walks away"). Nothing here waits for anything by itself, so on a plain
    run the coroutine comes to its end in one step, with or without an event loop.

    Args:
        run: a generator of events, or an async one.
        stop_after: close the run once this many events have come; None hears it out. At 0 the run
            is closed before it has begun.

    Returns:
        The events, in the order they came.

    Raises:
        TypeError: ``run`` is not a run: a list, a message, a coroutine without ``yield``.
        ValueError: ``stop_after`` is less than nothing.
        Exception: whatever the run raises.
    """
    if stop_after is not None and stop_after < 0:
        raise ValueError(f"stop_after counts events and can't be {stop_after}")
    if isinstance(run, AsyncIterator):
        return await _drive_async(run, stop_after)
    if isinstance(run, Iterator):
        return _drive_plain(run, stop_after)
    kind = type(run).__name__
    raise TypeError(f"drive() takes a run, a generator of events, not a value of type {kind}")


def _drive_plain(run: Iterator[Event], stop_after: int | None) -> list[Event]:
    events: list[Event] = []
    try:
        while len(events) != stop_after:
            try:
                events.append(next(run))
            except StopIteration:
                break
    finally:
        if hasattr(run, "close"):
            run.close()
    return events


async def _drive_async(run: AsyncIterator[Event], stop_after: int | None) -> list[Event]:
    events: list[Event] = []
    try:
        while len(events) != stop_after:
            try:
                events.append(await anext(run))
            except StopAsyncIteration:
                break
    finally:
        if hasattr(run, "aclose"):
            await run.aclose()
    return events
