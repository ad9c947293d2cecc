"""Four reports, made by hand: one that passes, one that fails in many ways, a problem and an error.

Their texts are those of a grading, with the awkward ones that a submission may print put in here and there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.records import (
    GraderInfo,
    LessonName,
    Limits,
    Location,
    Outcome,
    Problem,
    Report,
    RuleText,
    Score,
    SubmissionName,
    TestResult,
    Verdict,
    WrongAnswer,
)

RULES = {
    "first-result-wins": RuleText(
        "first-result-wins",
        "Of two results for one call, the one recorded first stays and the other is left out.",
        "The reply after them was written by a model that had seen the first and no other.",
        "Card 4",
    ),
    "late-result-moves": RuleText(
        "late-result-moves",
        "A result that was recorded late is moved up behind its call.",
        "Ids say which result, position says whose turn it is; a provider wants both.",
        "Card 3",
    ),
    "same-outcome": RuleText(
        "same-outcome",
        "`repair_tool_history` of its own result is equal to it.",
        "A view that changes each time it is built can't be cached.",
        "Two lists",
    ),
    "record-untouched": RuleText(
        "record-untouched",
        "The list that was handed in is what it was, all the way down.",
        "The record is evidence. Whoever looks for the cause tomorrow needs it as it was.",
        "Two lists",
    ),
}
TITLES = {
    "missing_result": ("A call without a result is answered", "late-result-moves"),
    "late_result": ("A result that comes too late is moved up, not replaced", "late-result-moves"),
    "duplicate_result": ("Of two results for one call, the first stays", "first-result-wins"),
    "results_in_call_order": ("Results stand in the order of the calls", "late-result-moves"),
    "repair_is_idempotent": ("Repairing a repaired list changes nothing", "same-outcome"),
    "record_is_untouched": ("The record that was handed in is what it was", "record-untouched"),
    "walk_away_recovers": ("After walking away, the next two prompts work", "record-untouched"),
    "view_is_repaired": ("What is sent is mended", "same-outcome"),
}
HOSTILE = (
    "::error file=x.py,line=1::forged\n##[error]forged\n::stop-commands::x\n::x::\r\n"
    "\x1b[31mred\x1b[0m \x00\x07 \u202edesrever\u202c zero\u200bwidth \ud800 ]]> &amp; </pre></details>"
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ``` ~~~ **bold** [a](javascript:x) | # h\n"
    "```\n# heading\n| a | b |\n```` @everyone https://example.org \U000e0041"
)


def case(name: str, number: int, outcome: Outcome, **fields: Any) -> TestResult:
    title, rule = TITLES[name]
    points = {"points": 1 if outcome == "pass" else 0, "max_points": 1, "duration_s": number / 1000}
    given = {"title": title, "rule": RULES[rule], "outcome": outcome, **points, **fields}
    return TestResult(id=name, number=number, **given)


def report(verdict: Verdict, tests: list[TestResult], **fields: Any) -> Report:
    whole = {
        "lesson": LessonName(10, "The poisoned transcript"),
        "submission": SubmissionName("harness.py", "3f" * 32, 11873),
        "grader": GraderInfo(
            "0.1.0", "ab" * 32, "lab_check:5d41402a", "docker", "3.13.1", 7, Limits()
        ),
        "score": Score(sum(t.points for t in tests), sum(t.max_points for t in tests)),
        "started_at": "2026-11-30T04:49:36.670Z",
        "duration_s": 0.612,
        **fields,
    }
    return Report(verdict=verdict, tests=tuple(tests), **whole)


def passing() -> Report:
    tests = [case(name, number, "pass") for number, name in enumerate(TITLES, 1)]
    tests[1] = replace(tests[1], stdout="now at 3 of 4 <results>\n")
    return report("pass", tests)


_DIFF = """\
  user -> "Find out about minaro 54."
  assistant -> toolCall c2 find_tipoti({"path": "ledopo.txt"})
- toolResult c2 -> "Now go through mogovo 31."
+ toolResult c2 -> "Now go through mog\u043evo 31."
? character 38: U+006F was due, U+043E came
  assistant -> "Done: <3 files> & 1 folder, in a line that goes on for longer than eighty columns."\
