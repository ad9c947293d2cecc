"""Report -> text in one of the formats that people and programs read. Each a pure function.

`FORMATS` says which there are; a format's module is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.records import Report

FORMATS = {
    "text": "grader.render.text",
    "json": "grader.render.json",
    "junit": "grader.render.junit",
    "github": "grader.render.github",
    "gradescope": "grader.render.gradescope",
    "classroom50": "grader.render.classroom50",
    "exercism": "grader.render.exercism",
    "prairielearn": "grader.render.prairielearn",
    "markdown": "grader.render.markdown",
    "html": "grader.render.html",
}


def renderer(name: str) -> Callable[[Report], str]:
    """The function that renders a report in the format `name`.

    Raises:
        UsageError: there is no such format; says which there are.
    """
    if name not in FORMATS:
        raise UsageError(
            f"There is no format {name!r}.", help=f"The formats there are: {', '.join(FORMATS)}."
        )
    render: Callable[[Report], str] = import_module(FORMATS[name]).render
    return render
