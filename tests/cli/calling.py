"""The command, called in this process: quick, and everything but the process is real."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from grader import cli

ROOT = Path(__file__).parent.parent.parent
RIGHT = ROOT / "tests" / "solutions" / "lesson_10" / "harness.py"
STARTER = ROOT / "starters" / "lesson_10" / "harness.py"
# Of two results the newest wins, and what is sent is not repaired: it fails test 4 and some after that.
WRONG = (
    RIGHT.read_text(encoding="utf-8")
    .replace("for message in reversed(messages):", "for message in messages:")
    .replace("return repair_tool_history(sent)", "return sent")
)


@dataclass(frozen=True)
class Done:
    """How a call ended."""

    status: int
    out: str
    err: str

    @property
    def score(self) -> str:
        return self.out.splitlines()[-1]


class Call:
    """Calls `lab_check`.

    Args:
        capsys: what it prints is taken from here.
    """

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *args: str | Path) -> Done:
        self._capsys.readouterr()
        status = cli._run([str(arg) for arg in args])
        return Done(int(status), *self._capsys.readouterr())

    def grade(self, *args: str | Path) -> Done:
        """For lesson 10, in plain processes."""
        return self("--lesson", "10", "--runner", "local", *args)
