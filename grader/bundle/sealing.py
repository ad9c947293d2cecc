"""Whether a submission can be kept apart here: tried out with the rights that it will have, before it runs.

An autograder's container is made by somebody else, and its files are unpacked by somebody else. So a
child process becomes such a user as the stage makes of a submission, and tries what must fail.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

_UID = 1_000_000_000  # above any that are given to users, as for the stage
_NOBODY = 65534
_SIZE = 4096


def flaw(secret: Iterable[Path], results: Path) -> str:
    """Why a submission can't be kept apart here, in one sentence; "" where it can.

    Args:
        secret: files and folders that it must not read.
        results: the folder in which it must not write.
    """
    if os.geteuid() != 0:
        return "It does not run as root, so a submission would have the same rights as the tests."
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _be_a_submission(writing, list(secret), results)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read(_SIZE).decode("utf-8", "replace")
    try:
        os.kill(child, signal.SIGKILL)
    except PermissionError:
        return "Root may not end other users' processes here."
    finally:
        os.waitpid(child, 0)
    return "" if told == "sealed" else told or "Another user's process can't be tried out here."


def _be_a_submission(pipe: int, secret: Sequence[Path], results: Path) -> NoReturn:
    """The child: gives up being root, tries, tells, and stays until it is ended."""
    try:
        parent = os.getppid()
        _become_nobody()
        told = next(_gets_through(secret, results, parent), "sealed")
    except OSError as exc:
        told = f"The rights of root can't be given up here: {exc.strerror}."
    with suppress(OSError):
        os.write(pipe, told.encode()[:_SIZE])
        os.close(pipe)
    signal.alarm(5)  # should the parent be gone
    signal.pause()
    os._exit(0)


def _become_nobody() -> None:
    os.setgroups([])
    for uid in (_UID + os.getpid(), _NOBODY):  # a user namespace may not have the first
        with suppress(OSError):
            os.setgid(uid)
            os.setuid(uid)
            return
    raise PermissionError(1, "no other user can be had")


def _gets_through(secret: Sequence[Path], results: Path, parent: int) -> Iterator[str]:
    if not _can_read(os.__file__):
        yield "Python's own library can be read by root alone, so a submission could import nothing."
    for path in secret:
        if _can_read(path):
            yield f"A submission could read {path}."
    probe = results / "probe"
    with suppress(OSError):
        probe.touch()
        probe.unlink()
        yield f"A submission could write into {results}."
    with suppress(OSError):
        os.kill(parent, 0)
        yield "A submission could end the grader."


def _can_read(path: str | os.PathLike[str]) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True
