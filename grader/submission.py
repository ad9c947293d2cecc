"""A path, or bytes, to a `Submission`. Never compiles what it reads: that happens on the stage only."""

from __future__ import annotations

import codecs
import difflib
import hashlib
import io
import itertools
import os
import stat
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import SubmissionError
from grader.records import Submission

if TYPE_CHECKING:
    from typing import BinaryIO

_LOOKED_AT = 500  # files of a folder, for one with another name
_NAME = 100  # characters


def read(path: str | os.PathLike[str], limit: int) -> Submission:
    """Read the file at `path`; links are followed, anything but a regular file is refused.

    Args:
        path: the handed-in file.
        limit: how many bytes it may have.

    Raises:
        SubmissionError: `not_a_file`, `too_large` or `encoding`, with what to do about it.
    """
    path = Path(path)
    try:
        # Non-blocking, so that opening a FIFO that nobody writes to comes back; checked after opening,
        # so that the file can't be swapped for another in between.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as exc:
        raise _unreadable(path, exc) from exc
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise SubmissionError(
            "not_a_file",
            f"{path} is {_kind_of_file(mode)}, not a file.",
            help="Name the harness.py itself." + _lying_in(path, "harness.py"),
        )
    with os.fdopen(fd, "rb") as file:
        return from_bytes(_read_at_most(file, limit, path.name), path.name)


def read_stream(stream: BinaryIO, limit: int, name: str = "harness.py") -> Submission:
    """Read a submission from an open binary stream, such as standard input.

    Raises:
        SubmissionError: `too_large` or `encoding`.
    """
    return from_bytes(_read_at_most(stream, limit, name), name)


def from_bytes(data: bytes, name: str = "harness.py") -> Submission:
    """Decode a submission as Python itself would: BOM, coding line, otherwise UTF-8.

    Raises:
        SubmissionError: `encoding`, with the line that can't be read.
    """
    text = _decode(data)
    if not text.strip():
        raise SubmissionError("not_a_file", f"{name} is empty.", help="Was it saved?")
    return Submission(name, text, hashlib.sha256(data).hexdigest(), len(data))


def _read_at_most(stream: BinaryIO, limit: int, name: str) -> bytes:
    data = stream.read(limit + 1)
    if len(data) > limit:
        raise SubmissionError(
            "too_large",
            f"{name} is larger than {limit:,} bytes.",
            help="A finished harness has some 20,000. Hand in the source file alone.",
        )
    return data


def _unreadable(path: Path, exc: Exception) -> SubmissionError:
    if isinstance(exc, FileNotFoundError):
        if path.is_symlink():
            return SubmissionError("not_a_file", f"{path} is a link to a file that isn't there.")
        if not path.parent.is_dir():
            told = f"There is no file {path}: there is no folder {path.parent}."
            return SubmissionError("not_a_file", told, help="Check the folder.")
        advice = "Check the name and the folder." + _lying_in(path.parent, path.name)
        return SubmissionError("not_a_file", f"There is no file {path}.", help=advice)
    if isinstance(exc, IsADirectoryError):
        advice = "Name the harness.py itself." + _lying_in(path, "harness.py")
        return SubmissionError("not_a_file", f"{path} is a folder, not a file.", help=advice)
    reason = exc.strerror if isinstance(exc, OSError) else str(exc)
    return SubmissionError("not_a_file", f"{path} can't be read: {reason}.")


def _lying_in(folder: Path, name: str) -> str:
    """What to say of a Python file in `folder` with `name`, or one like it; else of its harness.py."""
    try:
        with os.scandir(folder) as entries:
            some = itertools.islice(entries, _LOOKED_AT)
            files = {each.name for each in some if each.name.endswith(".py") and each.is_file()}
    except OSError:
        return ""
    there = [each for each in files if len(each) <= _NAME and each.isprintable()]
    like = difflib.get_close_matches(name[:_NAME], there)
    found = next((each for each in (name, *like, "harness.py") if each in there), "")
    return f" {found} lies in that folder." if found else ""


def _kind_of_file(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a device or a socket"


def _decode(data: bytes) -> str:
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as exc:
        if "unknown encoding" in str(exc):
            raise SubmissionError(
                "encoding",
                f"The coding line names an encoding that Python doesn't know ({exc}).",
                help="Delete the coding line and save the file as UTF-8.",
            ) from exc
        encoding = "utf-8"  # so that the line is told below
    encoding = "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else encoding
    try:
        text = io.TextIOWrapper(io.BytesIO(data), encoding=encoding).read()  # \r\n becomes \n
        text.encode()  # a codec such as raw_unicode_escape may have let half a character in
    except (UnicodeError, LookupError) as exc:
        where = getattr(exc, "start", None) if isinstance(exc, UnicodeDecodeError) else None
        line = None if where is None else data.count(b"\n", 0, where) + 1
        raise SubmissionError(
            "encoding",
            f"The file is not valid {encoding.removesuffix('-sig').upper()}"
            + ("." if line is None else f": line {line} holds bytes that are no character."),
            line=line,
            help="Save it as UTF-8 in your editor.",
        ) from exc
    return text
