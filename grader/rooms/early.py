"""Rooms opened before the command line is read: to open takes longer than the rest of the command does to start.

Whether they will be wanted is guessed from the words; nothing depends on the guess but time.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from grader.rooms import engine_likely

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.rooms import EagerRooms

_DECIDES_MORE = frozenset({"--help", "-h", "--config", "--timeout"})

_opened: list[EagerRooms] = []


def open_for(words: Sequence[str]) -> None:
    """Open the rooms that these words will probably ask for.

    Args:
        words: of the command line, without the program's name.
    """
    kind = guess(words, os.environ)
    if not kind:
        return
    from grader.errors import RoomError  # noqa: PLC0415 - only where they are likely

    try:
        _opened.append(_processes() if kind == "local" else _containers())
    except (RoomError, OSError):
        return  # to be told when they are asked for


def take(name: str) -> EagerRooms | None:
    """What was opened, once, if it is of this kind: it is the caller's to close."""
    return _opened.pop() if _opened and _opened[0].name == name else None


def close() -> None:
    """End what nobody took."""
    while _opened:
        _opened.pop().close()


def guess(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """The kind of rooms for which these words look, "local" or "docker"; "" where they don't, or can't be told."""
    if not words or not (
        words[0].startswith("-") or words[0] == "grade" or words[0].endswith(".py")
    ):
        return ""
    named = [word for word in words if word == "--lesson" or word.startswith("--lesson=")]
    if not (named or "LAB_CHECK_LESSON" in environment):
        return ""
    if _DECIDES_MORE & {word.partition("=")[0] for word in words}:
        return ""
    if not any(word == "-" or os.path.isfile(word) for word in words):  # noqa: PTH113 - start-up time
        return ""
    runner = environment.get("LAB_CHECK_RUNNER", "auto")
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word == "--runner" or word.startswith("--runner="):
            runner = word.partition("=")[2] or after
    if runner == "auto":
        return "docker" if engine_likely(environment) else "local"
    return runner if runner in ("local", "docker") else ""


def _processes() -> EagerRooms:
    from grader.rooms.process import ProcessRooms  # noqa: PLC0415 - one kind is used

    rooms = ProcessRooms()
    rooms.open_ahead(stage=False)  # which is quicker, and would be in its way
    return rooms


def _containers() -> EagerRooms:
    from grader.rooms.container import ContainerRooms  # noqa: PLC0415 - one kind is used

    rooms = ContainerRooms()
    rooms.open_ahead()
    return rooms
