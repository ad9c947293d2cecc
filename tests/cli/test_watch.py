"""A file that is watched: which saves count, and the command from its first report to Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader import watching
from tests.cli.calling import RIGHT, ROOT, STARTER, WRONG

Step = Callable[[Path], object]


def rounds(path: Path, *steps: Step | None) -> list[int]:
    """Before which steps the watcher had spoken: each wait carries out one step; then it ends."""
    left = list(enumerate(steps))
    spoken: list[int] = []
    at = 0

    def wait(_seconds: float) -> None:
        nonlocal at
        if not left:
            raise EOFError
        at, step = left.pop(0)
        if step is not None:
            step(path)

    with contextlib.suppress(EOFError):
        for _ in watching.saves(path, wait):
            spoken.append(at)
    return spoken


def write(text: str) -> Step:
    return lambda path: path.write_text(text)


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_text("b")
    other.replace(path)


def touch(path: Path) -> None:
    os.utime(path, (1, 1))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "harness.py"
    path.write_text("a")
    return path


def test_it_speaks_at_once_and_is_then_quiet(file: Path) -> None:
    assert rounds(file, None, None, touch, write("a"), None) == [0]


@pytest.mark.parametrize("change", [write("b"), replace, write("aa")], ids=range(3))
def test_a_save_counts_once_it_has_come_to_rest(file: Path, change: Step) -> None:
    assert rounds(file, None, change, None, None, None) == [0, 2]


def test_a_file_that_is_being_written_is_waited_for(file: Path) -> None:
    steps = (write("b"), write("bc"), write("bcd"), None, None)
    assert rounds(file, *steps) == [0, 3]


def test_a_file_that_is_gone_for_a_while_is_waited_for(file: Path) -> None:
    def remove(path: Path) -> None:
        path.unlink()

    assert rounds(file, remove, None, None, write("a"), None, None) == [0]
    assert rounds(file, remove, None, write("b"), None, None) == [0, 3]


def test_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    assert rounds(tmp_path / "harness.py", None, None, write("a"), None) == [0, 3]
    assert rounds(tmp_path, None, None) == [0]


class Watched:
    """The command, watching; its lines as they come."""

    def __init__(self, path: Path, state: Path) -> None:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(state)}
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "grader", "--watch", "--runner", "local"),
                *("--lesson", "10", "-q", str(path)),
            ],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def until(self, end: str) -> list[str]:
        """The lines up to one that ends so."""
        lines: list[str] = []
        while not (lines and lines[-1].endswith(end)):
            lines.append(self._lines.get(timeout=20))
        return lines

    def quiet(self, seconds: float) -> bool:
        """Whether nothing comes in that time."""
        try:
            self._lines.get(timeout=seconds)
        except queue.Empty:
            return True
        return False


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    path = tmp_path / "harness.py"
    path.write_text(WRONG, encoding="utf-8")
    watched = Watched(path, tmp_path / "state")
    yield watched
    watched.process.kill()
    watched.process.wait()
    assert watched.process.stdout is not None
    watched.process.stdout.close()


def test_the_command_from_first_report_to_ctrl_c(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "harness.py"
    first = watched.until(" points - not passed")
    assert first[0] == "Watching harness.py; Ctrl-C ends it."
    assert first[-1].startswith("9 of 14")
    assert watched.quiet(0.4)

    new = tmp_path / "new"
    new.write_bytes(RIGHT.read_bytes())
    began = time.monotonic()
    new.replace(path)
    lines = watched.until("points - passed")
    assert time.monotonic() - began < 10
    assert lines[1].endswith("harness.py was saved")
    assert lines[2].startswith("Newly passing: duplicate_result, ")
    assert watched.quiet(0.3)

    path.write_text("def f(:\n", encoding="utf-8")
    assert any("No longer run: missing_result" in line for line in watched.until("not passed"))
    path.write_bytes(STARTER.read_bytes())
    assert any(line.startswith("Newly failing: ") for line in watched.until("not passed"))

    watched.process.send_signal(signal.SIGINT)
    assert watched.process.wait(10) == 130
    assert watched.until("interrupted") == ["", "lab_check: interrupted"]
