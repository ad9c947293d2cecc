"""A batch: the same whatever the layout, gone on with after a kill, and nothing replaced in silence."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader import grading
from grader.batch import Change, running
from grader.cohort import tables
from grader.cohort.store import Store
from grader.errors import LessonError, StoreError, UsageError
from grader.records import Limits
from grader.render import cohort as page
from grader.rooms.process import ProcessRooms
from tests.cli.calling import Call
from tests.cohort import make_cohort
from tests.cohort.helpers import LESSON, NoRooms, Pretend, batch

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Pretend:
    graded = Pretend()
    monkeypatch.setattr(grading, "grade", graded)
    monkeypatch.setattr(running, "PAUSES_S", (0.0,))
    return graded


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return make_cohort.as_folder(make_cohort.plain(make_cohort.students(8)), tmp_path / "in")


@pytest.fixture
def command(
    plain: Path, tmp_path: Path, pretend: Pretend, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """`lab_check batch` on the plain cohort; what it says, line by line."""

    def call(*more: str, status: int = 0) -> list[str]:
        lessons, out = str(ROOT / "tests/cohort/lessons"), str(tmp_path / "out")
        fixed = ("batch", "--lesson", "90", "--lessons", lessons, "--runner", "local", "--out", out)
        done = Call(capsys)(*fixed, *more, plain)
        assert done.status == status, done
        return (done.err + done.out).splitlines()

    return call


def audit(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "audit.jsonl").read_text().splitlines()]


def grades(out: Path) -> dict[str, dict[str, str]]:
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


# --- the same cohort, whatever it came in -------------------------------------------------------------


def test_every_layout_gives_the_same_grades(tmp_path: Path, pretend: Pretend) -> None:
    made = make_cohort.students(40)
    (tmp_path / "roster.csv").write_text(make_cohort.roster(made), encoding="utf-8")
    tables = set()
    for number, (name, layout) in enumerate(make_cohort.LAYOUTS.items()):
        files = layout(made)
        source = [
            lambda files, name=name: make_cohort.as_zip(files, tmp_path / f"{name}.zip"),
            lambda files, name=name: make_cohort.as_tar(files, tmp_path / f"{name}.tar.gz"),
            lambda files, name=name: make_cohort.as_folder(files, tmp_path / f"{name}-in"),
        ][number % 3](files)
        out = tmp_path / name
        result = batch(source, out, roster_file=tmp_path / "roster.csv")
        assert (result.ok, result.graded, result.missing) == (True, 40, ()), name
        layouts = json.loads((out / "cohort.json").read_text())["layouts"]
        assert layouts == [name.partition("_")[0].removesuffix("50")]
        tables.add((out / "grades.csv").read_bytes())
    assert len(tables) == 1
    assert tables.pop().count(b"\n") == 41


def test_a_few_are_graded_for_real(tmp_path: Path) -> None:
    files = make_cohort.gradescope(make_cohort.students(4))
    source = make_cohort.as_zip(files, tmp_path / "export.zip")
    result = batch(source, tmp_path / "out", rooms=ProcessRooms())
    told = [(row.student, row.points, row.outcomes) for row in result.rows]
    assert told == [
        ("s0000", 4, ("pass", "pass", "pass", "pass")),
        ("s0001", 3, ("pass", "pass", "fail", "pass")),
        ("s0002", 1, ("fail", "fail", "fail", "pass")),
        ("s0003", 1, ("fail", "fail", "pass", "fail")),
    ]
    assert result.rows[2].wrong_answers[:2] == ("squares", "squares")


def test_whoever_handed_in_nothing_usable_is_in_the_results(
    tmp_path: Path, pretend: Pretend
) -> None:
    files = {
        "ada/harness.ipynb": "{}",
        "bob/harness.py": "n + n",
        "cyd/a.py": "1",
        "cyd/b.py": "2",
        "dee/harness.py": "",
    }
    roster = tmp_path / "roster.csv"
    roster.write_text("student;name\nada;Ada A\nbob;Bob B\ncyd;Cyd C\ndee;Dee D\neve;Eve E\n")
    source = make_cohort.as_folder(files, tmp_path / "in")
    result = batch(source, tmp_path / "out", roster_file=roster)
    rows = grades(tmp_path / "out")
    told = {key: (row["status"], row["verdict"], row["points"]) for key, row in rows.items()}
    assert told == {
        "ada": ("graded", "fail", "0"),
        "bob": ("graded", "fail", "2"),
        "cyd": ("graded", "fail", "0"),
        "dee": ("graded", "fail", "0"),
        "eve": ("missing", "", ""),
    }
    assert "a notebook where harness.py should be" in rows["ada"]["note"]
    assert "several could be it: a.py, b.py" in rows["cyd"]["note"]
    assert "empty" in rows["dee"]["note"]
    assert (result.ok, result.missing) == (True, ("eve",))


def test_who_is_not_on_the_roster_is_named(
    plain: Path, tmp_path: Path, command: Callable[..., list[str]]
) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("student\n" + "".join(f"s000{n}\n" for n in (1, 2, 3, 4, 5, 6, 7, 9)))
    told = command("--roster", str(roster))
    assert "1 is not on the roster: s0000" in told
    assert "1 handed in nothing: s0009" in told
    roster.write_text("student\ns0001\n")
    told = command("--roster", str(roster))
    assert "7 are not on the roster: s0000, s0002, s0003, s0004, s0005 and 2 more" in told
    assert "on the roster" not in "".join(command())


def test_a_row_of_the_grades_is_one_line(tmp_path: Path, pretend: Pretend) -> None:
    source = make_cohort.as_folder({"ada/harness.py": "n + n"}, tmp_path / "in")
    (row,) = batch(source, tmp_path / "out").rows
    odd = dataclasses.replace(
        row,
        name="=1\u20282",
        message="line 2:\n    def f(\r\n         ^\n",
        notes=("a\x85b", "c\x0bd"),
        kinds=("timeout", "missing_name", "timeout", "rule"),
        outcomes=("fail",) * 4,
    )
    text = "".join(tables.grades_csv([odd], LESSON.tests))
    assert len(text.splitlines()) == 2
    (cells,) = csv.DictReader(text.splitlines())
    told = "line 2: def f( ^; timeout in 2 tests, missing name in 1 test; a b; c d"
    assert (cells["note"], cells["name"]) == (told, "'=1 2")
    passed = dataclasses.replace(odd, outcomes=("pass",) * 4, message="", notes=())
    (cells,) = csv.DictReader("".join(tables.grades_csv([passed], LESSON.tests)).splitlines())
    assert cells["note"] == ""  # an override took the failures away


def test_the_page_and_the_notes_have_words_for_people(tmp_path: Path, pretend: Pretend) -> None:
    files = {"ada/harnes.py": "n + n", "bob/harness.ipynb": "{}"}
    source = make_cohort.as_folder(files, tmp_path / "in")
    batch(source, tmp_path / "out", page=page.render)
    assert grades(tmp_path / "out")["ada"]["note"] == "harnes.py was taken as harness.py"
    told = (tmp_path / "out/index.html").read_text()
    assert "could not be graded at all: not a file 1." in told
    assert "not_a_file" not in told
    assert 'title="1 with 0 points"' in told
    assert 'title="0 with 1 point"' in told


def test_a_group_is_graded_once_and_has_one_grade(tmp_path: Path, pretend: Pretend) -> None:
    yaml = (
        "submission_1:\n  :submitters:\n  - :name: A\n    :sid: '1'\n  - :name: B\n    :sid: '2'\n"
    )
    files = {"x/submission_metadata.yml": yaml, "x/submission_1/harness.py": "n + n"}
    source = make_cohort.as_zip(files, tmp_path / "x.zip")
    result = batch(source, tmp_path / "out")
    assert [(row.student, row.group, row.points) for row in result.rows] == [
        ("1", ("2",), 2),
        ("2", ("1",), 2),
    ]
    assert len(pretend.calls) == 1
    assert json.loads((tmp_path / "out/cohort.json").read_text())["figures"]["alike"] == []


@pytest.mark.parametrize("left", ["all", "reports", "held", "cohort.json"])
def test_a_folder_with_another_lessons_results_is_refused(
    left: str, plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    batch(plain, out)
    if left != "all":
        (out / "reports").rename(out / "kept")
        (out / "reports").mkdir()
        (out / "cohort.json").rename(out / "kept.json")
        if left == "cohort.json":
            (out / "kept.json").rename(out / "cohort.json")
        else:
            (out / left).rmdir()
            (out / "kept").rename(out / left)
    before = {path: path.read_bytes() for path in out.rglob("*.*") if path.is_file()}
    del before[out / ".lock"]
    pretend.calls.clear()
    other = dataclasses.replace(LESSON, number=91, sha256="2" * 64)
    with pytest.raises(UsageError, match=f"{out} holds lesson 90; give another --out"):
        batch(plain, out, lesson=other, confirm=lambda _: True)
    assert pretend.calls == []
    assert all(path.read_bytes() == content for path, content in before.items())
    assert batch(plain, tmp_path / "another", lesson=other).ok


def test_another_lessons_folder_ends_the_command_with_status_2(
    tmp_path: Path, command: Callable[..., list[str]], pretend: Pretend
) -> None:
    command()
    pretend.calls.clear()
    told = command("--lesson", "10", "--yes", status=2)
    assert f"lab_check: {tmp_path}/out holds lesson 90; give another --out." in told
    assert pretend.calls == []


# --- going on -----------------------------------------------------------------------------------------


def test_the_same_command_again_grades_nothing(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    first = batch(plain, out)
    before = (out / "grades.csv").read_bytes()
    again = batch(plain, out)
    assert (first.graded, first.kept, again.graded, again.kept) == (8, 0, 0, 8)
    assert (out / "grades.csv").read_bytes() == before
    assert [line["event"] for line in audit(out)] == ["graded"] * 8
    told = "student submission_sha256 tests_sha256 image seed limits when verdict points"
    assert set(told.split()) <= set(audit(out)[0])


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("seed", "the seed is another"),
        ("limits", "the limits are others"),
        ("tests", "the tests have changed"),
        ("runner", "the runner is another"),
        ("file", "handed in anew"),
        ("image", ""),
        ("nothing", ""),
        ("regrade", "as you asked"),
    ],
)
def test_other_terms_are_graded_again(
    what: str, why: str, plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    batch(plain, out)
    options: dict[str, Any] = {}
    if what == "seed":
        options["seed"] = 3
    elif what == "limits":
        options["limits"] = Limits(total_s=5.0)
    elif what == "tests":
        options["lesson"] = dataclasses.replace(LESSON, sha256="0" * 64)
    elif what == "runner":
        options["rooms"] = NoRooms("another")
    elif what == "image":
        options["rooms"] = NoRooms(image="sha256:another")
    elif what == "regrade":
        options["regrade"] = True
    elif what == "file":
        (plain / "s0000/harness.py").write_text("n + n")
    result = batch(plain, out, **options)
    assert result.graded == {"file": 1, "image": 0, "nothing": 0}.get(what, 8)
    assert result.again == (((why, result.graded),) if why else ())


def test_the_terminal_tells_why_something_is_graded_again(
    tmp_path: Path, command: Callable[..., list[str]], pretend: Pretend
) -> None:
    pretend.broken = {"Number 1."}
    first = command("--retries", "0", status=3)
    assert not any("again" in line for line in first)
    pretend.broken.clear()
    report = next((tmp_path / "out/reports").glob("s0003*"))
    told = json.loads(report.read_text())
    told["grader"]["runner"] = "docker"
    report.write_text(json.dumps(told))
    second = command()
    assert "1 graded again: no verdict before" in second
    assert "1 graded again: the runner is another" in second


def test_regrade_and_only(plain: Path, tmp_path: Path, pretend: Pretend) -> None:
    out = tmp_path / "out"
    batch(plain, out, only=["s0003"])
    assert [row["status"] for row in grades(out).values()].count("pending") == 7
    batch(plain, out)
    pretend.calls.clear()
    assert batch(plain, out, regrade=True, only=["s0003"]).graded == 1
    failed = sum(row["verdict"] == "fail" for row in grades(out).values())
    assert batch(plain, out, regrade=True, only=["fail"]).graded == failed
    assert batch(plain, out, regrade=True).graded == 8
    with pytest.raises(UsageError, match="no student 'nobody'"):
        batch(plain, out, only=["nobody"])


def test_counts_of_a_part_do_not_contradict(command: Callable[..., list[str]]) -> None:
    told = command("--only", "s0000", "--only", "s0003")
    assert "2 graded now, 0 kept from before, 6 not graded yet." in told
    assert any(line.endswith(": 1 passed, 1 not passed, 6 not graded yet") for line in told)
    command()
    told = command("--regrade", "--only", "s0001")
    assert "1 graded now, 7 kept from before." in told
    assert any(line.startswith("8 of 8") and line.endswith("(7 kept)") for line in told)


def test_one_verdict_and_several_are_told_in_their_number(
    command: Callable[..., list[str]], pretend: Pretend
) -> None:
    command()
    pretend.twist = "greets"
    told = command("--regrade", "--only", "s0000")
    assert "1 verdict would change:" in told
    assert "It is held; the same command with --yes lets it count." in told
    told = command("--regrade", "--only", "s0000", "--only", "s0001")
    assert "2 verdicts would change:" in told
    assert "They are held; the same command with --yes lets them count." in told


def test_a_changed_verdict_is_asked_for_before_it_replaces_one(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    batch(plain, out)
    before = (out / "grades.csv").read_bytes()
    pretend.twist, other = "greets", dataclasses.replace(LESSON, sha256="1" * 64)
    asked: list[tuple[Change, ...]] = []

    def no(changes: tuple[Change, ...]) -> bool:
        asked.append(changes)
        return False

    refused = batch(plain, out, lesson=other, confirm=no)
    assert (len(refused.changes), refused.applied, len(asked[0])) == (8, False, 8)
    first = asked[0][0]
    assert (first.student, first.before, first.after) == ("s0000", ("pass", 4), ("fail", 3))
    assert (first.tests, first.reason) == ((("greets", "pass", "fail"),), "tests changed")
    assert (out / "grades.csv").read_bytes() == before
    agreed = batch(plain, out, lesson=other, confirm=lambda _: True)  # held: not graded again
    assert (agreed.graded, agreed.kept, agreed.applied) == (0, 8, True)
    assert grades(out)["s0000"]["points"] == "3"
    last = audit(out)[-1]
    assert (last["event"], last["replaced"]) == ("replaced", {"verdict": "fail", "points": 1})
    assert list((out / "held").iterdir()) == []


def test_what_is_handed_in_anew_replaces_the_old_and_is_told(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    batch(plain, out)
    (plain / "s0000/harness.py").write_text("nothing")
    result = batch(plain, out)
    assert [(c.student, c.before, c.after) for c in result.replaced] == [
        ("s0000", ("pass", 4), ("fail", 0))
    ]
    assert grades(out)["s0000"]["points"] == "0"


# --- faults -------------------------------------------------------------------------------------------


def test_an_error_is_tried_again_and_replaces_nothing(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    pretend.broken = {"Number 1."}
    first = batch(plain, out, retries=2)
    assert (first.errors, first.ok, len(pretend.calls)) == (("s0001",), False, 10)
    assert grades(out)["s0001"]["status"] == "error"
    (note,) = first.notes  # whoever gave the command is told why
    assert note.startswith("1 not graded to the end: ")
    assert "the engine is gone" in note
    pretend.broken.clear()
    second = batch(plain, out)
    assert (second.ok, second.graded, second.kept) == (True, 1, 7)
    pretend.broken = {"Number 1."}
    third = batch(plain, out, regrade=True)
    row = grades(out)["s0001"]
    assert (third.errors, row["verdict"], row["points"]) == (("s0001",), "fail", "3")
    assert "the earlier one stands" in row["note"]


def test_of_several_reasons_the_most_frequent_is_told(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    pretend.raises = [MemoryError("a"), OSError("gone"), OSError("gone")]
    result = batch(plain, tmp_path / "out", retries=0)
    assert result.notes == ("3 not graded to the end: 2 times: OSError: gone (1 other reason)",)
    assert result.errors == tuple(sorted(result.errors))


def test_a_verdict_with_a_fault_of_ours_in_it_is_kept_and_tried_again(
    tmp_path: Path, pretend: Pretend
) -> None:
    source = make_cohort.as_folder({"ada/harness.py": "n + n  # cut"}, tmp_path / "in")
    out = tmp_path / "out"
    pretend.cut = "cut"  # some tests fail, one has no verdict
    first = batch(source, out, retries=1)
    assert (first.ok, len(pretend.calls), first.rows[0].verdict) == (True, 2, "fail")
    assert first.rows[0].outcomes == ("pass", "pass", "fail", "error")
    assert "The grader failed here" in first.rows[0].notes[0]
    pretend.cut = ""
    assert batch(source, out).rows[0].outcomes == ("pass", "pass", "fail", "fail")
    pretend.cut = "cut"  # it never replaces a whole one
    again = batch(source, out, regrade=True)
    assert (again.errors, again.rows[0].outcomes[3]) == (("ada",), "fail")


def test_whatever_a_worker_raises_costs_one_grading(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    pretend.raises = [MemoryError(), OSError("gone"), SystemExit(3)]
    result = batch(plain, tmp_path / "out", retries=0)
    assert (len(result.errors), result.graded) == (3, 5)
    assert batch(plain, tmp_path / "out").ok


def test_a_broken_lesson_ends_the_batch(plain: Path, tmp_path: Path, pretend: Pretend) -> None:
    pretend.raises = [LessonError("test_lesson_90.py:1: broken")]
    with pytest.raises(LessonError):
        batch(plain, tmp_path / "out")


def test_a_report_that_cannot_be_written_costs_that_submission(
    plain: Path, tmp_path: Path, pretend: Pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = {"s0002"}
    write = Store.write

    def on_a_full_disk(self: Store, name: str, report: Any) -> None:
        if any(name.startswith(key) for key in full):
            raise StoreError("No space left on device")
        write(self, name, report)

    monkeypatch.setattr(Store, "write", on_a_full_disk)
    result = batch(plain, tmp_path / "out")
    assert (result.errors, result.graded) == (("s0002",), 7)
    full |= {f"s000{i}" for i in range(8)}
    with pytest.raises(StoreError, match="No space left"):
        batch(plain, tmp_path / "out", regrade=True)
    full.clear()
    assert batch(plain, tmp_path / "out").ok


def test_two_batches_on_one_folder(plain: Path, tmp_path: Path, pretend: Pretend) -> None:
    out = tmp_path / "out"
    with Store(out), pytest.raises(UsageError, match=f"Another batch .*process {os.getpid()}"):
        batch(plain, out)
    assert batch(plain, out).ok


def test_ctrl_c_keeps_what_is_known_and_the_same_command_goes_on(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    pretend.pause_s = 0.2
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = batch(plain, out)
    timer.join()
    assert result.interrupted
    assert 0 < result.graded < 8
    assert len(pretend.calls) == result.graded
    again = batch(plain, out)
    assert (again.kept, again.graded, again.ok) == (result.graded, 8 - result.graded, True)


def test_a_second_ctrl_c_leaves_what_is_at_work(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    pretend.pause_s = 2.5
    interrupt = (os.getpid(), signal.SIGINT)
    timers = [threading.Timer(at, os.kill, interrupt) for at in (0.4, 1.2)]
    for timer in timers:
        timer.start()
    result = batch(plain, tmp_path / "out")
    for timer in timers:
        timer.join()
    assert (result.interrupted, result.graded, len(pretend.calls)) == (True, 0, 2)
    assert {row.status for row in result.rows} == {"pending"}
    pretend.pause_s = 0
    assert batch(plain, tmp_path / "out").graded == 8


_KILLED = """
import sys, time
from pathlib import Path
from grader import grading
from tests.cohort.helpers import Pretend, batch
grading.grade = Pretend(pause_s=0.01)
class Told:
    count = 0
    def begin(self, total): pass
    def done(self, verdict, *, kept):
        self.count += 1
        print(self.count, flush=True)
    def say(self, text): pass
    def end(self): pass
