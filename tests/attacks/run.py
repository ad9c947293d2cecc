"""Run every attack on every runner and print the table: `python tests/attacks/run.py [--on RUNNER] [PART OF A NAME…]`.

Exit status 1 where an attack was not contained on docker or local. What the naive grader lets through
is what it is for.
"""

# ruff: noqa: T201 - printing is what it is for

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from grader.errors import LabCheckError
from grader.rooms.container import ContainerRooms
from grader.rooms.process import ProcessRooms
from tests.attacks import suite
from tests.attacks.containers import run_naively
from tests.attacks.malformed import malformed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.attacks.suite import Attack, Bait, Result

_AT_ONCE = 3
_COLUMNS = ("tried", "contained", "false passes", "disturbed", "leaked")


@dataclass
class Row:
    """One group on one runner."""

    tried: int = 0
    contained: int = 0
    false_passes: int = 0
    disturbed: int = 0
    leaked: set[str] = field(default_factory=set)

    def add(self, result: Result) -> None:
        """Count one attack."""
        self.tried += 1
        self.contained += result.contained
        self.false_passes += len(result.false_passes)
        self.disturbed += len(result.disturbed)
        self.leaked |= set(result.leaked)

    def cells(self) -> list[str]:
        """The numbers, as text; what leaked in bytes."""
        leaked = sum(len(secret.encode()) for secret in self.leaked)
        numbers = (self.tried, self.contained, self.false_passes, self.disturbed, leaked)
        return [f"{number:,}" for number in numbers]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", action="append", choices=("docker", "local", "naive"))
    parser.add_argument("words", nargs="*", metavar="PART OF A NAME")
    asked = parser.parse_args(arguments)
    words = asked.words
    with tempfile.TemporaryDirectory() as folder:
        lure = suite.bait(Path(folder) / "lessons")
        (Path(folder) / "malformed").mkdir()
        chosen = [
            attack
            for attack in (*suite.attacks(), *malformed(Path(folder) / "malformed"))
            if not attack.limit and (not words or any(word in attack.name for word in words))
        ]
        good = True
        for runner, run in _runners(lure):
            if asked.on and runner not in asked.on:
                continue
            rows: dict[str, Row] = defaultdict(Row)
            tried = [attack for attack in chosen if runner == "naive" or not attack.runs_on(runner)]
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                for attack, result in zip(tried, pool.map(run, tried), strict=True):
                    if result is None:
                        continue
                    rows[attack.group].add(result)
                    if not result.contained and runner != "naive":
                        good = False
                        print(f"NOT CONTAINED on {runner}: {attack.name}: {result}")
            _print(runner, rows)
        for attack in suite.attacks():
            if attack.limit:
                print(f"Known not to be contained: {attack.name}: {attack.limit}.")
    return 0 if good else 1


def _runners(lure: Bait) -> list[tuple[str, Callable[[Attack], Result | None]]]:
    def graded_in(rooms: ProcessRooms | ContainerRooms) -> Callable[[Attack], Result]:
        judges = suite.Judges(rooms, lure)
        return lambda attack: suite.run(attack, rooms, judges, lure)[1]

    found: list[tuple[str, Callable[[Attack], Result | None]]] = []
    made_of = None
    try:
        containers = ContainerRooms(limits=suite.LIMITS)
        found.append(("docker", graded_in(containers)))
        made_of = containers.image
    except LabCheckError as exc:
        print(f"No containers: {exc.message} {exc.help}")
    found.append(("local", graded_in(ProcessRooms())))
    if made_of is not None:
        found.append(("naive", functools.partial(run_naively, lure=lure, made_of=made_of)))
    return found


def _print(runner: str, rows: dict[str, Row]) -> None:
    whole = Row()
    print(f"\n{runner:<12}" + "".join(f"{name:>14}" for name in _COLUMNS))
    for group in suite.GROUPS:
        row = rows[group]
        print(f"  {group:<10}" + "".join(f"{cell:>14}" for cell in row.cells()))
        whole.tried += row.tried
        whole.contained += row.contained
        whole.false_passes += row.false_passes
        whole.disturbed += row.disturbed
        whole.leaked |= row.leaked
    print(f"  {'all':<10}" + "".join(f"{cell:>14}" for cell in whole.cells()), flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
