"""A lesson's rules as a person reads them: what each says, why, and the ideas that miss it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.lessons import Lesson
    from grader.records import Rule


def render(lesson: Lesson, rule_id: str | None = None) -> str:
    """All rules in short, or one in full.

    Args:
        lesson: whose rules.
        rule_id: a rule, or the id of a test, which stands for its rule.

    Raises:
        UsageError: the lesson has neither a rule nor a test of that name.
    """
    if rule_id is None:
        head = f"Lesson {lesson.number}: {lesson.title}\n"
        return head + "".join(f"\n{rule.id}\n{_wrap(rule.text)}" for rule in lesson.rules.values())
    by_test = {test.id: test.rule for test in lesson.tests}
    rule = lesson.rules.get(rule_id) or by_test.get(rule_id)
    if rule is None:
        raise UsageError(
            f"Lesson {lesson.number} has no rule {rule_id!r}.",
            help=f"Its rules: {', '.join(lesson.rules)}.",
        )
    return _one(lesson, rule)


def _one(lesson: Lesson, rule: Rule) -> str:
    tests = ", ".join(test.id for test in lesson.tests if test.rule is rule)
    text = f"{rule.id}  (lesson {lesson.number}, {rule.section})\n\n{_wrap(rule.text)}"
    text += f"\nWhy\n{_wrap(rule.why)}\nTested by\n{_wrap(tests)}"
    if rule.wrong_answers:
        text += "\nWhat others thought, and what it misses\n"
        text += "\n".join(f"  {wrong.id}\n{_wrap(wrong.text, 4)}" for wrong in rule.wrong_answers)
    return text


def _wrap(text: str, indent: int = 2) -> str:
    lead = " " * indent
    return textwrap.fill(text, 80, initial_indent=lead, subsequent_indent=lead) + "\n"
