"""A page's demonstration prints what the page prints, and breaks off with a word where it can't go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import lessons
from tests.cli.calling import RIGHT, ROOT, Call

NUMBERS = sorted(lessons.folders())
TEXT = RIGHT.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_right_harness_shows_what_the_page_shows(call: Call, number: int) -> None:
    solution = ROOT / "tests" / "solutions" / f"lesson_{number:02}" / "harness.py"
    done = call("demo", "--lesson", str(number), "--runner", "local", solution)
    golden = Path(__file__).parent / "demos" / f"lesson_{number:02}.txt"
    assert (done.status, done.err) == (0, "")
    assert done.out == golden.read_text(encoding="utf-8")


@pytest.mark.docker
def test_it_is_the_same_in_a_container(call: Call) -> None:
    done = call("demo", "--lesson", "10", "--runner", "docker", RIGHT)
    golden = Path(__file__).parent / "demos" / "lesson_10.txt"
    assert (done.status, done.err) == (0, "")
    assert done.out == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (7, "run_agent(…) returned a dict, not a generator of events."),
        (10, "harness.py has no INTERRUPTED."),
    ],
)
def test_a_starter_gets_as_far_as_it_can(call: Call, number: int, says: str) -> None:
    starter = ROOT / "starters" / f"lesson_{number:02}" / "harness.py"
    done = call("demo", "--lesson", str(number), "--runner", "local", starter)
    assert done.status == 1
    assert says in done.err


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    ("extra", "says"),
    [
        ("def run_agent(*a, **k):\n    yield 3", ""),
        ("def run_agent(*a, **k):\n    yield {'type': 'message_end', 'message': 3}", ""),
        ("def run_agent(*a, **k):\n    yield {'type': 'tool_execution_end'}", ""),
        ("def run_agent(*a, **k):\n    raise KeyError('x')\n    yield", "it raised KeyError: 'x'"),
        ("def f(:", "is not Python"),
        ("import os\nos._exit(0)", "ends the program"),
    ],
    ids=["a number", "no message", "no call", "raises", "not Python", "gone"],
)
def test_a_wrong_harness_is_never_a_fault_of_ours(
    call: Call, tmp_path: Path, number: int, extra: str, says: str
) -> None:
    path = tmp_path / "harness.py"
    path.write_text(f"{TEXT}\n{extra}\n", encoding="utf-8")
    done = call("demo", "--lesson", str(number), "--runner", "local", path)
    assert done.status in (0, 1), done.err
    assert says in done.err
    assert "Traceback" not in done.out + done.err


def test_what_is_printed_steers_no_terminal(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "harness.py"
    path.write_text(f"{TEXT}\nprint('\\x1b[31mred')\n", encoding="utf-8")
    out = call("demo", "--lesson", "10", "--runner", "local", path).out
    assert out.startswith("\\x1b[31mred\n")


def test_no_file_and_no_demonstration(call: Call, tmp_path: Path) -> None:
    missing = call("demo", "--lesson", "10", "--runner", "local", tmp_path / "harness.py")
    assert missing.status == 1
    assert "There is no file" in missing.err
    folder = tmp_path / "lesson_11"
    folder.mkdir()
    for path in lessons.folders()[10].iterdir():
        if path.is_file() and path.name != "demo.py":
            text = path.read_text(encoding="utf-8").replace("number = 10", "number = 11")
            (folder / path.name).write_text(text, encoding="utf-8")
    args = ("--lessons", tmp_path, "--lesson", "11", "--runner", "local", RIGHT)
    none = call("demo", *args)
    assert none.status == 2
    assert "has no demonstration" in none.err
