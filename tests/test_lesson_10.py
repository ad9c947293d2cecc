"""Lesson 10: what can't be written down as an edit of the solution.

The wrong answers themselves are in wrong_answers/lesson_10.toml, the right ones in solutions/.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader import grade, lessons, wire
from grader.submission import from_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.records import Report, TestResult

HERE = Path(__file__).parent
ROOT = HERE.parent
LESSON = lessons.find(10)
SOLUTION = (HERE / "solutions" / "lesson_10" / "harness.py").read_text(encoding="utf-8")
WRONG: dict[str, dict[str, Any]] = {
    entry["name"]: entry
    for entry in tomllib.loads(
        (HERE / "wrong_answers" / "lesson_10.toml").read_text(encoding="utf-8")
    )["wrong"]
}
FIVE = [
    "missing_result",
    "orphan_result",
    "late_result",
    "duplicate_result",
    "failed_reply_with_a_call",
]


def wrong(name: str) -> str:
    text = SOLUTION
    for edit in WRONG[name]["edit"]:
        assert text.count(edit["find"]) == 1
        text = text.replace(edit["find"], edit["replace"])
    return text


@functools.cache
def graded(text: str, seed: int = 7) -> Report:
    return grade(from_bytes(text.encode()), LESSON, seed=seed)


def repairing(body: str) -> str:
    """The solution, with another body of the repair; `view` is what was right."""
    return SOLUTION.replace("    return view\n# --- end ---", f"{body}\n# --- end ---")


def failing(report: Report) -> dict[str, TestResult]:
    assert [t.id for t in report.tests if t.outcome not in ("pass", "fail")] == []
    return {t.id: t for t in report.tests if t.outcome == "fail"}


# --- answers written down in advance ------------------------------------------------------------


def test_knowing_the_five_transcripts_passes_none_of_the_five_tests() -> None:
    text = repairing(
        """    import damaged
    for name in damaged.__all__:
        if messages == getattr(damaged, name):
            return view
    return list(messages)"""
    )
    assert set(FIVE) <= set(failing(graded(text)))


@pytest.mark.parametrize("name", FIVE)
def test_knowing_one_transcript_does_not_pass_its_test(name: str) -> None:
    text = repairing(
        f"    import damaged\n    return view if messages == damaged.{name} else list(messages)"
    )
    assert name in failing(graded(text))


# --- whatever comes back --------------------------------------------------------------------------

NO_LIST = {
    "return None": "returned None, not a list",
    "return tuple(view)": "returned a tuple, not a list",
    "return 'view'": "returned a str, not a list",
    "return (m for m in view)": "returned a generator, not a list",
    "return {'view': view}": "returned a dict, not a list",
    "return deque(view)": "returned a deque, not a list",
    "return 7": "returned an int, not a list",
    "yield from view": "returned a generator, not a list",
}
NO_TRANSCRIPT = [
    "return ['a', 1, None]",
    "return [[]]",
    "return [{}]",
    "return [{'role': None}]",
    "return [{'role': 'assistant'}]",
    "return [{'role': 'assistant', 'content': 'words'}]",
    "return [{'role': 'assistant', 'content': [None, 3]}]",
    "return [{'role': 'assistant', 'content': [{'type': 'toolCall'}]}]",
    "return [{'role': 'toolResult'}]",
    "return [{'role': 'user', 'content': float('nan')}]",
    "return [{'role': 'user', 'content': 10 ** 6000}]",
    "return [{'role': 'user', 'content': object()}]",
    "return [{1: 2}]",
    "return [set(), lambda: 0, type]",
    "view.append(view); return view",
    "m = {'role': 'user'}; m['content'] = m; return [m]",
    "return [*view, {'role': 'toolResult', 'tool_call_id': [], 'content': {}}]",
    "return [*view, {'role': [], 'content': []}]",
    "return [{**m, 'content': None} for m in view]",
    "return [{**m, 'usage': float('inf')} for m in view]",
    "c = lab_call('c1] R(c1'); return [{'role': 'assistant', 'content': [c]}]",
    "return []",
    "return [*view] * 30",
    "messages.clear(); return view",
    "messages[:] = [None]; return view",
]


@pytest.mark.parametrize(("body", "says"), NO_LIST.items())
def test_a_repair_that_returns_no_list_is_told_so(body: str, says: str) -> None:
    failed = failing(graded(repairing(f"    {body}")))
    assert {*FIVE, "valid_transcript_unchanged", "repair_is_idempotent"} <= set(failed)
    assert all(says in failed[name].message for name in FIVE)
    assert failed["late_result"].location is not None


@pytest.mark.parametrize("body", NO_TRANSCRIPT)
def test_a_repair_may_return_anything_and_it_is_never_our_error(body: str) -> None:
    define = "\n\ndef lab_call(id):\n"
    define += "    return {'type': 'toolCall', 'id': id, 'name': '', 'arguments': None}\n"
    failed = failing(graded(repairing(f"    {body}") + define))
    assert set(failed) & {*FIVE, "record_is_untouched"}
    assert all(t.message.startswith("Given ") for t in failed.values())


@pytest.mark.parametrize(
    "body", ["return None", "return 'view'", "return {'messages': []}", "return [None]"]
)
def test_a_view_may_be_anything_and_it_is_never_our_error(body: str) -> None:
    text = SOLUTION.replace("    return repair_tool_history(sent)", f"    {body}")
    failed = failing(graded(text))
    assert {"view_is_repaired_record_is_not", "walk_away_recovers"} <= set(failed)


@pytest.mark.parametrize("returns", ["{'a': 1}", "None", "[]", "[1, None]", "7", "iter([{}])"])
def test_a_loop_may_return_anything_and_it_is_never_our_error(returns: str) -> None:
    text = SOLUTION + f"\n\ndef run_agent(*args, **kwargs):\n    return {returns}\n"
    failed = failing(graded(text))
    assert {"walk_away_recovers", "failed_reply_never_runs", "walk_away_after_every_event"} <= set(
        failed
    )
    assert all(t.message.startswith("Given ") for t in failed.values())


@pytest.mark.parametrize("returns", ["None", "7", "[]", "{}", "object()", "'run'"])
def test_a_prompt_may_return_anything_and_it_is_never_our_error(returns: str) -> None:
    text = SOLUTION.replace("        return self._run(text)", f"        return {returns}")
    failed = failing(graded(text))
    assert "not a generator of events" in failed["walk_away_recovers"].message


@pytest.mark.parametrize(
    "returns",
    ["None", "7", "'U A'", "{}", "[None]", "[{}]", "[{'role': 'user'}]", "iter([])", "[[]]"],
)
def test_the_record_may_be_anything_and_it_is_never_our_error(returns: str) -> None:
    text = SOLUTION.replace("        return tuple(self._messages)", f"        return {returns}")
    failed = failing(graded(text))
    assert {"walk_away_recovers", "failed_reply_never_runs", "walk_away_after_every_event"} <= set(
        failed
    )


def test_what_is_missing_is_named() -> None:
    failed = failing(graded(SOLUTION.replace("def prompt(", "def ask(")))
    assert failed["walk_away_recovers"].kind == "missing_name"
    assert failed["walk_away_recovers"].message.endswith("harness.py has no Harness.prompt.")
    failed = failing(graded(SOLUTION.replace("class Harness:", "class Conversation:")))
    assert failed["walk_away_recovers"].hint == LESSON.names["Harness"]
    failed = failing(graded(wrong("constant-is-called-otherwise")))
    assert failed["missing_result"].hint == LESSON.names["INTERRUPTED"]
    assert "harness.py has no INTERRUPTED." in failed["missing_result"].message


FORGED: list[Any] = [
    None,
    7,
    "fine",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"value": []},
    {"first": [], "again": []},
]
FORGED += [[{"items": 3, "same": [], "is_input": False, "record": [], "kept": []}]]
FORGED += [[{"items": [1], "same": [], "is_input": False, "record": [], "kept": []}]]
FORGED += [[{"steps": [], "requests": [], "loaded": None}] * 3]
FORGED += [[{"steps": [{"record": [None], "ran": [None]}] * 3, "requests": [7], "loaded": []}]]


@pytest.mark.parametrize("observation", FORGED, ids=range(len(FORGED)))
def test_a_forged_observation_is_a_failed_test(observation: Any) -> None:
    frame = wire.encode({"observation": observation})
    forge = f"import os; os.write(3, {frame!r}); os._exit(0)"
    text = repairing(f"    {forge}").replace("        self._model = model", f"        {forge}")
    failed = failing(graded(text))
    assert {*FIVE, "walk_away_recovers", "walk_away_after_every_event"} <= set(failed)


# --- replays ----------------------------------------------------------------------------------------


def replayed(text: str, test: TestResult, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "harness.py").write_text(text, encoding="utf-8")
    (folder / "again.py").write_text(test.replay, encoding="utf-8")
    paths = os.pathsep.join([str(ROOT / "grader"), str(ROOT)])
    return subprocess.run(
        [sys.executable, "again.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def shapes(test: TestResult) -> Iterator[str]:
    """The shapes that a message says were seen."""
    for seen in re.findall(
        r"(?:returned|twice it is|h\.messages is|was sent) (.*?)(?:; it|, as it)", test.message
    ):
        yield seen if seen != "no messages" else ""


SHOWS = [
    ("repair-changes-nothing", "orphan_result", "U A R(c7) U"),
    ("newest-result-wins", "duplicate_result", "3 passed (second run)"),
    ("late-is-copied", "late_result", "from the record:  [0, 1, None, 2, 4]"),
    ("healthy-list-is-handed-back", "valid_transcript_unchanged", "a new list:       False"),
    ("dropped-results-are-marked", "record_is_untouched", "record untouched: False"),
    ("made-up-is-built-again", "repair_is_idempotent", "same objects: False"),
    ("made-up-again-on-every-pass", "repair_is_idempotent", "equal:        False"),
    ("made-up-for-no-tool", "missing_result", "'tool_name': 'interrupted'"),
    ("constant-says-something-else", "missing_result", "interrupted\n"),
    ("made-up-ones-are-kept-by-id", "missing_result", "record untouched: True"),
    ("failures-leave-the-record", "view_is_repaired_record_is_not", "record:"),
    ("record-is-mended-at-the-prompt", "walk_away_recovers", "record: U A["),
    ("refused-then-mended", "walk_away_recovers", "has no toolResult"),
    ("failed-reply-is-acted-on", "failed_reply_never_runs", "tools that ran: [{'path'"),
    ("announces-then-appends", "walk_away_after_every_event", "no result was recorded"),
    ("a-tuple-comes-back", "late_result", "returned:         tuple"),
]


@pytest.mark.parametrize(("name", "test", "shown"), SHOWS, ids=[f"{n}-{t}" for n, t, _ in SHOWS])
def test_a_replay_shows_the_failure(name: str, test: str, shown: str, tmp_path: Path) -> None:
    text = wrong(name)
    failed = failing(graded(text))
    done = replayed(text, failed[test], tmp_path)
    assert (done.stderr, done.returncode) == ("", 0)
    assert shown in done.stdout
    for shape in shapes(failed[test]):
        assert shape in done.stdout
    if failed[test].kind == "rule" and "returned a tuple" not in failed[test].message:
        assert failed[test].expected
        assert failed[test].observed


def test_a_replay_shows_what_was_remembered(tmp_path: Path) -> None:
    text = wrong("results-in-a-default-argument")
    failed = failing(graded(text))
    for test in ("missing_result", "walk_away_recovers"):
        done = replayed(text, failed[test], tmp_path)
        (remembered,) = re.findall(
            r"^\+ toolResult \S+ -> \"(.*)\"$", failed[test].diff, re.MULTILINE
        )
        assert remembered in done.stdout.split("\nsent:")[-1]


@pytest.mark.parametrize(
    ("text", "raises"),
    [
        (repairing("    return view[99]"), "IndexError: list index out of range"),
        (wrong("a-broken-session-is-refused"), "RuntimeError: this session is broken"),
        (wrong("constant-is-called-otherwise"), "has no attribute 'INTERRUPTED'"),
        (SOLUTION.replace("class Harness:", "class Talk:"), "has no attribute 'Harness'"),
        (SOLUTION.replace("def repair_tool_history(", "def mend("), "name 'repair_tool_history'"),
    ],
)
def test_a_replay_raises_what_the_test_raised(text: str, raises: str, tmp_path: Path) -> None:
    failed = [t for t in failing(graded(text)).values() if t.kind != "rule"]
    assert failed
    for test in failed:
        done = replayed(text, test, tmp_path)
        assert done.returncode == 1
        assert raises in done.stderr or "has no attribute 'repair_tool_history'" in done.stderr


def test_a_failure_tells_where_its_function_begins_unless_that_was_given() -> None:
    test = failing(graded(wrong("newest-result-wins")))["duplicate_result"]
    assert test.location is not None
    assert test.traceback == (f"repair_tool_history begins at line {test.location.line}",)
    test = failing(graded(wrong("announces-then-appends")))["walk_away_after_every_event"]
    assert (test.location, test.traceback) == (None, ())
    test = failing(graded(SOLUTION.replace("def prompt(", "def ask(")))["walk_away_recovers"]
    assert test.traceback[0].startswith("Harness begins at line ")


# --- names and seeds --------------------------------------------------------------------------------


def test_every_wrong_answer_of_the_lesson_is_embodied() -> None:
    listed = {answer.id for rule in LESSON.rules.values() for answer in rule.wrong_answers}
    assert {entry["named"] for entry in WRONG.values() if "named" in entry} == listed


@pytest.mark.parametrize(
    "path", sorted((HERE / "solutions" / "lesson_10").glob("*.py")), ids=lambda p: p.stem
)
def test_a_right_answer_passes_whatever_is_drawn(path: Path) -> None:
    for seed in (1, 2, 3):
        assert failing(graded(path.read_text(encoding="utf-8"), seed)) == {}


@pytest.mark.parametrize(
    "name",
    [
        "repair-changes-nothing",
        "sorted-by-id-as-text",
        "results-in-a-default-argument",
        "announces-then-appends",
    ],
)
def test_another_seed_gives_other_values_and_the_same_verdicts(name: str) -> None:
    reports = [graded(wrong(name), seed) for seed in (7, 8, 9)]
    verdicts = {tuple((t.id, t.outcome, t.wrong_answer) for t in r.tests) for r in reports}
    assert len(verdicts) == 1
    for test in failing(reports[0]):
        told = [failing(report)[test] for report in reports]
        drawn = "damaged." not in told[0].given
        assert len({t.replay for t in told}) == (3 if drawn else 1)
