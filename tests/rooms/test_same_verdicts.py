"""Every wrong answer of every lesson is told the same in a container as in a plain process."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from grader import grade, lessons
from grader.judging import Judge
from grader.records import Limits, Report, Submission, to_json
from grader.rooms import Rooms
from grader.rooms.container import ContainerRooms
from grader.rooms.process import ProcessRooms
from grader.submission import from_bytes
from tests.wrong_answers import table

SHARES = 2  # of the work, each with a judge of its own


def told(report: Report) -> Any:
    """A report but for what may differ: times, and where it ran."""
    data = to_json(report)
    for item in (data, *data["tests"]):
        item.pop("duration_s")
    for name in ("runner", "image", "python"):
        data["grader"].pop(name)
    data.pop("started_at")
    return data


EVERY = int(os.environ.get("LAB_CHECK_EVERY", "3"))  # 1: all of them, which takes some minutes


def reports(rooms: Rooms, lesson: lessons.Lesson, submissions: list[Submission]) -> list[Report]:
    def share(mine: list[Submission]) -> list[Report]:
        with closing(Judge(rooms, lesson, Limits())) as judge:
            return [grade(each, lesson, rooms=rooms, judge=judge) for each in mine]

    with ThreadPoolExecutor(SHARES) as pool:
        shares = list(pool.map(share, [submissions[i::SHARES] for i in range(SHARES)]))
    return [shares[i % SHARES][i // SHARES] for i in range(len(submissions))]


@pytest.mark.docker
@pytest.mark.parametrize("number", sorted(lessons.folders()))
def test_both_runners_say_the_same_of_every_wrong_answer(
    number: int, containers: ContainerRooms
) -> None:
    lesson = lessons.find(number)
    entries = table.entries(number)[number % EVERY :: EVERY]
    submissions = [from_bytes(table.edited(number, entry).encode()) for entry in entries]
    in_containers = reports(containers, lesson, submissions)
    in_processes = reports(ProcessRooms(), lesson, submissions)
    assert len(in_containers) == len(entries) > 25 // EVERY
    for entry, one, other in zip(entries, in_containers, in_processes, strict=True):
        assert [(t.id, t.outcome, t.kind) for t in one.tests] == [
            (t.id, t.outcome, t.kind) for t in other.tests
        ], entry["name"]
        # What Python says of an error differs from version to version.
        if str(one.grader.python).split(".")[:2] == str(other.grader.python).split(".")[:2]:
            assert told(one) == told(other), entry["name"]
