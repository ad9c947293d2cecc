"""The bundle as a file: what is in it, what is not, and how it is asked for."""

from __future__ import annotations

import io
import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from grader import grading, lessons
from grader.bundle import autograder, gradescope, sealing
from grader.bundle.command import bundle
from grader.cohort import entries
from grader.errors import LessonError, UnknownLessonError, UsageError
from grader.rooms import packing

ROOT = Path(__file__).parents[2]
RIGHT = (ROOT / "tests" / "solutions" / "lesson_10" / "harness.py").read_bytes()


@pytest.fixture(scope="module")
def packed() -> zipfile.ZipFile:
    data = gradescope.build(lessons.find(10), seed=3, total_s=45.0)
    return zipfile.ZipFile(io.BytesIO(data))


def test_one_lesson_goes_in_and_what_it_needs(packed: zipfile.ZipFile) -> None:
    names = set(packed.namelist())
    assert {"setup.sh", "run_autograder"} == {name for name in names if "/" not in name}
    tops = {"/".join(name.split("/")[:2]) for name in names if "/" in name}
    assert tops == {
        f"lab_check/{x}" for x in ("grader", "site", "hidden_tests", "python.sh", "settings.json")
    }
    assert sorted(name for name in names if "hidden_tests" in name) == [
        f"lab_check/hidden_tests/lesson_10/{name}"
        for name in ("damaged.py", "lesson.toml", "scenes.py", "test_lesson_10.py")
    ]
    for name in ("grader/grading.py", "grader/lab/__init__.py", "grader/render/gradescope.py"):
        assert f"lab_check/{name}" in names
    for name in packing._NEEDED:
        assert {f"lab_check/site/{name}/__init__.py", f"lab_check/site/{name}.py"} & names
    settings = json.loads(packed.read("lab_check/settings.json"))
    assert settings == {"lesson": 10, "seed": 3, "total_s": 45.0}


def test_it_is_pure_python_without_compiled_files(packed: zipfile.ZipFile) -> None:
    ends = {Path(name).suffix for name in packed.namelist()}
    assert ends == {"", ".py", ".sh", ".toml", ".json"}
    assert not any("__pycache__" in name for name in packed.namelist())


def test_the_scripts_can_be_started(packed: zipfile.ZipFile) -> None:
    for entry in packed.infolist():
        script = "/" not in entry.filename
        assert entry.external_attr >> 16 == (0o100755 if script else 0o100644)
        if script:
            assert packed.read(entry).startswith(b"#!/bin/sh\n")
            assert b"\r" not in packed.read(entry)


@pytest.mark.parametrize("name", ["setup.sh", "run_autograder", "python.sh"])
def test_the_scripts_are_plain_shell(name: str) -> None:
    path = ROOT / "grader" / "bundle" / name
    subprocess.run(["sh", "-n", path], check=True)


def test_the_same_content_is_the_same_zip() -> None:
    lesson = lessons.find(10)
    one, two = (gradescope.build(lesson, seed=None, total_s=60.0) for _ in range(2))
    assert one == two
    assert gradescope.build(lesson, seed=1, total_s=60.0) != one


def test_an_unpacked_lesson_is_the_same_lesson(packed: zipfile.ZipFile, tmp_path: Path) -> None:
    packed.extractall(tmp_path)
    unpacked = lessons.find(10, [tmp_path / "lab_check" / "hidden_tests"])
    assert unpacked.sha256 == lessons.find(10).sha256
    assert unpacked.tests == lessons.find(10).tests


# --- the command ----------------------------------------------------------------------------------


def asked(*args: str) -> Result:
    return CliRunner().invoke(bundle, ["gradescope", *args])


def test_the_command_writes_it(tmp_path: Path) -> None:
    out = tmp_path / "out.zip"
    out.write_bytes(b"an older one")
    done = asked("--lesson", "10", str(out))
    assert done.exit_code == 0
    assert done.output.startswith(f"wrote {out}: lesson 10, 14 tests, ")
    assert list(tmp_path.iterdir()) == [out]
    with zipfile.ZipFile(out) as found:
        settings = json.loads(found.read("lab_check/settings.json"))
    assert settings == {"lesson": 10, "seed": None, "total_s": 60.0}


