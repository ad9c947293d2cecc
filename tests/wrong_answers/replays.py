"""Do the replays in the reports really show the failure? Run in a student's kit, right beside wrong.

    python -m tests.wrong_answers.replays [--lesson N] [--every N] [--seed N]

A report of a failed test has a few lines of Python that show it again. For every wrong answer, and for
every Nth of its failed tests, they are run twice in a kit that `lab_check start` has written: with the
wrong answer as harness.py, and with the solution. They show the failure if the two runs print different
things, or one of them does not come to its end.

Exit status: 0 every replay shows its failure · 1 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader import grade, kit, lessons
from grader.judging import Judge
from grader.records import Limits
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes
from tests.wrong_answers import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.records import TestResult

SECONDS = 10.0  # for one replay
_ADDRESS = re.compile("0x[0-9a-f]+")


def printed(folder: Path, harness: str, replay: str) -> str:
    """What the lines print with this harness, errors included."""
    (folder / "harness.py").write_text(harness, encoding="utf-8")
    (folder / "replay.py").write_text(replay, encoding="utf-8")
    try:
        done = subprocess.run(
            [sys.executable, "-B", "replay.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "(it went on without end)"
    return _ADDRESS.sub("0x", done.stdout + done.stderr)


def failures(number: int, every: int, seed: int) -> Iterator[tuple[str, str, TestResult]]:
    """Wrong answers as harnesses, each with the failed tests whose replays are tried."""
    rooms, lesson = ProcessRooms(), lessons.find(number)
    turn = 0
    with contextlib.closing(Judge(rooms, lesson, Limits())) as judge:
        for entry in table.entries(number):
            source = table.edited(number, entry)
            report = grade(from_bytes(source.encode()), lesson, rooms=rooms, judge=judge, seed=seed)
            for test in report.tests:
                turn += test.outcome == "fail"
                if test.outcome == "fail" and turn % every == 0:
                    yield entry["name"], source, test


def main() -> int:
    """Run the replays, print how many show what they should."""
    parser = argparse.ArgumentParser(prog="python -m tests.wrong_answers.replays")
    numbers = sorted(int(path.stem[-2:]) for path in table.HERE.glob("lesson_*.toml"))
    parser.add_argument("--lesson", type=int, action="append", choices=numbers)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=table.FIRST_SEED)
    options = parser.parse_args()
    silent: list[str] = []
    for number in options.lesson or numbers:
        tried: Counter[str] = Counter()
        right = (table.HERE.parent / "solutions" / f"lesson_{number:02}" / "harness.py").read_text(
            encoding="utf-8"
        )
        with tempfile.TemporaryDirectory() as name:
            kit.write(lessons.find(number), Path(name))
            for wrong, source, test in failures(number, options.every, options.seed):
                tried[test.id] += 1
                if printed(Path(name), source, test.replay) == printed(
                    Path(name), right, test.replay
                ):
                    silent.append(f"lesson {number}, {wrong}, {test.id}: {test.message[:200]}")
        click.echo(f"lesson {number}: {sum(tried.values())} replays; {dict(tried)}")
    click.echo("\n".join(silent), err=True)
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
