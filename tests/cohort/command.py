"""The real command on a made-up cohort, in a process of its own, and whether nothing was lost by what befell it."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.batch.keeping import incomplete
from grader.records import report_from_json
from tests.cohort import make_cohort

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
_PATIENCE_S = 300.0


class Command:
    """`lab_check batch` for the small lesson.

    Args:
        source: what was handed in.
        out: where results are kept.
        more: further options.
        engine: the address of another engine than everybody's.
    """

    def __init__(self, source: Path, out: Path, *more: str, engine: str = "") -> None:
        self.out = out
        lessons = str(ROOT / "tests" / "cohort" / "lessons")
        self._command = [
            *(sys.executable, "-m", "grader", "batch", "--lesson", "90", "--lessons", lessons),
            *("--workers", "2", "--out", str(out), *more, str(source)),
        ]
        self._env = {**os.environ, **({"DOCKER_HOST": engine} if engine else {})}

    def start(self) -> subprocess.Popen[str]:
        """Start it; what it says is read when it has ended."""
        return subprocess.Popen(
            self._command,
            cwd=ROOT,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *more: str) -> tuple[int, str]:
        """Its exit status, and all that it said."""
        done = subprocess.run(
            [*self._command, *more],
            cwd=ROOT,
            env=self._env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        return done.returncode, done.stdout

    def graded(self) -> dict[str, tuple[bytes, int]]:
        """The whole verdicts that there are now: a report's content and its last change, by name.

        One in which a test was cut off by a fault of ours is not whole: it is to be graded again.
        """
        found = {}
        for path in (self.out / "reports").glob("*.json"):
            content = path.read_bytes()
            if not incomplete(report_from_json(json.loads(content))):
                found[path.name] = (content, path.stat().st_mtime_ns)
        return found

    def wait_for(self, count: int, process: subprocess.Popen[str]) -> None:
        """Wait until `count` reports are there and `process` is still at work."""
        deadline = time.monotonic() + _PATIENCE_S
        while len(list((self.out / "reports").glob("*.json"))) < count:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.01)


def finished(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit status of a process that ends by itself, and all that it said."""
    told, _ = process.communicate(timeout=_PATIENCE_S)
    return process.returncode, told


def audit(out: Path) -> Iterator[dict[str, Any]]:
    """The audit's lines; one that a kill or a full disk has cut is left out."""
    for line in (out / "audit.jsonl").read_text(encoding="utf-8").splitlines():
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def right(out: Path, made: list[make_cohort.Made]) -> None:
    """Everybody has one verdict, the right one, and nobody was graded twice."""
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["student"] for row in rows] == [one.key for one in made]
    tests = ("doubles", "doubles_below_zero", "totals", "greets")
    found = {row["student"]: tuple(row[test] for test in tests) for row in rows}
    assert found == {one.key: make_cohort.outcomes(one.number) for one in made}
    assert {row["status"] for row in rows} == {"graded"}
    reports = list((out / "reports").iterdir())  # nothing half written among them
    assert len(reports) == len(made)
    for path in reports:
        assert not incomplete(report_from_json(json.loads(path.read_bytes())))
    known = [
        line["report"] for line in audit(out) if line["event"] == "graded" and "why" not in line
    ]
    assert len(known) == len(set(known)) == len(made)
    assert {line["event"] for line in audit(out)} <= {"graded", "error"}
    assert not (out / ".unpacked").exists()
