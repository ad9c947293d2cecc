"""Archives that students handed in: opened as carefully as the download they came in, and no deeper."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader.cohort.collecting import collect
from grader.cohort.entries import SourceLimits, archive_stem
from grader.cohort.people import Cohort, Student
from grader.errors import UsageError
from tests.cohort import make_cohort
from tests.cohort.helpers import Pretend, batch

RIGHT, OTHER = b"right = 1\n", b"other = 1\n"


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return data.getvalue()


def tarred(*entries: tuple[str, bytes], mode: str = "w:gz") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in entries:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return data.getvalue()


def as_folder(files: dict[str, bytes], folder: Path) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def as_zip(files: dict[str, bytes], path: Path) -> Path:
    path.write_bytes(zipped(*files.items()))
    return path


def collected(source: Path, tmp_path: Path, **limits: Any) -> Cohort:
    spool = tmp_path / f"spool-{len(list(tmp_path.iterdir()))}"
    spool.mkdir()
    return collect([source], spool, limits=SourceLimits(**limits))


def handed_in(files: dict[str, bytes], tmp_path: Path, **limits: Any) -> Student:
    """What becomes of one student's files, beside another's who did as asked."""
    named = {f"ada/{name}": content for name, content in files.items()}
    source = as_folder({**named, "bob/harness.py": OTHER}, tmp_path / "in")
    cohort = collected(source, tmp_path, **limits)
    assert [student.key for student in cohort.students] == ["ada", "bob"]
    assert read(cohort.students[1]) == OTHER  # whatever ada's archive does, it does to ada
    return cohort.students[0]


def read(student: Student) -> bytes:
    path = student.attempts[-1].path
    assert path is not None, student.attempts[-1].problem
    return path.read_bytes()


def problem(student: Student) -> str:
    assert student.attempts[0].path is None
    return student.attempts[0].problem


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("harness.zip", "harness"),
        ("Lab 10.tar.gz", "Lab 10"),
        ("a.b.TGZ", "a.b"),
        ("x.tar", "x"),
        ("x.tar.xz", "x"),
        ("x.tbz2", "x"),
        ("x.gz", ""),
        ("x.7z", ""),
        (".zip", ""),
        ("harness.py", ""),
    ],
)
def test_what_is_called_like_an_archive(name: str, stem: str) -> None:
    assert archive_stem(name) == stem


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("harness.zip", zipped(("harness.py", RIGHT))),
        ("lab.ZIP", zipped(("lab10/harness.py", RIGHT), ("__MACOSX/lab10/._harness.py", b"x"))),
        ("lab.tar.gz", tarred(("./harness.py", RIGHT), ("./lab/model.py", OTHER))),
        ("lab.tgz", tarred(("lab/harness.py", RIGHT))),
        ("lab.tar", tarred(("harness.py", RIGHT), mode="w")),
        ("lab.tar.bz2", tarred(("harness.py", RIGHT), mode="w:bz2")),
        ("lab.tar.xz", tarred(("harness.py", RIGHT), mode="w:xz")),
        ("lab.zip", tarred(("harness.py", RIGHT))),  # renamed, as some do
        ("lab.zip", zipped(("solution.py", RIGHT), ("readme.txt", b"hello"))),
        ("lab.zip", zipped(("a/harness.py", RIGHT), ("a/old/harness.py", OTHER))),
        ("lab.zip", zipped(("harness.py", OTHER), ("harness (1).py", RIGHT))),
    ],
)
def test_a_harness_in_an_archive(name: str, content: bytes, tmp_path: Path) -> None:
    assert read(handed_in({name: content}, tmp_path)) == RIGHT


def test_a_harness_beside_an_archive_is_the_one(tmp_path: Path) -> None:
    files = {"harness.py": RIGHT, "all.zip": zipped(("harness.py", OTHER)), "bad.zip": b"PK"}
    assert read(handed_in(files, tmp_path)) == RIGHT


def test_a_harness_by_name_beats_another_file(tmp_path: Path) -> None:
    files = {"notes.py": OTHER, "lab.zip": zipped(("harness.py", RIGHT))}
    assert read(handed_in(files, tmp_path)) == RIGHT


def test_two_archives_with_a_harness_each(tmp_path: Path) -> None:
    files = {f"{name}.zip": zipped(("harness.py", RIGHT)) for name in "ab"}
    assert problem(handed_in(files, tmp_path)) == (
        "Several files could be the harness: a.zip/harness.py, b.zip/harness.py."
    )


def test_an_archive_in_an_archive_stays_shut(tmp_path: Path) -> None:
    inner = zipped(("harness.py", RIGHT))
    told = problem(handed_in({"lab.zip": zipped(("harness.zip", inner))}, tmp_path))
    assert told == (
        "There is no harness.py, and lab.zip/harness.zip could not be opened:"
        " it lies in another archive."
    )


# --- in every layout ----------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [as_zip, as_folder])
@pytest.mark.parametrize("layout", make_cohort.LAYOUTS)
def test_in_every_layout(layout: str, packed: Any, tmp_path: Path, pretend: Pretend) -> None:
    made = make_cohort.students(12)
    files: dict[str, bytes] = {}
    for name, text in make_cohort.LAYOUTS[layout](made).items():
        if not name.endswith(".py"):
            files[name] = text.encode()
        elif len(files) % 2:
            files[f"{name[:-3]}.zip"] = zipped(("lab/harness.py", text.encode()))
        else:
            files[f"{name[:-3]}.tar.gz"] = tarred(("harness.py", text.encode()))
    (tmp_path / "roster.csv").write_text(make_cohort.roster(made), encoding="utf-8")
    source = packed(files, tmp_path / "submissions.zip")
    result = batch(source, tmp_path / "out", roster_file=tmp_path / "roster.csv")
    told = [(row.student, row.outcomes, row.notes) for row in result.rows]
    assert told == [(one.key, make_cohort.outcomes(one.number), ()) for one in made]


@pytest.mark.parametrize(
    ("name", "key"),
    [("ada/lab.zip", "ada"), ("ada.zip", "ada"), ("all/ada.zip", "all"), ("harness.zip", "in")],
)
def test_a_single_student(name: str, key: str, tmp_path: Path) -> None:
    source = as_folder({name: zipped(("harness.py", RIGHT))}, tmp_path / "in")
    (student,) = collected(source, tmp_path).students
    assert (student.key, read(student)) == (key, RIGHT)


def test_a_folder_around_students_with_archives(tmp_path: Path) -> None:
    files = {f"all/{name}/lab.zip": zipped(("harness.py", RIGHT)) for name in ("ada", "bob")}
    found = collected(as_zip(files, tmp_path / "x.zip"), tmp_path).students
    assert [(student.key, read(student)) for student in found] == [("ada", RIGHT), ("bob", RIGHT)]


# --- hostile ------------------------------------------------------------------------------------------


def linked() -> bytes:
    info = zipfile.ZipInfo("harness.py")
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return zipped((info, b"/etc/passwd"))


def encrypted() -> bytes:
    data = bytearray(zipped(("harness.py", RIGHT)))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    return bytes(data)


def airy() -> bytes:
    """A tar that is far more than it looks like, and has nothing in it that is wanted."""
    data = io.BytesIO()
    with gzip.open(data, "wb") as file:
        member = tarfile.TarInfo("data.bin")
        member.size = 300 << 20
        file.write(member.tobuf())
        for _ in range(40):
            file.write(bytes(1 << 20))
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "limits", "told"),
    [
        ("a.zip", linked(), {}, "a.zip/harness.py could not be taken: it is a link."),
        ("a.zip", encrypted(), {}, "a.zip/harness.py could not be taken: it is encrypted."),
        (
            "a.zip",
            zipped(("harness.py", bytes(6 << 20))),
            {},
            "a.zip/harness.py could not be taken: it unpacks to more than 200 times its size.",
        ),
        (
            "a.tgz",
            tarred(("harness.py", bytes(3000))),
            {"entry_bytes": 2000},
            "a.tgz/harness.py could not be taken: it is larger than 2,000 bytes.",
        ),
        (
            "a.zip",
            zipped(*((f"{i}.py", os.urandom(900)) for i in range(9))),
            {"student_bytes": 5000},
            "a.zip could not be opened: it unpacks to more than 5,000 bytes.",
        ),
        (
            "a.zip",
            zipped(*((f"{i}.txt", b"") for i in range(11))),
            {"entries": 10},
            "a.zip could not be opened: it holds more than 10 entries.",
        ),
        (
            "a.tgz",
            tarred(*((f"{i}.txt", b"") for i in range(11))),
            {"entries": 10},
            "a.tgz could not be opened: it holds more than 10 entries.",
        ),
        (
            "a.zip",
            zipped(*((f"{i}.txt", b"") for i in range(11))),
            {"index_bytes": 100},
            "a.zip could not be opened: it has a table of contents of more than 100 bytes.",
        ),
        (
            "a.tgz",
            airy(),
            {"total_bytes": 32 << 20},
            "a.tgz could not be opened: it unpacks to far more than it is.",
        ),
        ("a.zip", zipped(("harness.py", RIGHT))[:-30], {}, "a.zip could not be opened: it is"),
        (
            "a.tgz",
            tarred(("harness.py", os.urandom(9000)))[:5000],
            {},
            "a.tgz could not be opened: it is damaged (",
        ),
        ("a.tar.gz", gzip.compress(RIGHT), {}, "a.tar.gz could not be opened: it is damaged ("),
        ("a.zip", b"", {}, "a.zip could not be opened: it is neither a zip nor a tar inside."),
    ],
)
def test_an_archive_that_fights_back_costs_its_student_only(
    name: str, content: bytes, limits: dict[str, Any], told: str, tmp_path: Path
) -> None:
    assert told in problem(handed_in({name: content}, tmp_path, **limits))


def test_nothing_is_written_where_a_name_says(tmp_path: Path) -> None:
    evil = [("../../../evil.py", OTHER), ("/tmp/lab_check_nested.py", OTHER), ("ok.py", RIGHT)]
    files = {"ada/a.zip": zipped(*evil), "bob/b.tgz": tarred(*evil)}
    cohort = collected(as_zip(files, tmp_path / "in.zip"), tmp_path)
    assert [read(student) for student in cohort.students] == [RIGHT, RIGHT]
    assert len(cohort.refused) == 4
    assert cohort.refused[0].startswith("ada/a.zip: ../../../evil.py: its path leaves the archive")
    assert not Path("/tmp/lab_check_nested.py").exists()
    assert not list(tmp_path.parent.glob("evil.py"))


def test_only_what_may_be_a_harness_is_unpacked(tmp_path: Path) -> None:
    entries = [("harness.py", RIGHT), ("data.bin", bytes(2 << 20)), ("x.zip", zipped(("a", b"")))]
    source = as_folder({"ada/a.zip": zipped(*entries)}, tmp_path / "in")
    collected(source, tmp_path)
    (spool,) = tmp_path.glob("spool-*")
    assert [path.read_bytes() for path in spool.rglob("*") if path.is_file()] == [RIGHT]


def test_all_archives_together_have_a_limit(tmp_path: Path) -> None:
    files = {f"s{i}/a.zip": zipped(("harness.py", os.urandom(900))) for i in range(9)}
    source = as_folder(files, tmp_path / "in")
    with pytest.raises(UsageError, match="students' archives unpack to more than 5,000 bytes"):
        collected(source, tmp_path, total_bytes=5000)
