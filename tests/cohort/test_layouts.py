"""Who handed in what: the platforms' names, the file among files, the roster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.cohort import roster
from grader.cohort.collecting import collect
from grader.errors import UsageError
from tests.cohort import make_cohort

if TYPE_CHECKING:
    from grader.cohort.people import Cohort, Student


def cohort(files: dict[str, str], tmp_path: Path, **options: Any) -> Cohort:
    source = make_cohort.as_folder(files, tmp_path / "in")
    spool = tmp_path / "spool"
    spool.mkdir(exist_ok=True)
    return collect([source], spool, **options)


def read(student: Student, number: int = -1) -> str:
    path = student.attempts[number].path
    assert path is not None, student.attempts[number].problem
    return path.read_text()


@pytest.mark.parametrize(
    ("files", "layout", "keys"),
    [
        (["doejane_LATE_12_34_harness.py", "roe_13_35_harness.py"], "canvas", ["12", "13"]),
        (
            ["anon_a1B2c_34_harness.py", "anon_zz_35_harness.py"],
            "canvas",
            ["anon_a1B2c", "anon_zz"],
        ),
        (["Jane Doe_12_assignsubmission_file_/harness.py"], "moodle", ["12"]),
        (["Jo_12_assignsubmission_file/x/harness.py"], "moodle", ["12"]),
        (["Participant_77_assignsubmission_file/harness.py"], "moodle", ["77"]),
        (["Participant 77_assignsubmission_file_harness.py"], "moodle", ["77"]),
        (["lab-submissions/lab-ada-l/harness.py"], "classroom", ["ada-l"]),
        (["cs-lab-ada/harness.py", "cs-lab-bob-b/harness.py"], "classroom", ["ada", "bob-b"]),
        (["s-01/harness.py", "s-02/harness.py"], "plain", ["s-01", "s-02"]),
        (["ada.py", "bob.py"], "plain", ["ada", "bob"]),
        (["all/ada/harness.py", "all/bob/src/harness.py"], "plain", ["ada", "bob"]),
        (["harness.py"], "plain", ["in"]),
        (["ada/harness.py"], "plain", ["ada"]),
    ],
)
def test_a_layout_is_recognised(
    files: list[str], layout: str, keys: list[str], tmp_path: Path
) -> None:
    found = cohort(dict.fromkeys(files, "x = 1"), tmp_path)
    assert (found.layouts, [student.key for student in found.students]) == ((layout,), keys)
    assert all(read(student) == "x = 1" for student in found.students)


def test_a_layout_can_be_said(tmp_path: Path) -> None:
    files = {"s-01/harness.py": "1", "s-02/harness.py": "2"}
    found = cohort(files, tmp_path, layout="classroom")
    assert [student.key for student in found.students] == ["01", "02"]
    with pytest.raises(UsageError, match="no layout 'blackboard'"):
        cohort(files, tmp_path, layout="blackboard")


def test_canvas_knows_late_ones_and_second_tries(tmp_path: Path) -> None:
    files = {
        "doejane_LATE_12_34_harness-1.py": "second",
        "doejane_12_30_harness.py": "first",
        "doejane_12_31_damaged.py": "kit",
        "roe_13_text.html": "<p>see my site</p>",
    }
    jane, roe = cohort(files, tmp_path).students
    assert [read(jane, i) for i in range(2)] == ["first", "second"]
    assert (jane.name, jane.attempts[0].late) == ("doejane", True)
    assert "text typed into a box" in roe.attempts[0].problem


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"harness.ipynb": ""}, "a notebook where harness.py should be"),
        ({"harness.py.txt": ""}, "a text file where harness.py should be"),
        ({"harness.txt": ""}, "a text file where harness.py should be"),
        ({"work.7z": ""}, "an archive where harness.py should be"),
        ({"work.zip": ""}, "work.zip could not be opened: it is neither a zip nor a tar inside."),
        ({"a.py": "", "b.py": ""}, "several could be it: a.py, b.py"),
        ({"x/harness.py": "1", "y/harness.py": "2"}, "Several files could be the harness"),
        ({"lab/model.py": "", "damaged.py": ""}, "There is no harness.py"),
    ],
)
def test_no_usable_file(files: dict[str, str], problem: str, tmp_path: Path) -> None:
    named = {f"ada/{name}": text for name, text in files.items()}
    ada = cohort({**named, "bob/harness.py": "1"}, tmp_path).students[0]
    assert ada.attempts[0].path is None
    assert problem in ada.attempts[0].problem
    assert ada.attempts[0].help


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"harness.py": "1", "sub/harness.py": "2"}, "1"),
        ({"Harness.py": "1", "lab/lab_check.py": "2"}, "1"),
        ({"solution.py": "1", "damaged.py": "2", "lab/x.py": "3"}, "1"),
        ({"harness.py": "1", "harness (1).py": "2"}, "2"),
        ({"harness.py": "1", "harness-2.py": "2", "harness-10.py": "3"}, "3"),
    ],
)
def test_the_file_among_files(files: dict[str, str], text: str, tmp_path: Path) -> None:
    named = {f"ada/{name}": text for name, text in files.items()}
    ada = cohort({**named, "bob/harness.py": "9"}, tmp_path).students[0]
    assert read(ada) == text


# --- Gradescope's YAML --------------------------------------------------------------------------------


def gradescope(yaml: str, tmp_path: Path, count: int = 2) -> Cohort:
    files = {f"e/submission_{i}/harness.py": str(i) for i in range(1, count + 1)}
    return cohort({"e/submission_metadata.yml": yaml, **files}, tmp_path)


def test_groups_and_missing_fields(tmp_path: Path) -> None:
    yaml = (
        "submission_1:\n  :submitters:\n  - :name: A\n    :sid: 7\n  - :name: B\n    :email: b@x\n"
        "submission_2:\n  :submitters:\n  - :name: A\n"
    )
    told = [(s.key, s.name, s.group, read(s)) for s in gradescope(yaml, tmp_path).students]
    assert told == [
        ("7", "A", ("b@x",), "1"),
        ("b@x", "B", ("7",), "1"),
        ("submission_2", "A", (), "2"),
    ]


def test_the_later_of_two_by_one_student(tmp_path: Path) -> None:
    who = "  :submitters:\n  - :sid: a\n  :created_at: 2026-11-0"
    yaml = f"submission_1:\n{who}2 10:00:00.000000000 Z\nsubmission_2:\n{who}1 10:00:00 Z\n"
    (student,) = gradescope(yaml, tmp_path).students
    assert [read(student, i) for i in range(2)] == ["2", "1"]


@pytest.mark.parametrize(
    "when", ["'2026-11-01 10:00:00 UTC'", "2026-11-01", "'2026-11-01T10:00:00-05:00'"]
)
def test_dates_as_they_come(when: str, tmp_path: Path) -> None:
    who = "  :submitters:\n  - :sid: a\n  :created_at: "
    yaml = f"submission_1:\n{who}2026-11-03 10:00:00 Z\nsubmission_2:\n{who}{when}\n"
    (student,) = gradescope(yaml, tmp_path).students
    assert [read(student, i) for i in range(2)] == ["2", "1"]


def test_odd_metadata_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    yaml = (
        "submission_1:\n  :submitters: nobody\n  :created_at: soon\nsubmission_2: 3\nother:\n- 1\n"
    )
    told = [student.key for student in gradescope(yaml, tmp_path).students]
    assert told == ["submission_1", "submission_2"]


@pytest.mark.parametrize(
    "yaml",
    [
        "!!python/object/apply:os.system ['touch /tmp/lab_check_yaml']",
        "submission_1: !ruby/object:Evil {}",
        "a: [",
        "- 1",
        "\x00",
        "[" * 5000,
    ],
)
def test_a_yaml_that_asks_for_more_than_data(yaml: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"submission_metadata.yml can't be read"):
        gradescope(yaml, tmp_path)
    assert not Path("/tmp/lab_check_yaml").exists()


def test_a_yaml_that_refers_to_itself(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40)]
    assert len(gradescope("\n".join(lines), tmp_path).students) == 2


# --- the roster ---------------------------------------------------------------------------------------


def enrolled(text: str, tmp_path: Path) -> roster.Roster:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return roster.read(path)


def test_the_headings_in_the_docs_are_those_that_are_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs/instructors.md").read_text(encoding="utf-8")
    rows = re.search(r"^\| headings .*?\n\n", text, re.DOTALL | re.MULTILINE)
    assert rows is not None
    told = [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in rows[0].split("\n")[2:-2]]
    keys, names, parts, emails, canvas, moodle, others = told
    assert tuple(keys) == roster._KEYS
    assert (set(names), set(emails)) == (roster._NAMES, roster._EMAILS)
    assert set(parts) == roster._FIRST | roster._LAST
    read_as = {"canvas": "canvas:participant 42", "github": "participant 42"}
    for heading in (*canvas, *moodle, *others):
        listed = enrolled(f"student,its {heading} number\na,Participant 42\n", tmp_path)
        assert read_as.get(heading, "moodle:42") in listed.people[0].ids


def test_numbers_of_one_platform_are_not_those_of_another(tmp_path: Path) -> None:
    listed = enrolled("id,name,canvas,moodle\na,A,1,2\nb,B,2,1\nc,C,3,4\n", tmp_path)
    files = {"x_1_9_harness.py": "one", "x_2_9_harness.py": "two", "x_4_9_harness.py": "four"}
    found = cohort(files, tmp_path, roster=listed)
    told = {s.key: (read(s) if s.attempts else None, s.notes) for s in found.students}
    assert told == {
        "a": ("one", ()),
        "b": ("two", ()),
        "c": (None, ()),
        "4": ("four", ("not on the roster",)),
    }


def test_names_join_where_only_one_has_them(tmp_path: Path) -> None:
    text = "student;first name;last name\ns1;Jane Ann;Doe\ns2;Jo;Roe\ns3;Jo;Roe\n"
    files = {
        "doejaneann_1_9_harness.py": "1",
        "roejo_2_9_harness.py": "2",
    }
    found = cohort(files, tmp_path, roster=enrolled(text, tmp_path))
    assert {s.key for s in found.students if s.attempts} == {"s1", "2"}
    assert [s.name for s in found.students if s.key == "s1"] == ["Jane Ann Doe"]


def test_two_students_of_one_name(tmp_path: Path) -> None:
    files = {f"Jane Doe_{i}_assignsubmission_file/harness.py": str(i) for i in (5, 6)}
    found = cohort(files, tmp_path)
    assert [(s.key, s.name, read(s)) for s in found.students] == [
        ("5", "Jane Doe", "5"),
        ("6", "Jane Doe", "6"),
    ]


@pytest.mark.parametrize("text", ["", "colour\nred\n", "id\na\nA\n"])
def test_a_roster_that_is_none(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"column|two rows"):
        enrolled(text, tmp_path)


def test_several_sources_and_single_files(tmp_path: Path) -> None:
    first = make_cohort.as_zip({"ada/harness.py": "1"}, tmp_path / "first.zip")
    make_cohort.as_folder({"bob/harness.py": "2", "cyd.py": "3", "ada.py": "4"}, tmp_path)
    spool = tmp_path / "spool"
    spool.mkdir()
    given = [first, tmp_path / "bob/harness.py", tmp_path / "cyd.py", tmp_path / "ada.py"]
    found = collect(given, spool)
    assert [(s.key, read(s), len(s.attempts)) for s in found.students] == [
        ("ada", "4", 2),
        ("bob", "2", 1),
        ("cyd", "3", 1),
    ]


def test_an_empty_folder_is_somebody_who_handed_in_nothing(tmp_path: Path) -> None:
    files = {"ada/harness.py": "1"}
    folder = make_cohort.as_folder(files, tmp_path / "in")
    (folder / "bob/deeper").mkdir(parents=True)
    (folder / "cyd").mkdir()
    (folder / "cyd/.DS_Store").write_text("")
    archive = make_cohort.as_zip({**files, "bob/deeper/": "", "cyd/": ""}, tmp_path / "in.zip")
    for source in (folder, archive):
        spool = tmp_path / f"spool{source.suffix}"
        spool.mkdir()
        found = collect([source], spool)
        assert [s.key for s in found.students] == ["ada", "bob", "cyd"]
        assert "There is no harness.py" in found.students[1].attempts[0].problem
        assert found.refused == ()


def test_the_results_are_no_part_of_the_source(tmp_path: Path) -> None:
    found = cohort(
        {"ada/harness.py": "1", "out/reports/a.json": "{}"}, tmp_path, skip=tmp_path / "in/out"
    )
    assert [s.key for s in found.students] == ["ada"]
