"""A CSV file as bytes: where each cell is, so that one can be changed and every other byte stays."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BOM = b"\xef\xbb\xbf"
_QUOTE = 0x22


@dataclass(frozen=True)
class Cell:
    """One cell: its bytes stand at `start` up to `end`, quotes included; `text` is what they say."""

    start: int
    end: int
    text: str
    quoted: bool


def rows(data: bytes, name: str) -> list[list[Cell]]:
    """Every row's cells. The delimiter is told by the first line; quotes are doubled or around a cell.

    Args:
        data: the file, UTF-8 with or without a mark, or a Windows code page.
        name: what to call it when it can't be read.

    Raises:
        UsageError: it is no such CSV.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        raise UsageError(f"{name} is UTF-16.", help="Export it as CSV, or save it as CSV UTF-8.")
    encoding = "utf-8"
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "cp1252"
    start = len(_BOM) if data.startswith(_BOM) else 0
    head = data[start:].partition(b"\n")[0]
    delimiter = max(b",;\t", key=head.count)
    return _scan(data, start, delimiter, encoding, name)


def _scan(data: bytes, at: int, delimiter: int, encoding: str, name: str) -> list[list[Cell]]:
    found: list[list[Cell]] = []
    row: list[Cell] = []
    while at < len(data):
        start = at
        quoted = data[at] == _QUOTE
        if quoted:
            at = _end_of_quoted(data, at + 1, name)
        while at < len(data) and data[at] not in (delimiter, 0x0A, 0x0D):
            at += 1
        raw = data[start:at].decode(encoding, "replace")
        row.append(Cell(start, at, _unquoted(raw) if quoted else raw, quoted))
        if at < len(data) and data[at] == delimiter:
            at += 1
            if at == len(data):
                row.append(Cell(at, at, "", quoted=False))
            elif data[at] in (0x0A, 0x0D):
                row.append(Cell(at, at, "", quoted=False))
                at, row = _next_row(data, at, found, row)
            continue
        at, row = _next_row(data, at, found, row)
    if row:
        found.append(row)
    return found


def _next_row(
    data: bytes, at: int, found: list[list[Cell]], row: list[Cell]
) -> tuple[int, list[Cell]]:
    found.append(row)
    at += data[at : at + 2] == b"\r\n"
    return at + 1, []


def _end_of_quoted(data: bytes, at: int, name: str) -> int:
    while True:
        at = data.find(b'"', at)
        if at < 0:
            raise UsageError(f"{name} is no CSV: a quotation mark is never closed.")
        if data[at : at + 2] != b'""':
            return at + 1
        at += 2


def _unquoted(raw: str) -> str:
    end = raw.rfind('"')
    return raw[1:end].replace('""', '"') + raw[end + 1 :]


def filled(data: bytes, changes: Mapping[Cell, str]) -> bytes:
    """`data` with the text of some cells changed, and every other byte as it was."""
    pieces, at = [], 0
    for cell in sorted(changes, key=lambda cell: cell.start):
        text = changes[cell]
        if text == cell.text:
            continue
        new = _quoted(text) if cell.quoted else text
        pieces += [data[at : cell.start], new.encode()]
        at = cell.end
    return b"".join([*pieces, data[at:]])


def _quoted(text: str) -> str:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="").writerow([text])
    return out.getvalue()
