"""What is new in a report, beside the one before it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.records import Report


def render(before: Report, after: Report) -> str:
    """Which tests pass now that did not, and which fail that did not; one paragraph each.

    Args:
        before: the earlier report.
        after: the later one. Tests that are in one of them only are passed over.
    """
    was = {test.id: test.outcome for test in before.tests}
    now = {test.id: test.outcome for test in after.tests if test.id in was}
    passing = [name for name in now if now[name] == "pass" != was[name]]
    failing = [name for name in now if now[name] == "fail" != was[name]]
    silent = [name for name in now if now[name] in ("not_run", "error") and was[name] == "pass"]
    told = [("Newly passing", passing), ("Newly failing", failing), ("No longer run", silent)]
    lines = [_told(word, names) for word, names in told if names]
    return "\n".join(lines or ["No test came out in another way than before."]) + "\n"


def _told(word: str, names: list[str]) -> str:
    return textwrap.fill(
        f"{word}: {', '.join(names)}", 80, subsequent_indent="    ", break_on_hyphens=False
    )
