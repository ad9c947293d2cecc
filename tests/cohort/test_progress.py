"""How a batch tells how far it is."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from grader.cohort import progress

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_lines_now_and_then() -> None:
    now = [0.0]
    stream = io.StringIO()
    lines = progress.Lines(stream, clock=lambda: now[0])
    lines.begin(4)
    for second, verdict in ((4, "pass"), (8, "pass"), (12, "fail")):
        now[0] = second
        lines.done(verdict, kept=verdict == "pass" and second == 4)
    lines.say("two\nlines \x1b[31m")
    lines.done("error", kept=False)
    lines.end()
    assert stream.getvalue().splitlines() == [
        "3 of 4, 0.2 a second, 6 s left: 2 passed, 1 not passed (1 kept)",
        "two",
        "lines \ufffd[31m",
        "4 of 4, 0.2 a second: 2 passed, 1 not passed, 1 no verdict (1 kept)",
    ]


def test_the_last_line_is_told_once() -> None:
    now = [0.0]
    stream = io.StringIO()
    lines = progress.Lines(stream, clock=lambda: now[0])
    for _ in range(2):  # the second time as the first
        lines.begin(1)
        now[0] += 20
        lines.done("pass", kept=False)
        lines.end()
    lines.begin(2)  # interrupted before anything was done: it is told, too
    lines.end()
    assert stream.getvalue().splitlines() == [
        "1 of 1, 0.1 a second: 1 passed",
        "1 of 1, 0.1 a second: 1 passed",
        "0 of 2, 0.0 a second: ",
    ]


def test_what_is_left_out_is_no_verdict_and_no_speed() -> None:
    tally = progress.Tally(2, 0.0)
    tally.add("pending", kept=False)
    tally.add("pass", kept=False)
    assert tally.line(10.0) == "2 of 2, 0.1 a second: 1 passed, 1 not graded yet"


def test_a_bar_on_a_terminal() -> None:
    stream = Terminal()
    bar = progress.choose(stream)
    assert isinstance(bar, progress.Bar)
    bar.begin(2)
    bar.done("pass", kept=False)
    bar.say("[red]plain")
    bar.done("fail", kept=False)
    bar.end()
    assert "[red]plain" in stream.getvalue()
    assert "1 passed, 1 not passed" in stream.getvalue()


def test_what_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(progress.choose(io.StringIO()), progress.Lines)
    assert isinstance(progress.choose(Terminal(), quiet=True), progress.Quiet)

    def without_rich(*_: object) -> None:
        raise ImportError

    monkeypatch.setattr(progress.Bar, "__init__", without_rich)
    assert isinstance(progress.choose(Terminal()), progress.Lines)
