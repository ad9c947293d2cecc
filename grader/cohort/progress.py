"""How a batch tells how far it is: a bar on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from grader.cohort.naming import printable

if TYPE_CHECKING:
    from collections.abc import Callable

_EVERY_S = 10.0  # between two plain lines


class Progress(Protocol):
    """What a batch calls, from one thread."""

    def begin(self, total: int) -> None:
        """So many files are to be graded, or kept."""

    def done(self, verdict: str, *, kept: bool) -> None:
        """One more is known: "pass", "fail", "error"; `kept` where an earlier report still holds.

        Or "pending": it is not graded this time, and was not before.
        """

    def say(self, text: str) -> None:
        """Something that the instructor should read now."""

    def end(self) -> None:
        """Nothing more will come. Is called whatever happened, once."""


class Quiet:
    """Says nothing."""

    def begin(self, total: int) -> None:
        """See `Progress`."""

    def done(self, verdict: str, *, kept: bool) -> None:
        """See `Progress`."""

    def say(self, text: str) -> None:
        """See `Progress`."""

    def end(self) -> None:
        """See `Progress`."""


class Lines:
    """A line now and then, for logs.

    Args:
        stream: where to.
        clock: gives seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._tally = Tally()
        self._next_s = 0.0
        self._told = 0  # how many were done when they were last told of

    def begin(self, total: int) -> None:
        """See `Progress`."""
        self._tally, self._told = Tally(total, self._clock()), 0
        self._next_s = self._clock() + _EVERY_S

    def done(self, verdict: str, *, kept: bool) -> None:
        """See `Progress`."""
        self._tally.add(verdict, kept=kept)
        if self._clock() >= self._next_s:
            self._next_s = self._clock() + _EVERY_S
            self._tell()

    def say(self, text: str) -> None:
        """See `Progress`."""
        print(printable(text), file=self._stream, flush=True)

    def end(self) -> None:
        """See `Progress`."""
        if self._tally.total and self._told < max(self._tally.count, 1):
            self._tell()

    def _tell(self) -> None:
        self._told = self._tally.count
        self.say(self._tally.line(self._clock()))


class Tally:
    """What has been done so far, and how fast."""

    def __init__(self, total: int = 0, began_s: float = 0.0) -> None:
        self.total, self._began_s = total, began_s
        self.count = self.kept = 0
        self.verdicts = {"pass": 0, "fail": 0, "error": 0, "pending": 0}

    def add(self, verdict: str, *, kept: bool) -> None:
        """One more."""
        self.count += 1
        self.kept += kept
        self.verdicts[verdict] = self.verdicts.get(verdict, 0) + 1

    def rate(self, now_s: float) -> float:
        """Gradings a second; those that were kept or left out took no time and don't count."""
        return (self.count - self.kept - self.verdicts["pending"]) / max(
            now_s - self._began_s, 1e-3
        )

    def told(self) -> str:
        """The verdicts so far."""
        words = {"pass": "passed", "fail": "not passed", "error": "no verdict"}
        words["pending"] = "not graded yet"
        parts = [f"{n} {words.get(v, v)}" for v, n in self.verdicts.items() if n]
        return ", ".join(parts) + (f" ({self.kept} kept)" if self.kept else "")

    def line(self, now_s: float) -> str:
        """All of it on one line."""
        rate = self.rate(now_s)
        left = f", {(self.total - self.count) / rate:.0f} s left" if rate > 0 else ""
        left = left if self.count < self.total else ""
        return f"{self.count} of {self.total}, {rate:.1f} a second{left}: {self.told()}"


class Bar:
    """A bar with count, rate, time left and verdicts, by rich.

    Args:
        stream: a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        from rich import progress as live  # noqa: PLC0415 - only on a terminal
        from rich.console import Console  # noqa: PLC0415

        self._tally = Tally()
        self._live: Any = live.Progress(
            live.BarColumn(bar_width=30),
            live.MofNCompleteColumn(),
            live.TextColumn("{task.fields[rate]}/s", markup=False),
            live.TimeRemainingColumn(),
            live.TextColumn("{task.fields[told]}", markup=False),
            console=Console(file=stream),
        )
        self._task: Any = None

    def begin(self, total: int) -> None:
        """See `Progress`."""
        self._tally = Tally(total, time.monotonic())
        self._live.start()
        self._task = self._live.add_task("", total=total, told="", rate="0.0")

    def done(self, verdict: str, *, kept: bool) -> None:
        """See `Progress`."""
        self._tally.add(verdict, kept=kept)
        rate = f"{self._tally.rate(time.monotonic()):.1f}"
        self._live.update(self._task, advance=1, told=self._tally.told(), rate=rate)

    def say(self, text: str) -> None:
        """See `Progress`."""
        self._live.console.print(printable(text), markup=False, highlight=False)

    def end(self) -> None:
        """See `Progress`."""
        self._live.stop()


def choose(stream: TextIO, *, quiet: bool = False) -> Progress:
    """The progress that fits a stream: nothing when asked, a bar on a terminal, else lines.

    Without rich there are lines on a terminal, too.
    """
    if quiet:
        return Quiet()
    if not stream.isatty():
        return Lines(stream)
    try:
        return Bar(stream)
    except ImportError:
        return Lines(stream)