def test_the_command_takes_a_lesson_of_an_author_s_own(tmp_path: Path) -> None:
    folder = tmp_path / "lesson_11"
    folder.mkdir()
    toml = 'number = 11\ntitle = "T"\nmodules = ["extra"]\n[[rule]]\nid = "r"\ntext = "t"\nwhy = "w"\nsection = "s"\n'
    test = '@rule("r")\ndef test_it(play):\n    """It"""\n'
    files = {"lesson.toml": toml, "scenes.py": "", "test_it.py": test, "extra.py": "x = 1\n"}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    out = tmp_path / "out.zip"
    done = asked("--lessons", str(tmp_path), "--lesson", "11", "--seed", "5", str(out))
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(out) as found:
        names = [Path(name).name for name in found.namelist() if "lesson_11" in name]
        assert sorted(names) == sorted(files)
        assert json.loads(found.read("lab_check/settings.json"))["seed"] == 5


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--seed", "often"], "neither a whole number nor the word file"),
        (["--timeout", "0"], "a number of seconds above 0"),
    ],
)
def test_a_call_that_is_off(tmp_path: Path, args: list[str], says: str) -> None:
    done = asked("--lesson", "10", *args, str(tmp_path / "out.zip"))
    assert done.exit_code == 2
    assert says in done.output
    assert not list(tmp_path.iterdir())


def test_no_such_lesson_and_no_such_place(tmp_path: Path) -> None:
    assert isinstance(asked("--lesson", "99", str(tmp_path / "x")).exception, UnknownLessonError)
    lost = asked("--lesson", "10", str(tmp_path / "no" / "out.zip")).exception
    assert isinstance(lost, UsageError)
    assert "can't be written: No such file" in lost.message
    assert not list(tmp_path.iterdir())


# --- what runs in the container, as far as it runs anywhere -----------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A platform's folders, for a bundle that is this checkout."""
    for name in ("submission", "results"):
        (tmp_path / name).mkdir()
    own = tmp_path / "own"
    own.mkdir()
    settings = {"lesson": 10, "seed": 7, "total_s": 60.0}
    (own / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    monkeypatch.setattr(autograder, "_OWN", own)
    monkeypatch.setattr(sealing, "flaw", lambda *_: "")
    return tmp_path


def test_a_submission_is_graded(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "submission" / "harness.py").write_bytes(RIGHT)
    assert autograder.run(home) == 0
    result = json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert (result["score"], len(result["tests"])) == (14, 14)
    assert capsys.readouterr().out == "lab_check: pass, 14/14\n"
    assert autograder.check(home) == 0
    assert "ready to grade lesson 10" in capsys.readouterr().out


def test_too_many_files_are_the_student_s(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("harness.py", "other.py"):
        (home / "submission" / name).write_bytes(RIGHT)
    few = entries.SourceLimits(entries=1)
    monkeypatch.setattr(entries, "SourceLimits", lambda: few)
    assert autograder.run(home) == 0
    result = json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert (result["score"], "holds more than 1 files" in result["output"]) == (0, True)


@pytest.mark.parametrize(
    "error",
    [
        LessonError("the lesson is broken.", help="Mend it."),
        RuntimeError("what \x1b[31mnobody foresaw"),
    ],
    ids=["of the tree", "of another kind"],
)
def test_what_goes_wrong_here_is_nobody_s_zero(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    (home / "submission" / "harness.py").write_bytes(RIGHT)
    monkeypatch.setattr(grading, "grade", fail)
    assert autograder.run(home) == 3
    result = json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert "score" not in result
    assert "tests" not in result
    assert "held against you" in result["output"]
    assert autograder.check(home) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_without_a_seal_nothing_is_graded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (home / "submission" / "harness.py").write_bytes(RIGHT)
    assert autograder.run(home) == 3
    result = json.loads((home / "results" / "results.json").read_text(encoding="utf-8"))
    assert "score" not in result
    assert "It does not run as root" in result["output"]
