"""Arbitrary reports for hypothesis: any record that the types allow, with texts that mean harm."""

from __future__ import annotations

from typing import get_args

from hypothesis import strategies as st

from grader.records import (
    GraderInfo,
    Kind,
    LessonName,
    Limits,
    Location,
    Outcome,
    Problem,
    ProblemKind,
    Report,
    RuleText,
    Score,
    SubmissionName,
    TestResult,
    Verdict,
    WrongAnswer,
)
from tests.render.reports import HOSTILE

_PIECES = (
    *(
        "::error::x",
        "::stop-commands::t",
        "##[error]x",
        "::t::",
        "\n",
        "\r",
        "\r\n",
        "\x1b[31m",
        "\0",
    ),
    *(
        "]]>",
        "<![CDATA[",
        "<!--",
        "-->",
        "<script>",
        "</pre>",
        "</style>",
        "&lt;",
        "&#60;",
        '"',
        "'",
    ),
    *(
        "`",
        "```",
        "~~~",
        "\n```\n",
        "\n# x",
        "\n- x",
        "**x**",
        "_x_",
        "[a](b)",
        "![a](b)",
        "<b>",
        "|",
    ),
    *(
        "\\",
        "%0A",
        "%",
        ",",
        ":",
        "\t",
        "  ",
        "\ud800",
        "\udfff",
        "\ufffe",
        "\u2028",
        "\x85",
        "\u202e",
    ),
    *(
        "http://a.b",
        "www.a.b",
        "a@b.c",
        "\U0001f600",
        "é",
        "- ",
        "+ ",
        "? ",
        "$x$",
        "~~x~~",
        "=\n===",
    ),
)
_ANY = st.text(st.characters(exclude_categories=()), max_size=30)
texts = st.one_of(
    st.just(""),
    st.lists(st.one_of(st.sampled_from(_PIECES), _ANY), max_size=8).map("".join),
    st.just(HOSTILE),
    st.just("x" * 2_000),
    st.just("`" * 300 + "\n" * 300),
)
numbers = st.integers(-10, 10**6)
seconds = st.floats(-1, 1e6)

rules = st.builds(RuleText, texts, texts, texts, texts)
tests = st.builds(
    TestResult,
    id=texts,
    number=numbers,
    title=texts,
    points=numbers,
    max_points=numbers,
    rule=rules,
    outcome=st.sampled_from(get_args(Outcome)),
    kind=st.none() | st.sampled_from(get_args(Kind)),
    message=texts,
    given=texts,
    expected=texts,
    observed=texts,
    diff=texts,
    hint=texts,
    wrong_answer=st.none() | st.builds(WrongAnswer, texts, texts),
    replay=texts,
    location=st.none() | st.builds(Location, numbers),
    traceback=st.lists(texts, max_size=2).map(tuple),
    stdout=texts,
    duration_s=seconds,
)
reports = st.builds(
    Report,
    lesson=st.builds(LessonName, numbers, texts),
    submission=st.builds(SubmissionName, texts, st.none() | texts, st.none() | numbers),
    grader=st.builds(
        GraderInfo,
        texts,
        texts,
        st.none() | texts,
        texts,
        st.none() | texts,
        numbers,
        st.just(Limits()),
    ),
    verdict=st.sampled_from(get_args(Verdict)),
    score=st.builds(Score, numbers, numbers),
    started_at=st.one_of(texts, st.just("2026-11-30T04:49:36.670Z")),
    duration_s=seconds,
    tests=st.lists(tests, max_size=3).map(tuple),
    problem=st.none()
    | st.builds(Problem, st.sampled_from(get_args(ProblemKind)), texts, st.none() | numbers, texts),
    notes=st.lists(texts, max_size=2).map(tuple),
)
