"""Zip and tar, unpacked with suspicion: entry by entry, into files that are named by number.

Nothing in an archive decides where a byte is written. An entry that can't be had (a link, a device,
encrypted, damaged, blown up) is refused by itself and keeps its place, so that the student it belongs to
is told; one whose name leaves the archive is refused without a place. An archive that is itself a bomb is
refused whole.
"""

from __future__ import annotations

import bz2
import calendar
import contextlib
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib
from contextlib import closing
from typing import IO, TYPE_CHECKING, Any, cast

from grader.cohort.entries import Entry, SourceLimits, Tidier, Tree, ignored, safe_parts, with_empty
from grader.cohort.naming import tidy
from grader.errors import StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_CHUNK = 1 << 16
_ENCRYPTED, _UTF8 = 0x1, 0x800
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    OverflowError,
    RecursionError,
    RuntimeError,
    NotImplementedError,
)
_UNWANTED = "it is no Python file"
_SUFFIXES = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zip")


class _Refused(Exception):  # noqa: N818 - not an error: this entry stays out, the rest comes in
    """Why one entry stays out."""


class _TooLargeError(UsageError):
    """The archive as a whole is no cohort's and no student's. `what` says why, after "the archive"."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"The archive {what}; it is refused.",
            help="Unpack it yourself, look at it, and name the folder instead.",
        )
        self.what = what


class _Spool:
    """Where unpacked entries go. Counts what it has taken in.

    Args:
        folder: an empty one.
        limits: of each entry.
        most: bytes of all entries together.
        only: how the name of an entry has to end, for it to be taken at all.
    """

    def __init__(self, folder: Path, limits: SourceLimits, most: int, only: str = "") -> None:
        self._folder, self._limits, self._most, self._only = folder, limits, most, only
        self._total, self._number = 0, 0

    def wants(self, parts: tuple[str, ...]) -> bool:
        """Whether an entry is to be taken."""
        return parts[-1].lower().endswith(self._only)

    def take(self, stream: IO[bytes], packed: int | None) -> tuple[Path, int]:
        """Copy one entry into a file of our own; give its path and size.

        Raises:
            _Refused: it is larger than an entry may be, or blown up.
            UsageError: the archive is larger than a cohort can be.
        """
        self._number += 1
        path = self._folder / f"{self._number:06}"
        size = 0
        try:
            with _ours(path.open, "xb", buffering=0) as file:
                while data := stream.read(_CHUNK):
                    size += len(data)
                    self._check(size, packed)
                    _ours(_write, file, data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._total += size
        return path, size

    def _check(self, size: int, packed: int | None) -> None:
        limits = self._limits
        if size > limits.entry_bytes:
            raise _Refused(f"it is larger than {limits.entry_bytes:,} bytes")
        blown_up = packed is not None and size > limits.ratio * max(packed, 1)
        if blown_up and size > limits.ratio_from_bytes:
            raise _Refused(f"it unpacks to more than {limits.ratio:g} times its size")
        if self._total + size > self._most:
            raise _TooLargeError(f"unpacks to more than {self._most:,} bytes")


def from_archive(path: Path, spool: Path, limits: SourceLimits) -> Tree | None:
    """Unpack a zip or a tar into `spool`, a folder that is made or empty. None where `path` is neither.

    Raises:
        UsageError: it is damaged, or a bomb.
        StoreError: there is no room for what is in it.
    """
    _ours(spool.mkdir, exist_ok=True)
    try:
        tree = _unpacked(path, _Spool(spool, limits, limits.total_bytes), limits)
    except _DAMAGED as exc:
        raise UsageError(
            f"{path} is damaged: {exc or type(exc).__name__}.",
            help="Download it again; an archive that was cut short would lose students in silence.",
        ) from exc
    if tree is None and path.suffix.lower() in _SUFFIXES:
        raise UsageError(f"{path} is damaged: it is neither a zip nor a tar inside.")
    return tree


def from_students(path: Path, spool: Path, limits: SourceLimits) -> Tree | str:
    """Unpack the Python files of an archive that one student handed in; or say why it stays shut.

    It is looked at as any other archive is. What is wrong with it costs this student, and nobody else.

    Args:
        path: the archive.
        spool: a folder that is made or empty.
        limits: what it may hold.

    Raises:
        StoreError: there is no room for what is in it.
    """
    _ours(spool.mkdir, exist_ok=True)
    within = _Spool(spool, limits, limits.student_bytes, only=".py")
    try:
        return _unpacked(path, within, limits) or "it is neither a zip nor a tar inside"
    except _TooLargeError as exc:
        return f"it {exc.what}"
    except _DAMAGED as exc:
        return f"it is damaged ({tidy(str(exc)) or type(exc).__name__})"


def _unpacked(path: Path, spool: _Spool, limits: SourceLimits) -> Tree | None:
    if zipfile.is_zipfile(path):
        return _from_zip(path, spool, limits)
    stream = _tar_stream(path, limits)
    if stream is None:
        return None
    with closing(stream):
        return _from_tar(path, stream, spool, limits)


def _ours(do: Callable[..., Any], *values: Any, **options: Any) -> Any:
    """Do something with a file of ours: what goes wrong with it is not the archive's fault."""
    try:
        return do(*values, **options)
    except OSError as exc:
        raise StoreError(
            f"What is in the archive can't be unpacked: {exc.strerror}.",
            help="Make room, and give the same command again.",
        ) from exc


