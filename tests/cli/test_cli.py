"""The command as it is typed: exit status, what is said where, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
SOLUTION = ROOT / "tests" / "solutions" / "lesson_10" / "harness.py"
STARTER = ROOT / "starters" / "lesson_10" / "harness.py"
COMMAND = [sys.executable, "-m", "grader"]


def environment(**more: str) -> dict[str, str]:
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("LAB_CHECK", "CI", "NO_COLOR"))
    }
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def run(*args: str | Path, cwd: Path | None = None, env: Any = None, **options: Any) -> Any:
    return subprocess.run(
        [*COMMAND, *map(str, args)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=env or environment(),
        timeout=120,
        check=False,
        **options,
    )


def grade(*args: str | Path, **options: Any) -> Any:
    return run("--lesson", "10", "--runner", "local", *args, **options)


def test_a_solution_passes() -> None:
    done = grade(SOLUTION)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "14 of 14 points - passed"
    assert done.stderr == ""


def test_a_starter_does_not() -> None:
    done = grade(STARTER)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "0 of 14 points - not passed"
    assert "Traceback" not in done.stdout + done.stderr


def test_a_name_with_spaces_or_a_dash(tmp_path: Path) -> None:
    (tmp_path / "a b.py").write_bytes(SOLUTION.read_bytes())
    (tmp_path / "-x.py").write_bytes(SOLUTION.read_bytes())
    assert grade("a b.py", "--test", "late_result", cwd=tmp_path).returncode == 0
    assert grade("--test", "late_result", "--", "-x.py", cwd=tmp_path).returncode == 0
    confused = grade("-x.py", cwd=tmp_path)
    assert confused.returncode == 2
    assert "write ./-x.py" in confused.stderr


def test_standard_input() -> None:
    done = grade("--test", "late_result", "-", input=SOLUTION.read_text(encoding="utf-8"))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 of 1 points - passed")
    empty = grade("-", input="")
    assert empty.returncode == 1
    assert "harness.py is empty" in empty.stdout


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--lesson", "99", "x.py"), "The lessons there are: "),
        (("--lesson", "10"), "SUBMISSION"),
        (("x.py",), "--lesson"),
        (("--lesson", "ten", "x.py"), "ten"),
        (("--lesson", "10", "--format", "pdf", "x.py"), "The formats there are: text, json"),
        (("--lesson", "10", "--report", "json", "x.py"), "FORMAT=PATH"),
        (("--lesson", "10", "--report", "pdf=x", "x.py"), "The formats there are"),
        (("--lesson", "10", "--seed", "many", "x.py"), "many"),
        (("--lesson", "10", "--timeout", "0", "x.py"), "above 0"),
        (("--lesson", "10", "--test", "nope", "x.py"), "Its tests: missing_result"),
        (("--lesson", "10", "--runner", "moon", "x.py"), "moon"),
        (("rules", "--lesson", "10", "nope"), "Its rules: "),
    ],
)
def test_a_call_that_is_off_is_usage(args: tuple[str, ...], says: str) -> None:
    runner = [] if args[0] == "rules" or "--runner" in args else ["--runner", "local"]
    done = run(*args[:-1], *runner, *args[-1:])
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_report_beside_the_text(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    done = grade("--report", f"json={path}", "--format", "json", STARTER)
    assert done.returncode == 1
    assert json.loads(path.read_text()) == json.loads(done.stdout)
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_can_not_be_written(tmp_path: Path) -> None:
    done = grade("--report", f"json={tmp_path}/no/where.json", "--test", "late_result", SOLUTION)
    assert done.returncode == 2
    assert "can't be written" in done.stderr


def test_fail_under() -> None:
    args = ("--test", "late_result", "--test", "walk_away_recovers", SOLUTION)
    assert grade("--fail-under", "2", *args).returncode == 0
    assert grade("--fail-under", "3", *args).returncode == 1
    assert grade("--fail-under", "0", STARTER).returncode == 0


def test_no_colour_into_a_pipe() -> None:
    assert "\x1b" not in grade(STARTER).stdout


def test_colour_on_a_terminal_and_never_with_no_color() -> None:
    def in_a_terminal(**more: str) -> str:
        import pty

        shown = bytearray()

        def read(fd: int) -> bytes:
            data = os.read(fd, 1024)
            shown.extend(data)
            return data

        pid, fd = pty.fork()
        if pid == 0:
            args = [*COMMAND, "--lesson", "10", "--runner", "local", str(STARTER)]
            os.execve(sys.executable, args, environment(**more))
        try:
            while read(fd):
                pass
        except OSError:
            pass
        os.waitpid(pid, 0)
        os.close(fd)
        return shown.decode()

    assert "\x1b[31m" in in_a_terminal()
    assert "\x1b[31m" not in in_a_terminal(NO_COLOR="1")


def test_a_fallback_is_said_and_refused_in_ci(tmp_path: Path) -> None:
    env = {"DOCKER_HOST": f"unix://{tmp_path}/none.sock"}
    args = ("--lesson", "10", "--test", "late_result", SOLUTION)
    done = run(*args, env=environment(**env))
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "--runner local" in done.stderr
    refused = run(*args, env=environment(**env, CI="true"))
    assert refused.returncode == 2
    assert "--runner local" in refused.stderr


def test_no_engine_is_no_verdict(tmp_path: Path) -> None:
    env = environment(DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    done = run("--lesson", "10", "--runner", "docker", SOLUTION, env=env)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m grader --lesson 10 --runner local {STARTER} | head -1"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=environment(), check=False
    )
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, number: int, status: int) -> None:
    mark = f"sleeper-{os.getpid()}-{number}"
    (tmp_path / "harness.py").write_text(
        f"import subprocess\nsubprocess.Popen(['/bin/sh', '-c', 'sleep 60', '{mark}'],"
        " start_new_session=True)\n"
        "import time\ntime.sleep(60)\n"
    )
    process = subprocess.Popen(
        [*COMMAND, "--lesson", "10", "--runner", "local", "harness.py"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 20
    while not running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(mark)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == status
    assert "Traceback" not in err
    deadline = time.monotonic() + 5
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(mark)


def running(mark: str) -> bool:
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                words = (path / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                return True
    return False


def test_lessons_and_rules() -> None:
    assert "10  The poisoned transcript  (14 tests)" in run("lessons").stdout
    told = run("rules", "--lesson", "10", "duplicate_result")
    assert told.returncode == 0
    assert "newest-wins" in told.stdout
    assert "first-result-wins" in run("rules", "--lesson", "10").stdout


def test_help_names_every_command_and_starts_quickly() -> None:
    told = run("--help").stdout
    for name in ("grade", "lessons", "rules", "start"):
        assert name in told
    heavy = "import sys, grader.cli; print([m for m in sys.modules if m.split('.')[0] in %r])"
    done = subprocess.run(
        [sys.executable, "-c", heavy % ({"pytest", "docker", "rich", "jinja2", "tomllib"},)],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
    )
    assert done.stdout.strip() == "[]"
