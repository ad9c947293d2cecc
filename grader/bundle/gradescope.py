"""A Gradescope autograder: a zip with setup.sh, run_autograder, the grader, pytest, and one lesson.

Everything is collected on this machine, so that nothing has to be fetched where it is unpacked. All of it
is pure Python. The same content gives the same zip.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.rooms import packing
from grader.rooms.packing import their_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.lessons import Lesson

_PACKAGE = Path(__file__).resolve().parent.parent
_HERE = Path(__file__).resolve().parent
_SCRIPTS = ("setup.sh", "run_autograder")
_LESSONS = {"hidden_tests", "starters", "damaged"}  # inside the package, once it is installed
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can tell


def write(path: Path, lesson: Lesson, *, seed: int | None, total_s: float) -> int:
    """Write the zip, whole or not at all; gives its size in bytes.

    Args:
        path: where to. A file that is there is replaced.
        lesson: which one it grades.
        seed: what the values of the tests are drawn from; None: from each submission's hash.
        total_s: how long a submission may take, in seconds.

    Raises:
        UsageError: it can't be written there.
        LabCheckError: a package that has to go in is not installed here.
    """
    data = build(lesson, seed=seed, total_s=total_s)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as exc:
        partial.unlink(missing_ok=True)
        raise UsageError(f"{path} can't be written: {exc.strerror}.") from exc
    return len(data)


def build(lesson: Lesson, *, seed: int | None, total_s: float) -> bytes:
    """The zip. See `write`.

    Raises:
        LabCheckError: a package that has to go in is not installed here.
    """
    packing.versions()
    settings = {"lesson": lesson.number, "seed": seed, "total_s": total_s}
    files = {
        **{f"lab_check/grader/{name}": data for name, data in _our_files()},
        **{f"lab_check/site/{name}": data for name, data in their_files()},
        **{f"lab_check/hidden_tests/{name}": data for name, data in _lesson_files(lesson)},
        "lab_check/python.sh": (_HERE / "python.sh").read_bytes(),
        "lab_check/settings.json": json.dumps(settings, indent=2).encode() + b"\n",
        **{name: (_HERE / name).read_bytes() for name in _SCRIPTS},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, so that the modes below count
            entry.external_attr = (0o100755 if name in _SCRIPTS else 0o100644) << 16
            archive.writestr(entry, data)
    return buffer.getvalue()


def _our_files() -> Iterator[tuple[str, bytes]]:
    """The grader's own modules; of the lessons that an installed package holds, none."""
    for path in _PACKAGE.rglob("*.py"):
        name = path.relative_to(_PACKAGE)
        if name.parts[0] not in _LESSONS:
            yield name.as_posix(), path.read_bytes()


def _lesson_files(lesson: Lesson) -> Iterator[tuple[str, bytes]]:
    """The lesson's folder, with the modules beside it that its submissions may import."""
    folder = f"lesson_{lesson.number:02}"
    yield f"{folder}/lesson.toml", (lesson.folder / "lesson.toml").read_bytes()
    yield f"{folder}/scenes.py", lesson.scene_source.encode()
    yield f"{folder}/{lesson.test_file}", lesson.test_source.encode()
    for name, source in lesson.modules.items():
        yield f"{folder}/{name}.py", source.encode()
