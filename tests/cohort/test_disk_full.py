"""A disk that is really full: before a batch, while it unpacks, in the middle of it, at its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cohort import make_cohort, small_disk
from tests.cohort.command import Command, right

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNT = 40
FULL = "can't be written: No space left on device.\n"
HELP = "Every report that is there is whole. Mend it, and give the same command again.\n"


@pytest.fixture
def disk() -> Iterator[Path]:
    with small_disk.mounted() as place:
        if not isinstance(place, Path):
            pytest.skip(place)
        yield place


def test_in_the_middle_of_a_batch(disk: Path, tmp_path: Path) -> None:
    made = make_cohort.students(COUNT)
    source = make_cohort.as_folder(make_cohort.plain(made), tmp_path / "in")
    command = Command(source, disk / "out", "--runner", "local")
    filler = small_disk.fill(disk, left=100_000)
    status, told = command.run()
    assert status == 3, told
    assert told.endswith(FULL + HELP)
    assert "Traceback" not in told
    before = command.graded()  # reads each: all are whole
    assert 5 < len(before) < COUNT
    assert len(list((disk / "out/reports").iterdir())) == len(before)
    status, told = command.run()  # nothing has changed; nothing is lost by trying
    assert (status, told.endswith(FULL + HELP)) == (3, True), told
    assert before.items() <= command.graded().items()
    before = command.graded()
    filler.unlink()
    status, told = command.run()
    assert status == 0, told
    assert f"{COUNT - len(before)} graded now, {len(before)} kept from before." in told
    assert before.items() <= command.graded().items()
    right(command.out, made)


def test_when_the_results_are_written(disk: Path, tmp_path: Path) -> None:
    made = make_cohort.students(6)
    source = make_cohort.as_folder(make_cohort.plain(made), tmp_path / "in")
    command = Command(source, disk / "out", "--runner", "local")
    assert command.run()[0] == 0
    results = {path: path.read_bytes() for path in command.out.iterdir() if path.suffix}
    filler = small_disk.fill(disk, left=0)
    status, told = command.run()
    assert (status, told.endswith(FULL + HELP)) == (3, True), told
    assert {path: path.read_bytes() for path in command.out.iterdir() if path.suffix} == results
    filler.unlink()
    assert command.run()[0] == 0
    right(command.out, made)


@pytest.mark.parametrize("left", [0, 20_000], ids=["nothing-fits", "half-of-it-unpacked"])
def test_before_anything_is_graded(left: int, disk: Path, tmp_path: Path) -> None:
    made = make_cohort.students(24)
    source = make_cohort.as_zip(make_cohort.plain(made), tmp_path / "in.zip")
    command = Command(source, disk / "out", "--runner", "local")
    filler = small_disk.fill(disk, left)
    status, told = command.run()
    assert status == 3, told
    assert "No space left on device.\n" in told
    assert "Traceback" not in told
    assert not (disk / "out/.unpacked").exists()
    filler.unlink()
    assert command.run()[0] == 0
    right(command.out, made)
