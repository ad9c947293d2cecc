"""The demonstration at the end of a lesson's page, played on the stage with a submission.

It is sent like scenes are, and its one scene is called "demo". It judges nothing: what it prints is what
there is to see.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grader import reporting
from grader.errors import UsageError
from grader.records import SceneFault, from_json
from grader.staging import Stage, TimeUpError

if TYPE_CHECKING:
    from grader.lessons import Lesson
    from grader.records import Limits, Submission
    from grader.rooms import Rooms

_STDOUT_BYTES = 64 << 10


@dataclass(frozen=True)
class Shown:
    """What was printed, and why it broke off; "" where it didn't. `ours`: the demonstration's fault."""

    printed: str
    problem: str = ""
    ours: bool = False


def play(submission: Submission, lesson: Lesson, *, rooms: Rooms, limits: Limits) -> Shown:
    """Play a lesson's demonstration.

    Args:
        submission: what it is played with.
        lesson: whose demonstration.
        rooms: where the stage comes from.
        limits: as for a grading, but for what may be printed.

    Raises:
        UsageError: the lesson has no demonstration.
        RoomError: the stage can't be opened.
    """
    path = lesson.folder / "demo.py"
    if not path.is_file():
        raise UsageError(f"Lesson {lesson.number} has no demonstration.")
    limits = limits._replace(stdout_bytes=_STDOUT_BYTES)
    scenes = replace(lesson, scene_source=path.read_text(encoding="utf-8"))
    with closing(Stage(rooms, scenes, submission, limits)) as stage:
        try:
            stage.start()
            loaded = stage.do("load")
            if "lines" not in loaded:
                problem = reporting.problem_of(loaded)
                return Shown("", f"{problem.message}\n{problem.help}".strip())
            return _shown(stage.do("play", scene="demo", given={}))
        except TimeUpError:
            return Shown("", f"the whole time of {limits.total_s:g} s was used up")


def _shown(answer: dict[str, Any]) -> Shown:
    printed = reporting.clean(answer["stdout"]) if "stdout" in answer else ""
    if "fault" not in answer:
        return Shown(printed)
    fault: SceneFault = from_json(SceneFault, answer["fault"])
    told = "\n".join([fault.message, *(f"  {line}" for line in fault.traceback)])
    return Shown(printed, reporting.clean(told), ours=fault.kind == "scene")