def _write(file: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _from_zip(path: Path, spool: _Spool, limits: SourceLimits) -> Tree:
    _check_index(path, limits)
    places: dict[tuple[str, ...], Entry] = {}
    refused: list[str] = []
    folders: list[tuple[str, ...]] = []
    tidier = Tidier()
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        if len(infos) > limits.entries:
            raise _TooLargeError(f"holds more than {limits.entries:,} entries")
        for info in infos:
            name = _zip_name(info)
            try:
                parts = tidier.parts(safe_parts(name, limits))
            except ValueError as exc:
                refused.append(f"{tidy(name)}: {exc}")
                continue
            if info.is_dir():
                folders.append(parts)
            elif not ignored(parts):
                places[parts] = _zip_entry(archive, info, parts, spool)
    return Tree(_stem(path), with_empty(tuple(places.values()), folders[::-1]), tuple(refused))


def _zip_entry(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, parts: tuple[str, ...], spool: _Spool
) -> Entry:
    kind = (info.external_attr >> 16) & 0o170000
    modified = None
    with contextlib.suppress(ValueError, OverflowError):
        modified = float(calendar.timegm((*info.date_time, 0, 0, 0)))
    if kind not in (0, 0o100000):
        refused = "it is a link" if kind == 0o120000 else "it is a device, a pipe or a socket"
    elif not spool.wants(parts):
        refused = _UNWANTED
    elif info.flag_bits & _ENCRYPTED:
        refused = "it is encrypted"
    else:
        try:
            with archive.open(info) as stream:
                place, size = spool.take(stream, info.compress_size)
            return Entry(parts, place, size, modified)
        except _Refused as exc:
            refused = str(exc)
        except _DAMAGED as exc:
            refused = f"it is damaged ({exc or type(exc).__name__})"
    return Entry(parts, None, modified=modified, refused=refused)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The entry's name. Old tools write UTF-8 and don't say so; Python then reads it as cp437."""
    if info.flag_bits & _UTF8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _check_index(path: Path, limits: SourceLimits) -> None:
    """Refuse a zip whose table of contents alone is a bomb, before `zipfile` reads all of it."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - (1 << 16) - 22))
        tail = file.read()
    where = tail.rfind(b"PK\x05\x06")
    index = struct.unpack_from("<L", tail, where + 12)[0] if 0 <= where <= len(tail) - 22 else 0
    if index == 0xFFFFFFFF:  # a zip64: the real figure stands in another record before this one
        where = tail.rfind(b"PK\x06\x06")
        index = struct.unpack_from("<Q", tail, where + 40)[0] if 0 <= where <= len(tail) - 56 else 0
    if index > limits.index_bytes:
        raise _TooLargeError(f"has a table of contents of more than {limits.index_bytes:,} bytes")


class _Counted:
    """A stream of unpacked bytes that ends in an error when there are too many of them."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream, self._left = stream, most

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size if size >= 0 else _CHUNK)
        self._left -= len(data)
        if self._left < 0:
            raise _TooLargeError("unpacks to far more than it is")
        return data

    def close(self) -> None:
        self._stream.close()


def _tar_stream(path: Path, limits: SourceLimits) -> _Counted | None:
    """The unpacked bytes of what may be a tar; None where it can't be one."""
    with path.open("rb") as file:
        head = file.read(512)
    size = path.stat().st_size
    most = min(limits.total_bytes, max(64 << 20, int(size * limits.ratio)))
    stream: Any
    opened: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
    unpack = next((opened[magic] for magic in opened if head.startswith(magic)), None)
    if unpack is not None:
        stream = unpack(path)
    elif head[257:262] == b"ustar" or path.suffix.lower() == ".tar":
        stream, most = path.open("rb"), size
    else:
        return None
    return _Counted(stream, most)


def _from_tar(path: Path, stream: _Counted, spool: _Spool, limits: SourceLimits) -> Tree:
    places: dict[tuple[str, ...], Entry] = {}
    refused: list[str] = []
    folders: list[tuple[str, ...]] = []
    tidier = Tidier()
    count = 0
    with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|") as archive:
        while (member := archive.next()) is not None:
            cast(
                "Any", archive
            ).members = []  # tarfile keeps every header; nothing here goes back to one
            count += 1
            if count > limits.entries:
                raise _TooLargeError(f"holds more than {limits.entries:,} entries")
            try:
                parts = tidier.parts(safe_parts(member.name, limits))
            except ValueError as exc:
                refused.append(f"{tidy(member.name)}: {exc}")
                continue
            if member.isdir():
                folders.append(parts)
            elif not ignored(parts):
                places[parts] = _tar_entry(archive, member, parts, spool, limits)
    if not count:
        raise tarfile.ReadError("there is nothing in it")
    return Tree(_stem(path), with_empty(tuple(places.values()), folders[::-1]), tuple(refused))


def _tar_entry(
    archive: tarfile.TarFile,
    member: tarfile.TarInfo,
    parts: tuple[str, ...],
    spool: _Spool,
    limits: SourceLimits,
) -> Entry:
    modified = float(member.mtime)
    if not member.isreg():
        link = member.issym() or member.islnk()
        reason = "it is a link" if link else "it is a device, a pipe or a socket"
        return Entry(parts, None, modified=modified, refused=reason)
    if not spool.wants(parts):
        return Entry(parts, None, modified=modified, refused=_UNWANTED)
    if member.size > limits.entry_bytes:
        reason = f"it is larger than {limits.entry_bytes:,} bytes"
        return Entry(parts, None, modified=modified, refused=reason)
    content = archive.extractfile(member)
    assert content is not None
    try:
        place, size = spool.take(content, None)
    except _Refused as exc:
        return Entry(parts, None, modified=modified, refused=str(exc))
    return Entry(parts, place, size, modified)


def _stem(path: Path) -> str:
    name = path.name
    while name.lower().endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    return tidy(name)
