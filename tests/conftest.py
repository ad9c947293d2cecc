"""What needs a container engine is skipped without one, and fails where one is required.

LAB_CHECK_REQUIRE_DOCKER=1   an engine or image that is missing is a failure, not a reason to skip
LAB_CHECK_BASE=name:tag      build the image from this base, where it is missing or stale
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from grader.errors import LabCheckError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.records import Report
    from grader.rooms.container import ContainerRooms

# What a command remembers for the next is kept out of the home of whoever runs the tests.
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="lab_check-tests-")

REQUIRED = os.environ.get("LAB_CHECK_REQUIRE_DOCKER") == "1"


@contextlib.contextmanager
def unclosed_sockets() -> Iterator[None]:
    """The SDK does not close the socket with which it could not connect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@functools.cache
def no_containers() -> str:
    """Why no container can be had here; "" where it can."""
    from grader.rooms import image
    from grader.rooms.engine import Engine

    told = ""
    with unclosed_sockets():
        try:
            engine = Engine()
            base = os.environ.get("LAB_CHECK_BASE")
            if base and not image.status(engine=engine).fits:
                image.build(base, engine=engine)
            image.fitting(engine)
        except LabCheckError as exc:
            told = f"{exc.message} {exc.help}".strip()
    return told


@pytest.fixture
def no_engine() -> Iterator[None]:
    """For tests in which no engine can be connected to."""
    with unclosed_sockets():
        yield


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes give no name: an archive holds the time, and two processes have to collect the same tests."""
    return argname if isinstance(val, bytes) else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("docker") is not None and no_containers():
        if REQUIRED:
            pytest.fail(f"LAB_CHECK_REQUIRE_DOCKER=1, but: {no_containers()}", pytrace=False)
        pytest.skip(no_containers())


@pytest.fixture(scope="session")
def grade_locally() -> Iterator[Callable[..., Report]]:
    """`grade` in plain processes, with one judge a lesson for all tests: much the faster way."""
    from grader import grade, lessons
    from grader.judging import Judge
    from grader.records import Limits
    from grader.rooms.process import ProcessRooms

    rooms = ProcessRooms()
    judges: dict[int, Judge] = {}

    def graded(submitted: Any, number: int, **options: Any) -> Report:
        lesson = lessons.find(number)
        judge = judges.setdefault(number, Judge(rooms, lesson, Limits()))
        return grade(submitted, lesson, rooms=rooms, judge=judge, **options)

    yield graded
    for judge in judges.values():
        judge.close()


@pytest.fixture(scope="session")
def containers() -> Iterator[ContainerRooms]:
    """Rooms that are containers, for tests that are marked `docker`."""
    from grader.rooms.container import ContainerRooms

    with ContainerRooms() as rooms:
        yield rooms
