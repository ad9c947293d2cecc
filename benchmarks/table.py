"""One line of the table: a figure, and what it may be at most, or has to be at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.measuring import Pair

_LINE = "{:<62} {:>9} {:>9} {:>8}  {}"


@dataclass(frozen=True)
class Row:
    """A figure with its target.

    `cpu` is the same ratio in CPU time, where there is one: it is what CI compares with what is recorded,
    because it does not mind a busy machine. `detail` says what the ratio is made of.
    """

    name: str
    value: float
    target: float
    unit: str = "x"
    at_least: bool = False
    cpu: float | None = None
    detail: str = ""

    @classmethod
    def of(cls, name: str, pair: Pair, *, at_most: float) -> Row:
        """The ratio of two commands that ran in turn."""
        a, b = pair.ours, pair.theirs
        detail = f"{a.wall_s:.3f} s / {b.wall_s:.3f} s; CPU {a.cpu_s:.3f} s / {b.cpu_s:.3f} s"
        return cls(name, pair.wall, at_most, cpu=pair.cpu, detail=detail)

    @property
    def met(self) -> bool:
        """Whether the figure is as good as it has to be."""
        return self.value >= self.target if self.at_least else self.value <= self.target

    def line(self) -> str:
        """The row as text."""
        bound = f"{'>=' if self.at_least else '<='} {self.target:g}"
        figure = f"{self.value:.2f} {self.unit}".rstrip()
        cpu = "" if self.cpu is None else f"{self.cpu:.2f}"
        verdict = ("" if self.met else "MISSED  ") + self.detail
        return _LINE.format(self.name, figure, bound, cpu, verdict).rstrip()


def head() -> str:
    """The line above the rows."""
    return _LINE.format("what", "figure", "target", "CPU", "medians").rstrip()


def worse(rows: Iterable[Row], recorded: dict[str, float], factor: float) -> list[str]:
    """The rows whose ratio of CPU times is more than `factor` times the recorded one, as sentences."""
    return [
        f"{row.name}: {row.cpu:.2f} times the CPU time; {recorded[row.name]:.2f} is on record."
        for row in rows
        if row.cpu is not None and row.name in recorded and row.cpu > factor * recorded[row.name]
    ]
