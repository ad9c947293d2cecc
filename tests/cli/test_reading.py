"""What a new user reads after a mistake that is easily made: each report leads on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import RIGHT, STARTER, Call

SOURCE = RIGHT.read_text(encoding="utf-8")


def flat(text: str) -> str:
    return " ".join(text.split())


def save(folder: Path, text: str, name: str = "harness.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_an_exception_shows_the_traceback_that_it_tells_to_read(call: Call, tmp_path: Path) -> None:
    path = save(tmp_path, SOURCE + "\n\ndef repair_tool_history(messages):\n    return {}['no']\n")
    out = call.grade(path).out
    assert "Read the last line of the traceback" in flat(out)
    assert "in repair_tool_history: return {}['no']\n              KeyError: 'no'\n" in out
    assert "  rule  " in out
    assert "  why  " in out


def test_where_no_line_of_theirs_ran_no_traceback_is_spoken_of(call: Call, tmp_path: Path) -> None:
    path = save(tmp_path, SOURCE + "\n\ndef repair_tool_history():\n    return []\n")
    out = flat(call.grade(path, "--test", "late_result").out)
    assert "TypeError: repair_tool_history() takes 0 positional arguments" in out
    assert "traceback" not in out
    assert "the parameters in your `def`" in out


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            SOURCE.replace("repair_tool_history", "repair_tools_history"),
            "harness.py has no repair_tool_history; it has repair_tools_history on line 297: is that the one?",
        ),
        (
            SOURCE.replace("def prompt(", "def promtp("),
            "harness.py has no Harness.prompt; it has Harness.promtp on line 367: is that the one?",
        ),
        (
            SOURCE.replace("INTERRUPTED", "INTERUPTED"),
            "harness.py has no INTERRUPTED; it has INTERUPTED on line 293: is that the one?",
        ),
    ],
)
def test_a_name_that_is_missing_and_one_like_it(
    call: Call, tmp_path: Path, wrong: str, says: str
) -> None:
    out = flat(call.grade(save(tmp_path, wrong)).out)
    assert f"happened {says}" in out
    line = says.partition(" on line ")[2].partition(":")[0]
    assert f"your code harness.py, from line {line} " in out


def test_a_name_that_is_misspelled_where_it_is_used(call: Call, tmp_path: Path) -> None:
    wrong = SOURCE.replace("return repair_tool_history(sent)", "return repair_tool_histroy(sent)")
    out = flat(call.grade(save(tmp_path, wrong)).out)
    assert "NameError: name 'repair_tool_histroy' is not defined" in out
    assert "look at harness.py has repair_tool_history on line 297: is that the one?" in out


def test_a_name_that_is_missing_and_none_like_it(call: Call) -> None:
    out = flat(call.grade(STARTER).out)
    assert "happened harness.py has no repair_tool_history." in out
    assert "is that the one" not in out


def test_a_file_that_is_not_there_and_one_like_it(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "lies in" not in call.grade("harnes.py").out
    save(tmp_path, SOURCE)
    save(tmp_path, SOURCE, "lab_10.py")
    for name, found in (
        ("harnes.py", "harness.py"),
        ("lab10.py", "lab_10.py"),
        ("x", "harness.py"),
    ):
        done = call.grade(name)
        assert done.status == 1
        assert f"There is no file {name}." in done.out
        assert f"Check the name and the folder. {found} lies in that folder." in done.out
    assert "there is no folder nowhere." in flat(call.grade("nowhere/harness.py").out)
    demo = call("demo", "--lesson", "10", "--runner", "local", "harnes.py")
    assert (demo.status, "harness.py lies in that folder" in demo.err) == (1, True)


def test_a_folder_is_no_file_and_has_no_name(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path, SOURCE)
    monkeypatch.chdir(tmp_path)
    done = call.grade(".")
    assert done.status == 1
    assert done.out.startswith("Lesson 10: The poisoned transcript\n")
    assert "Name the harness.py itself. harness.py lies in that folder." in done.out
    so_far = call("--lesson", "all", "--runner", "local", ".").out
    assert so_far.startswith("What harness.py can do so far")


def test_every_lesson_in_a_line_each(call: Call) -> None:
    done = call("--lesson", "all", "-q", "--runner", "local", RIGHT)
    assert done.out.splitlines() == [
        "Lesson 7: Show your work - 12 of 12",
        "Lesson 9: But I had something to say - 12 of 12",
        "Lesson 10: The poisoned transcript - 14 of 14",
        "3 of 3 lessons passed",
    ]
    missing = call("--lesson", "all", "-q", "--runner", "local", "nowhere.py")
    assert (missing.status, missing.out.count("There is no file nowhere.py.")) == (1, 1)


@pytest.mark.parametrize("points", ["15", "-1"])
def test_points_that_can_not_be_reached(call: Call, points: str) -> None:
    done = call.grade("--fail-under", points, RIGHT)
    assert (done.status, done.out) == (2, "")
    assert "Name a number from 0 to 14." in done.err


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("nosuch", "Name an existing folder."),
        ("my/lesson_11", "Name the folder above it."),
        ("my/other", "Name the folder above it."),
        ("empty", "there is none in it."),
    ],
)
def test_a_folder_of_lessons_that_is_none(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("my/lesson_11", "my/other", "empty"):
        (tmp_path / name).mkdir(parents=True)
    save(tmp_path / "my" / "other", "", "lesson.toml")
    for args in (
        ("lessons",),
        ("rules", "--lesson", "10"),
        ("--lesson", "10", "--runner", "local"),
    ):
        done = call(*args, "--lessons", folder, *([RIGHT] if args[0] == "--lesson" else []))
        assert done.status == 2
        assert f"{folder} is not a folder of lessons" in done.err
        assert says in done.err


def test_what_exitfirst_left_is_told_without_the_note_again(call: Call, tmp_path: Path) -> None:
    out = call.grade("-x", save(tmp_path, "x = 1\n")).out
    assert flat(out).count("Stopped at the first failure") == 1
    assert "NOT RUN" not in out
    assert "Not run: 2 orphan_result, 3 late_result, " in flat(out)


def test_a_lesson_that_is_not_python_names_its_line_once(call: Call, tmp_path: Path) -> None:
    folder = tmp_path / "lesson_11"
    folder.mkdir()
    rule = "[[rule]]\nid = 'a'\ntext = 'a'\nwhy = 'a'\nsection = 'a'\n"
    save(folder, f"number = 11\ntitle = 'x'\n{rule}", "lesson.toml")
    save(folder, "x = 1\ndef f(:\n", "scenes.py")
    save(folder, "", "test_lesson_11.py")
    done = call("rules", "--lessons", tmp_path, "--lesson", "11")
    assert done.status == 3
    assert "scenes.py:2: it is not Python: invalid syntax\n" in done.err


def test_help_names_the_formats_and_what_is_meant_without_an_option(call: Call) -> None:
    from grader.records import Limits
    from grader.render import FORMATS

    told = flat(call("grade", "--help").out)
    assert f"{', '.join(FORMATS)}." in told
    assert f"{Limits().total_s:g} by default" in told
    assert "[default: 7]" in told
    assert "[default: auto]" in told