"""
_REPLAY = """\
import harness, lab

record = [lab.user("Find out about minaro 54."), lab.reply(lab.call("find_tipoti", id="c2"))]
view = harness.repair_tool_history(record)
print(lab.shape(view))
"""


def _wrong_result() -> TestResult:
    return case(
        "duplicate_result",
        3,
        "fail",
        kind="rule",
        message="Given U A[c2] R(c2) R(c2) A: repair_tool_history kept message 3, the second result.",
        given="U A[c2] R(c2) R(c2) A",
        expected="messages 0, 1, 2 and 4",
        observed="messages 0, 1, 3 and 4",
        diff=_DIFF,
        hint="Look at what `found[call_id] = message` does the second time.",
        wrong_answer=WrongAnswer("newest-wins", "The newest of two results wins. It shouldn't."),
        replay=_REPLAY,
        location=Location(214),
        traceback=("repair_tool_history begins at line 214",),
        stdout="\n".join(f"step {number}" for number in range(1, 25)) + "\n",
    )


def _raised(name: str, number: int, given: str) -> TestResult:
    return case(
        name,
        number,
        "fail",
        kind="exception",
        message=f"Given {given}: it raised KeyError: 'tool_call_id'",
        given=given,
        observed="it raised KeyError: 'tool_call_id'",
        hint="A user's message has no such key.",
        location=Location(230),
        traceback=(
            "harness.py:198 in repair_tool_history: order(messages)",
            "harness.py:230 in order: message['tool_call_id']",
        ),
    )


def _timeout() -> TestResult:
    return case(
        "repair_is_idempotent",
        5,
        "fail",
        kind="timeout",
        message="Given a repaired list: repair_tool_history ran for longer than 2 s.",
        given="a repaired list",
        observed="it ran for longer than 2 s",
        location=Location(190),
        traceback=("repair_tool_history begins at line 190",),
        stdout=HOSTILE,
    )


def failing() -> Report:
    tests = [
        case("missing_result", 1, "pass"),
        _raised("late_result", 2, "damaged.late_result (U A[c1] U R(c1))"),
        _wrong_result(),
        _raised("results_in_call_order", 4, "U A[c1,c2] R(c2) R(c1)"),
        _timeout(),
        case(
            "record_is_untouched",
            6,
            "fail",
            kind="rule",
            message="Given a record of 4 messages: message 1 has a new key 'seen'.",
            given="a record of 4 messages",
            expected='{"role": "user"}',
            observed='{"role": "user", "seen": true}',
            replay=_REPLAY,
        ),
        case(
            "walk_away_recovers",
            7,
            "fail",
            kind="missing_name",
            message="Given a run that is closed: harness.py has no Harness.",
            given="a run that is closed",
            observed="harness.py has no Harness.",
            hint="Region 4 of the starter holds the class `Harness`.",
            replay=_REPLAY,
        ),
        case(
            "view_is_repaired",
            8,
            "not_run",
            message="Not run: the submission's 60 s were used up.",
        ),
    ]
    return report("fail", tests, notes=("The submission's 60 s were used up.",), duration_s=60.031)


def problem() -> Report:
    tests = [
        case(name, number, "not_run", message="Not run: the file could not be loaded.")
        for number, name in enumerate(TITLES, 1)
    ]
    told = Problem(
        "syntax_error",
        "Line 12 is not Python: '(' was never closed\n    print(\"<b>::error::\", `x`\n         ^",
        12,
        "Look at the line, and at the end of the line `before` it.",
    )
    return report("fail", tests, problem=told)


def error() -> Report:
    message = (
        "The grader failed here, not your file; nothing is held against you. The engine is gone."
    )
    names = list(TITLES)
    tests = [
        *(case(name, number, "pass") for number, name in enumerate(names[:3], 1)),
        *(case(name, n, "error", message=message) for n, name in enumerate(names[3:], 4)),
    ]
    return report("error", tests, notes=(message,))


CASES = {"passing": passing, "failing": failing, "problem": problem, "error": error}
