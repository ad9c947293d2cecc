"""The platforms' own files: the points go in, and no other byte moves."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cohort import csvbytes, gradebooks
from grader.cohort.people import Student
from grader.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

ADA = Student("ada", "Ada Lovelace", "ada@x.org", frozenset({"ada", "canvas:12", "moodle:7"}))
BOB = Student("bob", "Bob Roe", "", frozenset({"bob", "canvas:7", "moodle:12"}))
POINTS = {"ada": 3, "bob": 14}


def fill(platform: str, data: bytes, tmp_path: Path, **options: Any) -> gradebooks.Filled:
    path = tmp_path / "book.csv"
    path.write_bytes(data)
    options = {"points": POINTS, "students": [ADA, BOB], "lesson": (10, "The lab"), **options}
    return gradebooks.fill(platform, path, max_points=14, **options)


HEAD = b"Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (5),Lab 10 (6)"


def test_canvas(tmp_path: Path) -> None:
    book = (
        b"\xef\xbb\xbf" + HEAD + b",Final\r\n    Points Possible,,,,,5,14,\r\n"
        b'"Lovelace, Ada",12,,ada@x.org,S,"4",,"9,5"\r\n'
        b'"Roe, ""Bob""",7,,,S,,"2.00",\r\n"Student, Test",99,,t,S,,,'
    )
    filled = fill("canvas", book, tmp_path)
    wanted = book.replace(b'"4",,"9,5"', b'"4",3,"9,5"').replace(b'"2.00"', b'"14"')
    assert (filled.data, filled.count, filled.notes) == (wanted, 2, ())


def test_moodle_in_another_language_and_with_semicolons(tmp_path: Path) -> None:
    book = (
        b"Identifier;Full name;Email address;Status;Grade;Maximum Grade;Feedback comments\n"
        b'Teilnehmer/in7;"Ada";ada@x.org;"zwei\nZeilen";;10,00;"a;b"\n'
        b"Teilnehmer/in12;Bob;;x;3,00;10,00;\n"
    )
    filled = fill("moodle", book, tmp_path)
    wanted = book.replace(b'Zeilen";;', b'Zeilen";3;').replace(b";3,00;", b";14;")
    assert (filled.data, filled.count) == (wanted, 2)
    assert "worth 10,00 points and the lesson gives 14" in filled.notes[0]


def test_who_has_no_verdict_keeps_what_is_there(tmp_path: Path) -> None:
    book = HEAD + b"\nAda,12,,,S,,11\nBob,7,,,S,,12\n"
    filled = fill("canvas", book, tmp_path, points={"ada": 1})
    assert filled.data == book.replace(b"S,,11", b"S,,1")
    without = fill("canvas", HEAD + b"\nX,1,,,,,\n", tmp_path)
    assert without.notes == ("book.csv: no row for 2 students: ada, bob.",)


def test_the_column_can_be_named(tmp_path: Path) -> None:
    book = b"Student,ID,Warm-up (5),Finale (6)\nAda,12,,\n"
    for name in ("Finale (6)", "finale", "6"):
        assert fill("canvas", book, tmp_path, column=name).data == book.replace(b"12,,", b"12,,3")
    with pytest.raises(UsageError, match="which column"):
        fill("canvas", book, tmp_path)


@pytest.mark.parametrize(
    ("platform", "data", "message"),
    [
        ("canvas", b"", "is empty"),
        ("canvas", b"a,b\n1,2\n", "no gradebook export of Canvas"),
        ("moodle", b"a,b\n1,2\n", "no grading worksheet of Moodle"),
        ("canvas", b'Student,ID,"Lab 10 (6)\n', "never closed"),
        ("moodle", "Grade,Identifier\n".encode("utf-16"), "UTF-16"),
        ("blackboard", b"x", "no gradebook 'blackboard'"),
    ],
)
def test_what_is_no_gradebook(platform: str, data: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        fill(platform, data, tmp_path)


CELLS = st.lists(
    st.lists(
        st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), max_size=6), min_size=2
    ),
    min_size=1,
    max_size=5,
)


@given(CELLS, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_cells_are_what_python_reads(table: list[list[str]], end: str, every: bool) -> None:
    table[0] = ["a", "b"]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_MINIMAL)
    if every:
        writer = csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows(table)
    data = text.getvalue().encode()
    rows = csvbytes.rows(data, "x")
    assert [[cell.text for cell in row] for row in rows] == table
    assert csvbytes.filled(data, {}) == data
    same = {cell: cell.text for row in rows for cell in row}
    assert csvbytes.filled(data, same) == data
