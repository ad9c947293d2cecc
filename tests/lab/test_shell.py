"""The canned shell and the workspace (page 7, the first cell; page 9; DESIGN 6)."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from grader import lab

ROOT = Path(__file__).parents[2]
WORTH_HAVING = ">       assert total([1, 2, 3]) == 6"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("harness_under_test", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_failing_tests_print_three_thousand_lines() -> None:
    output, code = lab.Shell(lab.Workspace()).run("pytest")
    lines = output.splitlines()
    assert code == 1
    assert len(lines) == 3000
    assert sum("::test_" in line and line.endswith(("PASSED", "FAILED")) for line in lines) == 2992
    assert next(line for line in lines if "assert" in line) == WORTH_HAVING
    assert lines.index(WORTH_HAVING) >= 2994


def test_both_truncators_keep_1283_lines_and_only_the_tail_the_verdict() -> None:
    harness = load(ROOT / "tests/solutions/lesson_10/harness.py")
    output, _ = lab.Shell(lab.Workspace()).run("pytest -q")
    head, from_the_front = harness.truncate_head(output)
    tail, from_the_back = harness.truncate_tail(output)
    assert (from_the_front, from_the_back) == (1283, 1283)
    assert ("assert" in head, "assert" in tail) == (False, True)
    assert len(head.encode()) <= 50_000
    assert len(tail.encode()) <= 50_000


def test_the_tests_pass_when_the_workspace_is_right() -> None:
    ws = lab.Workspace()
    shell = lab.Shell(ws, tests_pass_when=lambda w: w.exists("a.py"))
    assert shell.run("pytest")[1] == 1
    ws.write_text("a.py", "")
    assert shell.run("pytest") == ("collected 2992 items\n\n===== 2992 passed =====\n", 0)


def test_other_commands_are_not_found() -> None:
    shell = lab.Shell(lab.Workspace())
    assert shell.run("make all") == ("sh: make: command not found\n", 127)
    assert shell.run("  ") == ("", 0)
    with pytest.raises(TypeError, match="a command is a string"):
        shell.run(["pytest"])  # type: ignore[arg-type]


def test_a_workspace_holds_its_first_files_without_a_write() -> None:
    ws = lab.Workspace({"main.py": "a\n", "./src//util.py": "b\n"})
    assert ws.read_text("./main.py") == "a\n"
    assert ws.listdir(".") == ["main.py", "src"]
    assert ws.listdir("src") == ["util.py"]
    assert ws.exists("src")
    assert not ws.exists("src/none.py")
    assert ws.writes == []


def test_writes_are_told_in_order() -> None:
    ws = lab.Workspace()
    for path in ("b.py", "a.py", "b.py"):
        ws.write_text(path, path)
    assert ws.writes == ["b.py", "a.py", "b.py"]
    assert ws.listdir() == ["a.py", "b.py"]
    ws.writes.clear()
    assert len(ws.writes) == 3


def test_what_a_workspace_refuses() -> None:
    ws = lab.Workspace({"src/a.py": ""})
    with pytest.raises(FileNotFoundError, match=r"File not found: b\.py"):
        ws.read_text("b.py")
    with pytest.raises(FileNotFoundError, match="No such directory: lib"):
        ws.listdir("lib")
    with pytest.raises(IsADirectoryError):
        ws.read_text("src")
    with pytest.raises(IsADirectoryError):
        ws.write_text("src", "")
    with pytest.raises(IsADirectoryError):
        ws.write_text(".", "")
    with pytest.raises(NotADirectoryError):
        ws.write_text("src/a.py/b.py", "")
    with pytest.raises(ValueError, match="Outside the workspace"):
        ws.write_text("../a.py", "")
    with pytest.raises(TypeError, match="a file holds a string"):
        ws.write_text("b.py", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a path is a string"):
        ws.read_text(None)  # type: ignore[arg-type]
    assert not ws.exists("/etc/passwd")
    assert ws.writes == []
