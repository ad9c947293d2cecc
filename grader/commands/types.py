"""What an option's word may be, where click has no type for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click


class Seed(click.ParamType[Any]):
    """A whole number, or "file"."""

    name = "N|file"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | None:
        """None stands for "file"."""
        if value == "file":
            return None
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor the word file", param, ctx)


class ReportPath(click.ParamType[Any]):
    """FORMAT=PATH."""

    name = "FORMAT=PATH"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Path]:
        """The two parts."""
        kind, equals, path = str(value).partition("=")
        if not (kind and equals and path):
            self.fail(f"{value!r} is not FORMAT=PATH, such as json=report.json", param, ctx)
        return kind, Path(path)


class LessonNumber(click.ParamType[Any]):
    """A whole number, or "all"."""

    name = "N|all"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """The number, or that word."""
        if value == "all":
            return "all"
        try:
            return int(value)
        except (TypeError, ValueError):
            self.fail(f"{value!r} is neither a lesson's number nor the word all", param, ctx)
