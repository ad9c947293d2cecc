"""Reports on disk: each written whole, one file a try, under a lock. What a batch goes on from.

DIR/reports/<student>.<n>.json   the report that counts
DIR/held/<student>.<n>.json      a newer one that would change a verdict and awaits a yes
DIR/audit.jsonl                  one line for whatever happened to a grade, only ever added to
DIR/.lock                        held while a batch is at work; the system lets go of it with the process
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from grader.errors import StoreError, UsageError
from grader.records import report_from_json, to_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.records import Report


class Store:
    """The output folder of a batch. A context manager: inside it, the folder is this process's own.

    Args:
        folder: made where it isn't there.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._lock: int | None = None
        self._reports, self._held = self.folder / "reports", self.folder / "held"
        self._torn = False  # whether the audit may end in half a line
        self._last: tuple[str, Report | None] | None = None  # read: it is asked for twice in a row

    def __enter__(self) -> Self:
        """Take the lock.

        Raises:
            UsageError: another batch has it; says which.
            StoreError: the folder can't be made.
        """
        try:
            for folder in (self._reports, self._held):
                folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as exc:
            raise _failed(self.folder, exc) from exc
        try:
            _take(self._lock)
        except OSError as exc:
            holder = os.pread(self._lock, 200, 0) if hasattr(os, "pread") else b""
            os.close(self._lock)
            self._lock = None
            who = holder.decode("utf-8", "replace").strip()
            raise UsageError(
                f"Another batch is at work on {self.folder}" + (f" ({who})." if who else "."),
                help="Wait until it is done, or give this one another --out.",
            ) from exc
        with contextlib.suppress(OSError):  # only to be told to somebody who is refused
            os.ftruncate(self._lock, 0)
            os.write(self._lock, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        self._tidy()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextmanager
    def spool(self) -> Iterator[Path]:
        """An empty folder for what is unpacked; gone afterwards, or when the next batch begins.

        Raises:
            StoreError: it can't be made.
        """
        folder = self.folder / ".unpacked"
        try:
            folder.mkdir()
        except OSError as exc:
            raise _failed(folder, exc) from exc
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def read(self, name: str) -> Report | None:
        """The report that counts, or None. One that can't be read counts as none."""
        if self._last is None or self._last[0] != name:
            self._last = (name, _read(self._reports / f"{name}.json"))
        return self._last[1]

    def lessons(self) -> set[int]:
        """Numbers of the lessons that there are results of, held or not; as a rule of none or one."""
        found = set()
        for path in (
            self.folder / "cohort.json",
            *self._reports.glob("*.json"),
            *self._held.glob("*.json"),
        ):
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
                found.add(int(json.loads(path.read_bytes())["lesson"]["number"]))
        return found

    def raw(self, name: str) -> Any:
        """The report that counts as plain JSON, unchecked; None where there is none."""
        try:
            return json.loads((self._reports / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None

    def write(self, name: str, report: Report) -> None:
        """Put a report in the place of whatever counted before.

        Raises:
            StoreError: it can't be written; what counted before still does.
        """
        self._last = None
        self.write_text(f"reports/{name}.json", [json.dumps(to_json(report), indent=1), "\n"])

    def hold(self, name: str, report: Report) -> None:
        """Keep a report beside the one that counts.

        Raises:
            StoreError: it can't be written.
        """
        self.write_text(f"held/{name}.json", [json.dumps(to_json(report), indent=1), "\n"])

    def held(self, name: str) -> Report | None:
        """The report that is held, or None."""
        path = self._held / f"{name}.json"
        return _read(path) if path.exists() else None

    def release(self, name: str) -> None:
        """Let the report that is held count.

        Raises:
            StoreError: it can't be moved.
        """
        self._last = None
        try:
            (self._held / f"{name}.json").replace(self._reports / f"{name}.json")
        except OSError as exc:
            raise _failed(self.folder, exc) from exc

    def drop(self, name: str) -> None:
        """Forget the report that is held, if there is one."""
        with contextlib.suppress(OSError):
            (self._held / f"{name}.json").unlink()

    def write_text(self, name: str, pieces: Iterable[str]) -> None:
        """Write a file of the folder whole: beside its place, to disk, then into its place.

        Args:
            name: relative to the folder.
            pieces: its text, UTF-8; taken one by one.

        Raises:
            StoreError: it can't be written; nothing of it is left.
        """
        self.write_bytes(name, (piece.encode("utf-8", "backslashreplace") for piece in pieces))

    def write_bytes(self, name: str, pieces: Iterable[bytes]) -> None:
        """As `write_text`, of bytes."""
        path = self.folder / name
        partial = path.with_name(f".{path.name}.partial")
        try:
            with partial.open("wb") as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
            _sync_folder(path.parent)
        except OSError as exc:
            partial.unlink(missing_ok=True)
            raise _failed(path, exc) from exc
        except BaseException:
            partial.unlink(missing_ok=True)
            raise

    def audit(self, event: str, name: str, **about: Any) -> None:
        """Add a line to the audit.

        Args:
            event: "graded", "replaced", "held", "error", "override", …
            name: of the report.
            about: whatever else is to be known; plain values.

        Raises:
            StoreError: it can't be written.
        """
        when = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = json.dumps({"when": when, "event": event, "report": name, **about}) + "\n"
        try:
            fd = os.open(self.folder / "audit.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                data = (b"\n" if self._torn else b"") + line.encode()
                self._torn = True  # until all of it is there
                if os.write(fd, data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(fd)
                self._torn = False
            finally:
                os.close(fd)
        except OSError as exc:
            raise _failed(self.folder / "audit.jsonl", exc) from exc

    def audited(self) -> set[tuple[str, str]]:
        """Which reports the audit knows: (name, when its grading began)."""
        known = set()
        for line in self._audit_lines():
            try:
                entry = json.loads(line)
                known.add((entry["report"], entry["started_at"]))
            except (ValueError, KeyError, TypeError):
                continue  # a line that was cut, or of another kind
        return known

    def entries(self, event: str) -> Iterator[dict[str, Any]]:
        """The audit's lines of one kind, oldest first; a line that was cut is left out."""
        for line in self._audit_lines():
            with contextlib.suppress(ValueError, RecursionError):
                entry = json.loads(line)
                if isinstance(entry, dict) and entry.get("event") == event:
                    yield entry

    def _audit_lines(self) -> Iterator[str]:
        try:
            with (self.folder / "audit.jsonl").open(encoding="utf-8", errors="replace") as file:
                yield from file
        except OSError:
            return

    def _tidy(self) -> None:
        """Clear away what a killed batch left: files that were not whole yet, half a line."""
        shutil.rmtree(self.folder / ".unpacked", ignore_errors=True)
        for folder in (self.folder, self._reports, self._held):
            for path in folder.glob(".*.partial"):
                path.unlink(missing_ok=True)
        path = self.folder / "audit.jsonl"
        with contextlib.suppress(OSError), path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    file.write(b"\n")


def _read(path: Path) -> Report | None:
    try:
        return report_from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None


def _take(fd: int) -> None:
    """Lock a file for this process, or raise OSError at once."""
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:
        import msvcrt  # noqa: PLC0415

        # One byte far behind the text, which others may go on reading.
        os.lseek(fd, 1 << 20, os.SEEK_SET)
        windows: Any = msvcrt
        windows.locking(fd, windows.LK_NBLCK, 1)
        os.lseek(fd, 0, os.SEEK_SET)
    else:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """See to it that a renamed file is there after a power cut, where the system can."""
    with contextlib.suppress(OSError):
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _failed(path: Path, exc: OSError) -> StoreError:
    return StoreError(
        f"{path} can't be written: {exc.strerror or exc}.",
        help="Every report that is there is whole. Mend it, and give the same command again.",
    )