batch(Path(sys.argv[1]), Path(sys.argv[2]), progress=Told(), workers=4)
"""


def test_kill_9_in_the_middle_of_200(tmp_path: Path) -> None:
    made = make_cohort.students(200)
    source = make_cohort.as_zip(make_cohort.plain(made), tmp_path / "in.zip")
    command = [sys.executable, "-c", _KILLED, str(source), str(tmp_path / "out")]
    for kill_after in (60, 70):
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line) >= kill_after:
                    process.send_signal(signal.SIGKILL)
                    break
            process.stdout.read()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    out = tmp_path / "out"
    assert len(grades(out)) == 200
    assert {row["status"] for row in grades(out).values()} == {"graded"}
    lines = [line for line in audit(out) if line["event"] == "graded"]
    assert len({line["report"] for line in lines}) == 200
    assert len(lines) == 200  # none graded twice
    assert [p.name for p in (out / "reports").iterdir() if not p.name.endswith(".json")] == []
    assert len(list((out / "reports").iterdir())) == 200


def test_what_a_killed_batch_left_half_done_is_cleared_away(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    batch(plain, out)
    reports = sorted((out / "reports").iterdir())
    reports[0].write_text(reports[0].read_text()[:100])
    (out / "reports" / f".{reports[1].name}.partial").write_text("{")
    lines = (out / "audit.jsonl").read_text()
    (out / "audit.jsonl").write_text(lines[:-40])
    result = batch(plain, out)
    assert (result.graded, result.kept) == (1, 7)
    assert list((out / "reports").glob(".*")) == []
    known = []
    for line in (out / "audit.jsonl").read_text().splitlines():
        with contextlib.suppress(ValueError):
            known.append(json.loads(line)["report"])
    assert set(known) == {path.stem for path in reports}


# --- executors ----------------------------------------------------------------------------------------


def test_any_executor_will_do(plain: Path, tmp_path: Path, pretend: Pretend) -> None:
    with ThreadPoolExecutor(3) as executor:
        assert batch(plain, tmp_path / "out", executor=executor).graded == 8
        assert executor.submit(len, "still open").result() == 10


def test_gradings_in_other_processes(tmp_path: Path) -> None:
    files = make_cohort.plain(make_cohort.students(3))
    source = make_cohort.as_folder(files, tmp_path / "in")
    with ProcessPoolExecutor(1) as executor:
        result = batch(source, tmp_path / "out", executor=executor, rooms=ProcessRooms)
    assert [(row.points, row.notes) for row in result.rows] == [(4, ()), (3, ()), (1, ())]


# --- attempts and overrides ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "points", "calls"),
    [("latest", [("b", 0)], 1), ("best", [("b", 2)], 2), ("all", [("b", 2), ("b", 0)], 2)],
)
def test_attempts(
    policy: str, points: list[Any], calls: int, tmp_path: Path, pretend: Pretend
) -> None:
    files = {"b/harness.py": "n + n", "b/harness-1.py": "nothing"}
    source = make_cohort.as_folder(files, tmp_path / "in")
    result = batch(source, tmp_path / "out", attempt=policy)
    assert [(row.student, row.points) for row in result.rows] == points
    assert len(pretend.calls) == calls
    assert sum(row.counts for row in result.rows) == 1


def test_overrides_lie_on_top_and_are_shown(plain: Path, tmp_path: Path, pretend: Pretend) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "overrides.toml").write_text(
        '[[override]]\nstudent = "s0001"\ntest = "totals"\nreason = "unclear"\nwho = "N"\n'
        'when = 2026-11-30\n[[override]]\nstudent = "S0002"\npoints = 3\nreason = "ill"\n'
        'who = "N"\nwhen = "today"\n'
    )
    batch(plain, out)
    rows = grades(out)
    first, second = rows["s0001"], rows["s0002"]
    assert (first["points"], first["graded_points"], first["verdict"]) == ("4", "3", "pass")
    assert first["override"] == "unclear (N, 2026-11-30)"
    assert (second["points"], second["graded_points"]) == ("3", "1")
    report = json.loads(next((out / "reports").glob("s0001*")).read_text())
    assert report["score"]["points"] == 3


ENTRY = (
    '[[override]]\nstudent = "s0001"\ntest = "{}"\nreason = "{}"\nwho = "N"\nwhen = 2026-11-30\n'
)


def test_an_override_is_in_the_audit_once_and_again_when_it_changes_or_goes(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    batch(plain, out)
    told = []
    for text in (
        ENTRY.format("totals", "unclear"),
        ENTRY.format("totals", "unclear"),  # unchanged: nothing is written
        ENTRY.format("totals", "very unclear"),
        ENTRY.format("totals", "very unclear") + 'outcome = "fail"',
        "",
        "",
    ):
        (out / "overrides.toml").write_text(text)
        known = len(audit(out))
        batch(plain, out)
        told.append(audit(out)[known:])
    was, became = {"verdict": "fail", "points": 3}, {"verdict": "pass", "points": 4}
    assert [[(one["event"], one["change"]) for one in lines] for lines in told] == [
        [("override", "applied")],
        [],
        [("override", "changed")],
        [("override", "changed")],
        [("override", "withdrawn")],
        [],
    ]
    first = told[0][0]
    assert (first["student"], first["test"], first["from"], first["to"]) == (
        *("s0001", "totals"),
        *(was, became),
    )
    assert (first["reason"], first["who"], first["decided"]) == ("unclear", "N", "2026-11-30")
    assert first["report"].startswith("s0001-")
    assert (told[2][0]["from"], told[2][0]["to"]) == (became, became)
    assert (told[3][0]["from"], told[3][0]["to"]) == (became, was)
    assert (told[4][0]["from"], told[4][0]["to"]) == (was, was)
    assert told[4][0]["reason"] == "very unclear"


def test_several_overrides_each_have_a_line_and_one_whose_student_is_gone(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    points = ENTRY.format("x", "ill").replace('test = "x"', "points = 4").replace("s0001", "s0002")
    twice = ENTRY.format("totals", "a") + ENTRY.format("totals", "b")
    (out / "overrides.toml").write_text(twice + points)
    result = batch(plain, out)
    assert (result.decided.count, result.decided.applied) == (3, ("s0001", "s0002"))
    assert [row.verdict for row in result.rows[:3]] == ["pass"] * 3  # all points are a pass
    lines = [line for line in audit(out) if line["event"] == "override"]
    assert [(one["student"], one["reason"], one["points"]) for one in lines] == [
        ("s0001", "a", None),
        ("s0001", "b", None),
        ("s0002", "ill", 4),
    ]
    (out / "overrides.toml").write_text(twice)
    (plain / "s0002/harness.py").unlink()
    (plain / "s0002").rmdir()
    with (out / "audit.jsonl").open("a") as file:
        file.write('{"event": "override", "cut\n[1]\n{"event": "override", "student": []}\n')
    assert batch(plain, out).decided.withdrawn == ("s0002",)
    assert json.loads((out / "audit.jsonl").read_text().splitlines()[-1])["to"] is None


def test_an_override_of_a_test_waits_for_a_verdict(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "overrides.toml").write_text(ENTRY.format("totals", "unclear"))
    for options in ({"only": ["s0000"]}, {}):  # not graded yet, then without a verdict
        pretend.broken = {"Number 1."}
        assert batch(plain, out, **options).decided.count == 0
        assert grades(out)["s0001"]["points"] == ""  # a part of a score is none
        assert "override" not in {line["event"] for line in audit(out)}
    pretend.broken.clear()
    assert batch(plain, out).decided.count == 1
    assert (grades(out)["s0001"]["points"], audit(out)[-1]["change"]) == ("4", "applied")


def test_the_counts_are_those_with_overrides(plain: Path, tmp_path: Path, pretend: Pretend) -> None:
    out = tmp_path / "out"
    batch(plain, out, page=page.render)
    before = json.loads((out / "cohort.json").read_text())["figures"]
    assert "With <a href" not in (out / "index.html").read_text()
    (out / "overrides.toml").write_text(ENTRY.format("totals", "unclear"))
    batch(plain, out, page=page.render)
    figures = json.loads((out / "cohort.json").read_text())["figures"]
    assert figures["passed"] == before["passed"] + 1 == figures["scores"]["counts"][4]
    assert (figures["tests"], figures["overridden"]) == (before["tests"], 1)
    told = (out / "index.html").read_text()
    assert f"<b>{figures['passed']}</b>passed" in told
    assert "for 1 student: they count in who passed" in told


def test_the_terminal_tells_of_overrides(tmp_path: Path, command: Callable[..., list[str]]) -> None:
    command()
    (tmp_path / "out/overrides.toml").write_text(ENTRY.format("totals", "unclear"))
    assert "1 override applied: s0001; with it 3 passed, 5 did not." in command()
    (tmp_path / "out/overrides.toml").unlink()
    assert "Overrides withdrawn: s0001" in command()


def test_gradebooks_come_back_filled_and_otherwise_identical(
    tmp_path: Path, pretend: Pretend
) -> None:
    made = make_cohort.students(40)
    source = make_cohort.as_zip(make_cohort.canvas(made), tmp_path / "canvas.zip")
    (tmp_path / "roster.csv").write_text(make_cohort.roster(made), encoding="utf-8")
    canvas, moodle = make_cohort.canvas_book(made), make_cohort.moodle_book(made)
    (tmp_path / "c.csv").write_bytes(canvas)
    (tmp_path / "m.csv").write_bytes(moodle)
    result = batch(
        source,
        tmp_path / "out",
        roster_file=tmp_path / "roster.csv",
        gradebook={"canvas": tmp_path / "c.csv", "moodle": tmp_path / "m.csv"},
    )
    points = {row.student: row.points for row in result.rows}
    wanted = canvas
    for s in made:
        end = f',11.00,,"{s.number},5"'.encode()
        assert wanted.count(end) == 1
        wanted = wanted.replace(end, end.replace(b",,", f",{points[s.key]},".encode()))
    assert (tmp_path / "out/gradebook-canvas.csv").read_bytes() == wanted
    wanted = moodle
    for s in made:
        row = f"{s.email},Submitted,,4.00".encode()
        wanted = wanted.replace(row, row.replace(b",,", f",{points[s.key]},".encode()))
    assert (tmp_path / "out/gradebook-moodle.csv").read_bytes() == wanted
    assert (tmp_path / "c.csv").read_bytes() == canvas


def test_a_gradebook_that_is_none_is_refused_before_anything_is_graded(
    plain: Path, tmp_path: Path, pretend: Pretend
) -> None:
    (tmp_path / "book.csv").write_text("colour\nred\n")
    with pytest.raises(UsageError, match="no gradebook export of Canvas"):
        batch(plain, tmp_path / "out", gradebook={"canvas": tmp_path / "book.csv"})
    assert pretend.calls == []


# --- memory -------------------------------------------------------------------------------------------


def test_reports_are_not_kept_in_memory(tmp_path: Path, pretend: Pretend) -> None:
    result = batch(
        make_cohort.as_zip(make_cohort.plain(make_cohort.students(120)), tmp_path / "in.zip"),
        tmp_path / "out",
    )
    assert all(len(json.dumps(dataclasses.asdict(row))) < 3000 for row in result.rows)


def test_a_batch_of_nobody(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match="Nobody handed in anything"):
        batch(tmp_path / "in", tmp_path / "out")
    began = time.monotonic()
    with pytest.raises(UsageError, match="There is no file or folder"):
        batch(tmp_path / "not there", tmp_path / "out")
    assert time.monotonic() - began < 5
