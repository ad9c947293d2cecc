"""The real command, killed with SIGKILL while it grades in containers: the same command goes on.

LAB_CHECK_KILLED=200   grade so many (default 30)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from grader.rooms import sweeping
from grader.rooms.engine import Engine
from tests.cohort import make_cohort
from tests.cohort.command import Command, right

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.docker

COUNT = int(os.environ.get("LAB_CHECK_KILLED", "30"))


def owned_by(pids: list[int]) -> list[str]:
    """Containers that these processes have made."""
    with Engine().client() as api:
        found = sweeping._ours(api)
    owners = [(one["Id"], sweeping.Owner.parse(one["Labels"][sweeping.OWNER])) for one in found]
    return [container for container, owner in owners if owner and owner.pid in pids]


def test_kill_9_in_the_middle_of_gradings_in_containers(tmp_path: Path) -> None:
    made = make_cohort.students(COUNT)
    source = make_cohort.as_zip(make_cohort.plain(made), tmp_path / "in.zip")
    command = Command(source, tmp_path / "out")
    pids = []
    before: dict[str, tuple[bytes, int]] = {}
    for kill_after in (COUNT // 4, COUNT // 2):
        with command.start() as process:
            command.wait_for(kill_after, process)
            assert owned_by([process.pid]), "nothing was at work when it was killed"
            process.kill()
        pids.append(process.pid)
        done = command.graded()
        assert before.items() <= done.items()
        assert kill_after <= len(done) < COUNT
        before = done
    status, told = command.run()
    assert status == 0, told
    assert f"{COUNT - len(before)} graded now, {len(before)} kept from before." in told
    assert before.items() <= command.graded().items()
    right(command.out, made)
    assert owned_by(pids) == []
