"""Everything this program raises on purpose, in one tree.

    LabCheckError                 anything below; carries what to do about it in `help`
    ├── UsageError                the call itself is off: another flag, another path      exit 2
    │   └── UnknownLessonError    there is no such lesson; names those there are
    ├── SubmissionError           the handed-in file can't be graded; becomes a `problem`  exit 1
    ├── LessonError               a lesson folder is broken; tells the author file and line exit 3
    ├── StoreError                a batch's folder can't be written to                     exit 3
    ├── WireError                 a frame that is too large, cut, or not plain JSON
    └── RoomError                 a room could not be opened, died or fell silent          exit 3

A student is never blamed for a `LessonError`, a `WireError` or a `RoomError`. This module imports
nothing of ours, so that everything else can import it.
"""

from __future__ import annotations

from typing import Literal


class LabCheckError(Exception):
    """The root of the tree.

    Args:
        message: one sentence that says what happened.
        help: what the reader can do about it; empty where nothing is known to help.
    """

    def __init__(self, message: str, *, help: str = "") -> None:  # noqa: A002 - the field's name
        super().__init__(message)
        self.message = message
        self.help = help


class UsageError(LabCheckError):
    """The call can't be carried out as it was written."""


class UnknownLessonError(UsageError):
    """No lesson of that number is in the catalogue."""


class SubmissionError(LabCheckError):
    """The handed-in file can't be graded at all. `kind` and `line` are those of the `problem`."""

    def __init__(
        self,
        kind: Literal["not_a_file", "too_large", "encoding"],
        message: str,
        *,
        line: int | None = None,
        help: str = "",  # noqa: A002 - the field's name
    ) -> None:
        super().__init__(message, help=help)
        self.kind: Literal["not_a_file", "too_large", "encoding"] = kind
        self.line = line


class LessonError(LabCheckError):
    """A lesson folder is incomplete or contradicts itself; the message names file and line."""


class StoreError(LabCheckError):
    """The output folder of a batch can't be written to. What was there is as it was."""


class WireError(LabCheckError):
    """Bytes from a room are not a frame: too long, cut short, or not plain JSON."""


class RoomError(LabCheckError):
    """A room can't be opened, died, or did not answer in its time.

    Args:
        reason: "open", it can't be opened; "died", "memory" or "silent", what a submission can bring a
            stage to; "engine", what happened to it from outside; "untrusted", what it told can't be right.
    """

    def __init__(self, message: str, *, reason: str, help: str = "") -> None:  # noqa: A002
        super().__init__(message, help=help)
        self.reason = reason
