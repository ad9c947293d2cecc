"""A disk of a few megabytes that can be filled to the last byte: a file system in a file, or in memory."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 4 << 20


@contextlib.contextmanager
def mounted() -> Iterator[Path | str]:
    """Where it is mounted, or why it can't be."""
    folder = Path(tempfile.mkdtemp(prefix="lab_check-disk-", dir="/tmp"))
    place = folder / "mounted"
    place.mkdir()
    told = _mount(folder / "image", place)
    try:
        yield told or place
    finally:
        if not told:
            subprocess.run(["umount", "--lazy", str(place)], check=True)
        shutil.rmtree(folder)


def fill(place: Path, left: int) -> Path:
    """Take all room but `left` bytes; gives the file that takes it."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while free(place) > left and file.write(bytes(4096)):
            os.fsync(file.fileno())
    return filler


def free(place: Path) -> int:
    """How many bytes there is room for."""
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize


def _mount(image: Path, place: Path) -> str:
    """Mount a loop device, or memory where there is none; "" or why neither can be had."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "only root can mount a small disk"
    with image.open("wb") as file:
        file.truncate(SIZE)
    made = _done("mkfs.ext4", "-q", "-F", "-m", "0", "-b", "1024", "-O", "^has_journal", str(image))
    if not made and not _done("mount", "-o", "loop", str(image), str(place)):
        return ""
    return _done("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place))


def _done(*command: str) -> str:
    """Run a command; "" or what went wrong."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return f"there is no {command[0]} here"
    return "" if done.returncode == 0 else f"{command[0]}: {done.stderr.strip()}"
