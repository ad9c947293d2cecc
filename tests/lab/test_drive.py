"""Driving a run to its end or walking away from it, and what importing the lab costs."""

import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

import grader.lab
from grader import lab

LAB = Path(grader.lab.__file__).parent


def outcome(coroutine: Coroutine[Any, Any, list[Any]]) -> list[Any]:
    """Step a coroutine that waits for nothing, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: list[Any] = stop.value
        return result
    pytest.fail("it waited for something")


def plain(log: list[str]) -> Iterator[dict[str, Any]]:
    try:
        for n in range(3):
            log.append(f"event {n}")
            yield {"n": n}
    finally:
        log.append("closed")


async def deferred(log: list[str]) -> AsyncIterator[dict[str, Any]]:
    try:
        for n in range(3):
            log.append(f"event {n}")
            yield {"n": n}
    finally:
        log.append("closed")


@pytest.mark.parametrize("run", [plain, deferred])
def test_a_run_is_heard_to_its_end(run: Any) -> None:
    log: list[str] = []
    assert outcome(lab.drive(run(log))) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert log == ["event 0", "event 1", "event 2", "closed"]
    assert outcome(lab.drive(run([]), stop_after=9)) == [{"n": 0}, {"n": 1}, {"n": 2}]


@pytest.mark.parametrize("run", [plain, deferred])
def test_stopping_early_closes_the_run_and_asks_for_nothing_more(run: Any) -> None:
    log: list[str] = []
    assert outcome(lab.drive(run(log), stop_after=2)) == [{"n": 0}, {"n": 1}]
    assert log == ["event 0", "event 1", "closed"]


@pytest.mark.parametrize("run", [plain, deferred])
def test_stopping_at_once_never_begins(run: Any) -> None:
    log: list[str] = []
    assert outcome(lab.drive(run(log), stop_after=0)) == []
    assert log == []


def test_a_run_that_raises_raises_here() -> None:
    def broken() -> Iterator[dict[str, Any]]:
        yield {"n": 0}
        raise RuntimeError("already running")

    with pytest.raises(RuntimeError, match="already running"):
        outcome(lab.drive(broken()))


def test_an_iterator_without_close_will_do() -> None:
    assert outcome(lab.drive(iter([{"n": 0}, {"n": 1}]), stop_after=1)) == [{"n": 0}]


@pytest.mark.parametrize("run", [[{"n": 0}], {"role": "assistant"}, None])
def test_what_is_no_run_is_named(run: Any) -> None:
    kind = type(run).__name__
    with pytest.raises(TypeError, match=f"not a value of type {kind}"):
        outcome(lab.drive(run))


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="stop_after counts events"):
        outcome(lab.drive(plain([]), stop_after=-1))


def test_the_lab_imports_little_and_works_under_its_own_name() -> None:
    heavy = ("asyncio", "typing", "dataclasses", "inspect", "grader")
    program = (
        "import sys, lab\n"
        "assert lab.shape([lab.user('Hi.')]) == 'U'\n"
        f"print([name for name in {heavy!r} if name in sys.modules])\n"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-B", "-c", program],
        env={"PYTHONPATH": str(LAB.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "[]\n"
    assert run.stderr == ""


def test_no_module_hides_one_of_the_standard_library() -> None:
    names = {path.stem for path in LAB.glob("*.py")} - {"__init__"}
    assert names & sys.stdlib_module_names == set()


def test_everything_public_is_there() -> None:
    names = "text call reply say fail user tool_result forever ScriptedModel Workspace Shell"
    assert set(lab.__all__) == {*names.split(), "shape", "show", "validate", "drive"}
    assert all(hasattr(lab, name) for name in lab.__all__)
