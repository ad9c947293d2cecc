"""Fixtures of the tests of cohorts."""

from __future__ import annotations

import pytest

from grader import grading
from tests.cohort.helpers import Pretend

collect_ignore = ["lessons"]  # hidden tests: played by the judge, not by this pytest


@pytest.fixture
def pretend(monkeypatch: pytest.MonkeyPatch) -> Pretend:
    """Gradings that cost nothing."""
    graded = Pretend()
    monkeypatch.setattr(grading, "grade", graded)
    return graded
