"""Rooms opened before the command line is read: the judge takes longer to start than the rest of the command.

Whether they will be wanted is guessed from the words; nothing depends on the guess but time. Only plain
processes: to open a container takes imports that would hold the command line up.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from grader.rooms import engine_likely

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.rooms.process import ProcessRooms

_opened: list[ProcessRooms] = []


def open_for(words: Sequence[str]) -> None:
    """Open a judge in a plain process, if that is what these words will ask for.

    Args:
        words: of the command line, without the program's name.
    """
    if likely(words, os.environ):
        from grader.errors import RoomError  # noqa: PLC0415 - only where they are likely
        from grader.rooms.process import ProcessRooms  # noqa: PLC0415

        try:
            _opened.append(ProcessRooms())
            _opened[0].open_ahead(stage=False)  # which is quicker, and would be in its way
        except (RoomError, OSError):
            return  # to be told when they are asked for


def take() -> ProcessRooms | None:
    """What was opened, once: it is the caller's to close."""
    return _opened.pop() if _opened else None


def close() -> None:
    """End what nobody took."""
    while _opened:
        _opened.pop().close()


def likely(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether these words look like a grading in plain processes."""
    if not words or not (
        words[0].startswith("-") or words[0] == "grade" or words[0].endswith(".py")
    ):
        return False
    named = [word for word in words if word == "--lesson" or word.startswith("--lesson=")]
    if not (named or "LAB_CHECK_LESSON" in environment) or {"--help", "-h", "--config"} & {*words}:
        return False
    runner = environment.get("LAB_CHECK_RUNNER", "auto")
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word == "--runner" or word.startswith("--runner="):
            runner = word.partition("=")[2] or after
    return runner == "local" or (runner == "auto" and not engine_likely(environment))
