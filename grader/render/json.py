"""The report as JSON, as docs/report.schema.json describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from grader.records import to_json

if TYPE_CHECKING:
    from grader.records import Report


def render(report: Report) -> str:
    """The whole report; ASCII, so that no pipe or terminal can break it."""
    return json.dumps(to_json(report), indent=2) + "\n"
