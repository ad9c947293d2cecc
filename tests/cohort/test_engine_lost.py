"""The engine stops, or is killed, in the middle of a batch, and comes back, or stays away.

A real dockerd, but one of the test's own: nobody else's containers suffer.
"""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import pytest

from grader.rooms import image
from tests.cohort import make_cohort
from tests.cohort.command import Command, audit, finished, right
from tests.cohort.private_engine import PrivateEngine, none_here
from tests.conftest import REQUIRED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.docker

COUNT, BEFORE = 16, 4


@pytest.fixture(scope="module")
def running() -> Iterator[PrivateEngine]:
    if told := none_here():
        if REQUIRED:
            pytest.fail(f"LAB_CHECK_REQUIRE_DOCKER=1, but: {told}", pytrace=False)
        pytest.skip(told)
    with PrivateEngine() as engine:
        engine.take(image.IMAGE)
        yield engine


@pytest.fixture
def engine(running: PrivateEngine) -> PrivateEngine:
    """One that answers, whatever the test before left it in."""
    if not running.answers():
        running.start()
    return running


@pytest.fixture
def made() -> list[make_cohort.Made]:
    return make_cohort.students(COUNT)


@pytest.fixture
def source(made: list[make_cohort.Made], tmp_path: Path) -> Path:
    return make_cohort.as_zip(make_cohort.plain(made), tmp_path / "in.zip")


both = pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=lambda how: how.name)


@both
def test_an_engine_that_comes_back_costs_nothing(
    how: signal.Signals,
    engine: PrivateEngine,
    source: Path,
    made: list[make_cohort.Made],
    tmp_path: Path,
) -> None:
    command = Command(source, tmp_path / "out", engine=engine.address)
    with command.start() as process:
        command.wait_for(BEFORE, process)
        engine.stop(how)
        assert process.poll() is None, "it was over before the engine was"
        before = command.graded()
        time.sleep(1)
        engine.start()
        status, told = finished(process)
    assert status == 0, told
    assert "without a verdict; trying again in 2 s." in told
    assert before.items() <= command.graded().items()
    right(command.out, made)
    assert engine.containers() == []
    done = command.graded()
    status, told = command.run()
    assert (status, f"0 graded now, {COUNT} kept" in told) == (0, True), told
    assert command.graded() == done


@both
def test_an_engine_that_stays_away_is_told_and_the_same_command_goes_on(
    how: signal.Signals,
    engine: PrivateEngine,
    source: Path,
    made: list[make_cohort.Made],
    tmp_path: Path,
) -> None:
    command = Command(source, tmp_path / "out", "--retries", "1", engine=engine.address)
    with command.start() as process:
        command.wait_for(BEFORE, process)
        engine.stop(how)
        status, told = finished(process)
    before = command.graded()
    lost = COUNT - len(before)
    assert (status, BEFORE <= len(before) < COUNT) == (3, True), told
    assert f"{lost} not graded to the end: " in told
    assert "No container engine answers: " in told
    assert "Traceback" not in told
    status, told = command.run()
    assert (status, told.count("\n")) == (3, 2)
    assert told.startswith("lab_check: No container engine answers: ")
    assert command.graded() == before
    engine.start()
    status, told = command.run()
    assert status == 0, told
    assert f"{lost} graded now, {len(before)} kept from before." in told
    assert before.items() <= command.graded().items()
    right(command.out, made)
    assert sum("why" in line for line in audit(command.out)) == lost
    assert engine.containers() == []
