"""Starters and solutions: they compile, and differ inside the gaps and nowhere else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader import lab

ROOT = Path(__file__).parents[2]
STARTERS = sorted(ROOT.glob("starters/lesson_*/harness.py"))
SOLUTIONS = sorted(ROOT.glob("tests/solutions/lesson_*/harness.py"))
GAPS = {"lesson_07": 2, "lesson_09": 4, "lesson_10": 2}
MARKS = re.compile(
    r"(?<=# --- your code ---\n).*?(?=^ *# --- end ---$)", flags=re.DOTALL | re.MULTILINE
)
REGIONS = ["1 messages", "2 tools", "3 loop", "4 harness", "5 frontends"]


def played(path: Path) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "harness"}
    source = path.read_text(encoding="utf-8")
    exec(compile(source, str(path), "exec", dont_inherit=True), names)
    return names


def lesson(path: Path) -> str:
    return path.parent.name


def test_all_of_them_are_here() -> None:
    assert [lesson(path) for path in STARTERS] == ["lesson_07", "lesson_09", "lesson_10"]
    wanted = ["lesson_07", "lesson_08", "lesson_09", "lesson_10"]
    assert [lesson(path) for path in SOLUTIONS if lesson(path) in wanted] == wanted


@pytest.mark.parametrize("path", [*STARTERS, *SOLUTIONS], ids=lesson)
def test_it_compiles_and_keeps_its_regions(path: Path) -> None:
    names = played(path)
    source = path.read_text(encoding="utf-8")
    regions = [name for name in REGIONS if lesson(path) != "lesson_07" or name != "4 harness"]
    assert re.findall(r"^# == (.+) ==$", source, flags=re.MULTILINE) == regions
    assert names["SYSTEM"] == "You are a helpful assistant."


@pytest.mark.parametrize("path", STARTERS, ids=lesson)
def test_a_solution_is_its_starter_outside_the_gaps(path: Path) -> None:
    starter = path.read_text(encoding="utf-8")
    solution = (ROOT / "tests/solutions" / lesson(path) / "harness.py").read_text(encoding="utf-8")
    assert len(MARKS.findall(starter)) == GAPS[lesson(path)]
    assert MARKS.sub("", starter) == MARKS.sub("", solution)
    assert starter != solution


@pytest.mark.parametrize("path", [*STARTERS, *SOLUTIONS], ids=lesson)
def test_what_the_model_reads_is_the_pages_own(path: Path) -> None:
    names = played(path)
    ws = lab.Workspace()
    tools = [
        names["make_read_tool"](ws),
        names["make_write_tool"](ws),
        names["make_bash_tool"](lab.Shell(ws)),
    ]
    assert json.dumps(names["tool_specs"](tools)) == (
        '[{"name": "read", "description": "Read a text file and return its contents. One call '
        'returns at most 2000 lines or 50000 bytes; use offset to read on.", "parameters": '
        '{"type": "object", "properties": {"path": {"type": "string", "description": "Path of the '
        'file to read."}, "offset": {"type": "integer", "description": "First line, from 1."}, '
        '"limit": {"type": "integer", "description": "How many lines."}}, "required": ["path"]}}, '
        '{"name": "write", "description": "Write a text file. Creates the file, or replaces its '
        'whole contents.", "parameters": {"type": "object", "properties": {"path": {"type": '
        '"string", "description": "Path of the file to write."}, "content": {"type": "string", '
        '"description": "The new contents."}}, "required": ["path", "content"]}}, '
        '{"name": "bash", "description": "Run a shell command and return its output (stdout and '
        'stderr together). Only the last 2000 lines or 50000 bytes come back.", "parameters": '
        '{"type": "object", "properties": {"command": {"type": "string", "description": "The '
        'command line."}}, "required": ["command"]}}]'
    )


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        ({"path": "a.txt"}, "one\ntwo\n[Showing lines 1-2 of 4. Use offset=3 to continue.]"),
        ({"path": "a.txt", "offset": 3}, "three\nfour\n"),
        (
            {"path": "a.txt", "offset": 2, "limit": 1},
            "two\n[Showing lines 2-2 of 4. Use offset=3 to continue.]",
        ),
        ({"path": "empty.txt"}, ""),
        ({"path": "a.txt", "offset": 5}, "offset 5 is past the end of a.txt: 4 lines"),
        ({"path": "a.txt", "offset": 0}, "offset and limit must be 1 or more"),
        ({"path": "a.txt", "limit": 0}, "offset and limit must be 1 or more"),
        ({"path": "a.txt", "offset": "2"}, "offset must be an integer"),
        ({"path": 3}, "path must be a string"),
        ({}, "path must be a string"),
        (
            {"path": "b.txt"},
            "File not found: b.txt. Files here: a.txt, empty.txt, long.txt",
        ),
        (
            {"path": "long.txt"},
            "[Line 1 of long.txt is 31 bytes, over the 20-byte budget of one read, so none of it "
            "is shown. Use offset=2 to skip it.]",
        ),
    ],
)
@pytest.mark.parametrize("path", [*STARTERS, *SOLUTIONS], ids=lesson)
def test_what_read_says(path: Path, arguments: dict[str, Any], content: str) -> None:
    names = played(path)
    files = {"a.txt": "one\ntwo\nthree\nfour\n", "empty.txt": "", "long.txt": "é" * 15 + "\nx\n"}
    read = names["make_read_tool"](lab.Workspace(files), max_lines=2, max_bytes=20)
    result = names["run_tool"]([read], {"id": "c1", "name": "read", "arguments": arguments})
    assert result["content"] == content


@pytest.mark.parametrize("path", [*STARTERS, *SOLUTIONS], ids=lesson)
def test_every_call_gets_a_result(path: Path) -> None:
    names = played(path)
    ws = lab.Workspace()
    bash = names["make_bash_tool"](lab.Shell(ws), max_lines=1)
    tools = [names["make_write_tool"](ws), bash]

    def run(name: str, **arguments: object) -> dict[str, Any]:
        call = lab.call(name, arguments, id="c9")
        result: dict[str, Any] = names["run_tool"](tools, call)
        assert list(result) == ["role", "tool_call_id", "tool_name", "content", "is_error"]
        assert (result["role"], result["tool_call_id"]) == ("toolResult", "c9")
        assert result["tool_name"] == name
        return result

    assert run("raed")["content"] == "Tool raed not found"
    assert run("raed")["is_error"] is True
    assert run("write", path="a.py")["content"] == "content must be a string"
    assert run("write", path="a.py")["is_error"] is True
    assert run("write", path="a.py", content="x")["content"] == "Successfully wrote to a.py."
    assert run("bash", command="pytest")["is_error"] is False
    assert run("bash", command="pytest")["content"] == (
        "===== 1 failed, 2991 passed =====\n\n[Showing the last 1 of 3000 lines. Narrow the "
        "command for more.]\nCommand exited with code 1"
    )


def test_the_lesson_7_starter_prints_as_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    # page 7, "the terminal wants this": the six prints, and the reply comes back at the end
    names = played(STARTERS[0])
    ws = lab.Workspace({"config.py": "PORT = 9090\n"})
    look = lab.reply(lab.text("Let me look."), lab.call("read", {"path": "config.py"}))
    model = lab.ScriptedModel([look, lab.say("The port is 9090."), lab.fail("500 oops")])
    tools = [names["make_read_tool"](ws)]
    messages: list[dict[str, Any]] = []
    final = names["run_agent"](model, names["SYSTEM"], messages, tools, "Find the port.")
    assert final is messages[-1]
    assert capsys.readouterr().out.splitlines() == [
        "user: Find the port.",
        "--- turn 1 ---",
        "assistant: Let me look.",
        'tool: read {"path": "config.py"}',
        "result: 12 characters",
        "--- turn 2 ---",
        "assistant: The port is 9090.",
    ]
    names["run_agent"](model, names["SYSTEM"], messages, tools, "Again.")
    assert capsys.readouterr().out.splitlines()[-1] == "stopped: 500 oops"


def test_the_lesson_9_starter_stops_at_once() -> None:
    names = played(STARTERS[1])
    model = lab.ScriptedModel([lab.say("Never asked.")])
    h = names["Harness"](model, names["SYSTEM"], [])
    assert [event["type"] for event in h.prompt("Hi.")] == ["agent_start", "agent_end"]
    assert not hasattr(h, "steer")
    h.prompt("Hi.")
    with pytest.raises(RuntimeError, match=r"^already running$"):
        h.prompt("Hi.")


def test_the_lesson_10_starter_sends_what_lesson_5_sent() -> None:
    names = played(STARTERS[2])
    assert "INTERRUPTED" not in names
    assert "repair_tool_history" not in names
    record = [lab.user("Hi."), lab.fail("503"), lab.reply(lab.call("a", {}, id="c1"))]
    assert lab.shape(names["context_for_model"](record)) == "U A[c1]"


def test_interrupted_is_the_pages_own_text() -> None:
    names = played(ROOT / "tests/solutions/lesson_10/harness.py")
    assert names["INTERRUPTED"] == (
        "Tool call interrupted: no result was recorded. It may not have run, or may have run "
        "partly; check before repeating it."
    )
