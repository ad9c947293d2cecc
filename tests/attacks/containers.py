"""The naive grader in a container: what is hostile runs in there, whoever grades it."""

from __future__ import annotations

import contextlib
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import RoomError, WireError
from grader.rooms import sweeping
from grader.rooms.container import ContainerRoom, container_flags
from grader.rooms.engine import Engine
from grader.rooms.flags import ROOT
from tests.attacks import suite

if TYPE_CHECKING:
    from grader.lessons import Lesson
    from tests.attacks.suite import Attack, Bait, Result

_ROOM_S = 60.0
_LARGEST = 2 << 20  # bytes of a submission that is tried
# Gets one frame, puts the files where pytest finds them, grades, and answers with one frame.
_PROGRAM = f"""
import os, sys
sys.path[:0] = ["{ROOT}/grader", "{ROOT}", "{ROOT}/site"]
from pathlib import Path
from grader import wire
told = wire.read_trusted(lambda count: os.read(0, count))
folder = Path("/tmp/work")
folder.mkdir()
for name, text in told["files"].items():
    (folder / name).write_bytes(text.encode("latin-1"))
sys.path.insert(0, str(folder))
import naive
data = wire.encode(naive.grade(folder, told["tests"]))
while data:
    data = data[os.write(1, data):]
"""


def run_naively(attack: Attack, lure: Bait, made_of: str) -> Result | None:
    """What becomes of an attack without the two rooms; None where it is no file that could be read.

    Args:
        attack: the attack.
        lure: the lessons, and what must not get out.
        made_of: the image's id.
    """
    lesson = lure.lessons[attack.lesson]
    data = _data(attack)
    if data is None or attack.problem == "too_large":  # which is no concern of a naive grader's
        return None
    told = _graded(data, lesson, made_of)
    result = suite.Result(leaked=lure.found_in(told["output"]))
    base = suite.alone(attack.base, attack.lesson)
    due = attack.due("docker")
    for test in lesson.tests:
        hit = attack.problem != "" or due.get(test.id, due.get("*")) is not None
        wanted = "fail" if hit else base[test.id]
        outcome = told["outcomes"].get(test.id, "lost")
        if outcome == "pass" != wanted:
            result.false_passes.append(test.id)
        elif outcome != wanted:
            result.disturbed.append(f"{test.id}: {outcome}")
    return result


def _data(attack: Attack) -> bytes | None:
    if attack.path is None:
        return attack.source
    with contextlib.suppress(OSError, ValueError):
        if attack.path.is_file() and attack.path.stat().st_size <= _LARGEST:
            return attack.path.read_bytes()
    return None


def _graded(data: bytes, lesson: Lesson, made_of: str) -> dict[str, Any]:
    files = {
        "harness.py": data,
        "test_hidden.py": lesson.test_source.encode(),
        "scenes.py": lesson.scene_source.encode(),
        "naive.py": Path(suite.HERE / "naive.py").read_bytes(),
        **{f"{name}.py": source.encode() for name, source in lesson.modules.items()},
    }
    limits = suite.LIMITS._replace(memory_bytes=512 << 20)
    engine = Engine()
    flags = container_flags(
        "judge",
        limits,
        labels=sweeping.labels(uuid.uuid4().hex, 2 * _ROOM_S),
        program=["python3", "-I", "-S", "-B", "-c", _PROGRAM],
    )
    room = ContainerRoom(engine, "judge", made_of, flags, trusted=True)
    tests = [test.id for test in lesson.tests]
    try:
        room.send(
            {"files": {n: data.decode("latin-1") for n, data in files.items()}, "tests": tests}
        )
        # A submission in one process with its grader can write this frame, too.
        told: dict[str, Any] = {"outcomes": {}, "output": "", **room.receive(_ROOM_S)}
    except (RoomError, WireError) as exc:
        told = {"outcomes": {}, "output": exc.message}
    finally:
        room.close()
        room.join()
    return told
