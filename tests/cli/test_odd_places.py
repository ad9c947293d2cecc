"""Other line ends, other code pages, no home: the command works there, and grades."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
SOLUTION = ROOT / "tests" / "solutions" / "lesson_10" / "harness.py"
STARTER = ROOT / "starters" / "lesson_10" / "harness.py"
FEW = ("--lesson", "10", "--runner", "local", "--test", "late_result", "--test", "missing_result")


def run(*args: str | Path, env: dict[str, str], without: tuple[str, ...] = ()) -> Any:
    """The command in a process of its own, with bytes for what it writes."""
    gone = ("LAB_CHECK", "CI", "LC_", "LANG", "PYTHON", "XDG_", *without)
    kept = {key: value for key, value in os.environ.items() if not key.startswith(gone)}
    return subprocess.run(
        [sys.executable, "-m", "grader", *map(str, args)],
        capture_output=True,
        env={**kept, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]} | env,
        timeout=120,
        check=False,
    )


def report(*args: str | Path, env: dict[str, str] | None = None) -> Any:
    done = run(*args, "--format", "json", env=env or {})
    assert done.stderr == b""
    data = json.loads(done.stdout)
    for item in (data, *data["tests"]):
        item.pop("duration_s")
    return {k: v for k, v in data.items() if k not in ("started_at", "submission")}


# --- line ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spawn", ["0", "1"], ids=["forked", "spawned"])
def test_a_file_with_windows_line_ends_gets_the_same_report(tmp_path: Path, spawn: str) -> None:
    wrong = STARTER.read_bytes() + b"\n\ndef repair_tool_history(messages):\n    return 1 / 0\n"
    for number, source in enumerate((SOLUTION.read_bytes(), wrong, b"x = 1\ndef f(:\n")):
        plain, other = tmp_path / f"{number}", tmp_path / f"{number}-crlf"
        for folder, data in ((plain, source), (other, source.replace(b"\n", b"\r\n"))):
            folder.mkdir()
            (folder / "harness.py").write_bytes(data)
        got = report(*FEW, other / "harness.py", env={"LAB_CHECK_SPAWN": spawn})
        assert got == report(*FEW, plain / "harness.py")
        assert got["verdict"] == ("fail" if number else "pass")


def test_a_lesson_with_windows_line_ends_gives_the_same_verdicts(tmp_path: Path) -> None:
    """As git checks it out on Windows, where it is told to."""
    for name in ("hidden_tests/lesson_10", "starters/lesson_10", "damaged"):
        (tmp_path / name).mkdir(parents=True)
        for path in (ROOT / name).iterdir():
            if path.is_file():
                data = path.read_bytes().replace(b"\n", b"\r\n")
                (tmp_path / name / path.name).write_bytes(data)
    lessons = ("--lessons", tmp_path / "hidden_tests")
    for file in (SOLUTION, STARTER):
        got, plain = report(*FEW, *lessons, file), report(*FEW, file)
        assert {**got, "grader": 0} == {**plain, "grader": 0}


# --- code pages ------------------------------------------------------------------------------------

NOTHING_BUT_ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
PAGES = [
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "cp1252", "LAB_CHECK_SPAWN": "1"},
    {"PYTHONIOENCODING": "ascii:strict"},
    {"PYTHONIOENCODING": "utf-16"},
    {"LC_ALL": "C"},
    NOTHING_BUT_ASCII,
    {**NOTHING_BUT_ASCII, "LAB_CHECK_SPAWN": "1"},
]
ODD = (
    "\n\ndef repair_tool_history(messages):\n"
    "    print('héllo → 漢字 \U0001f600')\n    raise ValueError('héllo → 漢字 \U0001f600 \\ud800')\n"
)


@pytest.mark.parametrize("env", PAGES, ids=lambda env: "-".join(env.values()))
def test_a_report_can_be_printed_whatever_the_code_page(
    tmp_path: Path, env: dict[str, str]
) -> None:
    folder = tmp_path / "Prüfung"
    folder.mkdir()
    harness = folder / "hārness.py"
    harness.write_text(SOLUTION.read_text(encoding="utf-8") + ODD, encoding="utf-8")
    done = run(*FEW, "--report", f"json={folder / 'r.json'}", harness, env=env)
    encoding = env.get("PYTHONIOENCODING", "utf-8").partition(":")[0]
    told = done.stdout.decode(encoding)
    assert (done.returncode, done.stderr) == (1, b"")
    assert "ValueError: h" in told
    assert told.splitlines()[-1].startswith("0 of 2")
    written = json.loads((folder / "r.json").read_bytes())
    assert "héllo → 漢字 \U0001f600 \\ud800" in written["tests"][0]["message"]
    assert written["tests"][0]["stdout"] == "héllo → 漢字 \U0001f600\n"
    # To a Python that knows only ASCII, a name with more in it is bytes.
    name = r"h\udcc4\udc81rness.py" if "PYTHONUTF8" in env else "hārness.py"
    assert written["submission"]["name"] == name


def test_a_file_in_another_encoding_is_read_as_python_reads_it(tmp_path: Path) -> None:
    source = SOLUTION.read_text(encoding="utf-8") + "\nGREETING = 'café'\n"
    harness = tmp_path / "harness.py"
    harness.write_bytes(f"# -*- coding: cp1252 -*-\n{source}".replace("→", "->").encode("cp1252"))
    assert report(*FEW, harness)["verdict"] == "pass"
    harness.write_bytes(source.replace("→", "->").encode("cp1252"))
    assert report(*FEW, harness)["problem"]["kind"] == "encoding"


# Every file that is opened as text says in which encoding: the default is another on every system.
ENCODINGS = """
import sys, warnings
warnings.filterwarnings("error", category=EncodingWarning, module=r"(grader|lab)\\b")
from grader.cli import main
main(sys.argv[1:])
"""


def test_no_file_is_read_in_whatever_encoding_the_system_has(tmp_path: Path) -> None:
    for args in (
        (*FEW, STARTER, "--report", f"html={tmp_path / 'r.html'}"),
        ("start", "--lesson", "10", tmp_path / "kit"),
        ("demo", "--lesson", "10", "--runner", "local", SOLUTION),
        ("hint", "--lesson", "10"),
        ("rules", "--lesson", "10"),
        ("lessons",),
        (
            "batch",
            "--lesson",
            "10",
            "--runner",
            "local",
            "--out",
            tmp_path / "out",
            SOLUTION.parent,
        ),
    ):
        done = subprocess.run(
            [sys.executable, "-X", "warn_default_encoding", "-c", ENCODINGS, *map(str, args)],
            capture_output=True,
            cwd=ROOT,
            env={**os.environ, "LAB_CHECK_DEBUG": "1"},
            timeout=120,
            check=False,
        )
        assert b"EncodingWarning" not in done.stderr, done.stderr.decode()
        assert done.returncode in (0, 1), done.stderr.decode()


# --- no home ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": "/dev/null"},
        {"HOME": ""},
        {"XDG_STATE_HOME": "/dev/null/state", "HOME": "/dev/null"},
        {"XDG_STATE_HOME": "/proc/1", "HOME": "/proc"},  # nobody can write there, not even root
        {"XDG_STATE_HOME": "not absolute", "HOME": "relative"},
    ],
    ids=lambda env: "-".join(env.values()).replace("/", "_"),
)
def test_where_nothing_can_be_remembered_it_grades_all_the_same(env: dict[str, str]) -> None:
    env = {"XDG_STATE_HOME": "", **env}
    done = run(*FEW, SOLUTION, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    again = run(*FEW[:4], "--failed", "--timeout", "9", "-x", STARTER, env=env)
    assert again.returncode == 1
    assert again.stderr == b"lab_check: no failure is remembered, so every test is run.\n"


def test_without_a_home_in_the_environment_it_grades(tmp_path: Path) -> None:
    file = tmp_path / "harness.py"
    file.write_bytes(SOLUTION.read_bytes())
    done = run(
        *FEW, file, env={"XDG_STATE_HOME": str(tmp_path)}, without=("HOME", "USER", "LOGNAME")
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_folder_that_can_not_be_written_to_is_enough(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "harness.py").write_bytes(SOLUTION.read_bytes())
    folder.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-m", "grader", *FEW, "harness.py"],
        cwd=folder,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": "/dev/null"},
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(path.name for path in folder.iterdir()) == ["harness.py"]
