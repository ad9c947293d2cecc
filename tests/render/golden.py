"""Which golden files there are, and what each must hold. `python -m tests.render.golden` writes them.

Look at the difference before you keep it: the files are what the formats' readers get.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader.render import (
    classroom50,
    exercism,
    github,
    gradescope,
    html,
    json,
    junit,
    markdown,
    prairielearn,
    text,
)
from tests.render.reports import CASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.records import Report

FOLDER = Path(__file__).parent / "golden"
ENVIRON = {
    "CLASSROOM": "agents",
    "ASSIGNMENT": "lesson-10",
    "SUBMISSION_TAG": "submit/2026-11-30T04-49-30Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/o/agents-lesson-10-ada/commit/a1b2c3d",
    "RELEASE_URL": "https://github.com/o/agents-lesson-10-ada/releases/tag/submit%2F2026",
    "PATH": "/bin",
}
FORMATS: dict[str, tuple[Callable[[Report], str], str]] = {
    "text": (text.render, "txt"),
    "colour": (partial(text.render, colour=True), "ansi"),
    "json": (json.render, "json"),
    "junit": (junit.render, "xml"),
    "github": (partial(github.render, path="labs/harness.py"), "txt"),
    "summary": (github.summary, "md"),
    "gradescope": (gradescope.render, "json"),
    "classroom50": (partial(classroom50.render, environ=ENVIRON), "json"),
    "exercism": (exercism.render, "json"),
    "prairielearn": (prairielearn.render, "json"),
    "markdown": (markdown.render, "md"),
    "html": (html.render, "html"),
}


def files() -> Iterator[tuple[Path, bytes]]:
    """Each golden file and what it must hold."""
    for name, (render, ending) in FORMATS.items():
        for case, build in CASES.items():
            written = render(build()).encode(errors="backslashreplace")
            yield FOLDER / f"{name}.{case}.{ending}", written


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, written in files():
        path.write_bytes(written)
