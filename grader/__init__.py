"""lab_check: grades one lesson's lab, `harness.py`, rule by rule.

`from grader import grade; report = grade("harness.py", lesson=10)` gives what the command gives, as a
record. Nothing is imported until it is asked for: the rooms import this package too, and start-up
counts there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.batch import grade_cohort
    from grader.grading import grade
    from grader.records import Report

__all__ = ["Report", "__version__", "grade", "grade_cohort"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `grade` and `Report` when somebody asks for them (PEP 562)."""
    if name == "grade":
        from grader.grading import grade  # noqa: PLC0415 - late on purpose, see above

        return grade
    if name == "grade_cohort":
        from grader.batch import grade_cohort  # noqa: PLC0415

        return grade_cohort
    if name == "Report":
        from grader.records import Report  # noqa: PLC0415

        return Report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
