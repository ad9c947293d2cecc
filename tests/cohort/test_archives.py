"""Archives are hostile: refused entry by entry where that is enough, whole where it isn't."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest

from grader.cohort.archives import from_archive
from grader.cohort.collecting import collect
from grader.cohort.entries import SourceLimits, Tree, from_folder, safe_parts
from grader.errors import UsageError

LIMITS = SourceLimits()


def unpacked(path: Path, spool: Path, **limits: Any) -> Tree:
    spool.mkdir()
    tree = from_archive(path, spool, SourceLimits(**limits))
    assert tree is not None
    return tree


def told(tree: Tree) -> dict[str, str]:
    """Place -> why it was refused; "" where it wasn't."""
    return {"/".join(entry.parts): entry.refused for entry in tree.entries}


def zipped(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return path


def tarred(path: Path, *members: tuple[str, Any]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, what in members:
            member = tarfile.TarInfo(name)
            if isinstance(what, bytes):
                member.size = len(what)
                archive.addfile(member, io.BytesIO(what))
            else:
                member.type, member.linkname = what.encode(), "/etc/passwd"
                archive.addfile(member)
    return path


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../x.py", "a/../../x.py", "..\\x.py", "C:\\x.py", "c:x.py", "\\x.py", "", "/"],
)
def test_a_name_that_leaves_the_archive(name: str) -> None:
    with pytest.raises(ValueError, match="path"):
        safe_parts(name, LIMITS)


@pytest.mark.parametrize("name", ["a/.. /x", "a/" * 30 + "x.py"])
def test_a_name_that_is_odd_or_deep(name: str) -> None:
    with pytest.raises(ValueError, match="path"):
        safe_parts(name, LIMITS)


def test_nothing_is_written_where_a_name_says(tmp_path: Path) -> None:
    evil = (("../../evil.py", b"1"), ("/tmp/lab_check_evil.py", b"1"), ("ok/harness.py", b"2"))
    for path in (zipped(tmp_path / "a.zip", *evil), tarred(tmp_path / "a.tgz", *evil)):
        tree = unpacked(path, tmp_path / path.suffix[1:])
        assert told(tree) == {"ok/harness.py": ""}
        assert [line.partition(": ")[2] for line in tree.refused] == [
            "its path leaves the archive (..)",
            "it has an absolute path",
        ]
    assert not Path("/tmp/lab_check_evil.py").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tgz", "a.zip", "tgz", "zip"]
    assert [p.name for p in (tmp_path / "zip").iterdir()] == ["000001"]


def test_links_devices_and_pipes_in_a_tar(tmp_path: Path) -> None:
    kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
    members = [(f"s{i}/harness.py", kind.decode()) for i, kind in enumerate(kinds)]
    tree = unpacked(tarred(tmp_path / "a.tgz", *members), tmp_path / "spool")
    link, other = "it is a link", "it is a device, a pipe or a socket"
    assert list(told(tree).values()) == [link, link, other, other, other]
    assert all(entry.path is None for entry in tree.entries)


def test_links_and_devices_in_a_zip(tmp_path: Path) -> None:
    entries = []
    for number, kind in enumerate((stat.S_IFLNK, stat.S_IFCHR, stat.S_IFREG)):
        info = zipfile.ZipInfo(f"s{number}/harness.py")
        info.create_system, info.external_attr = 3, (kind | 0o644) << 16
        entries.append((info, b"/etc/passwd"))
    tree = unpacked(zipped(tmp_path / "a.zip", *entries), tmp_path / "spool")
    assert list(told(tree).values()) == ["it is a link", "it is a device, a pipe or a socket", ""]


def test_links_and_pipes_in_a_folder(tmp_path: Path) -> None:
    root = tmp_path / "in"
    (root / "a").mkdir(parents=True)
    (root / "a/harness.py").symlink_to("/etc/passwd")
    (root / "b").symlink_to("/etc")
    os.mkfifo(root / "pipe.py")
    assert told(from_folder(root, LIMITS)) == {
        "a/harness.py": "it is a link",
        "b": "it is a link",
        "pipe.py": "it is a device, a pipe or a socket",
    }


def test_an_encrypted_entry(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("a/harness.py", b"x = 1"), ("b/harness.py", b"y = 1"))
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        where = data.index(mark) + at
        data[where] |= 1
    path.write_bytes(data)
    assert told(unpacked(path, tmp_path / "s")) == {
        "a/harness.py": "it is encrypted",
        "b/harness.py": "",
    }
    (tmp_path / "spool").mkdir()
    first = collect([path], tmp_path / "spool").students[0]
    assert first.attempts[0].problem == "harness.py could not be taken: it is encrypted."


def test_an_entry_with_a_wrong_checksum(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("a/harness.py")  # stored, so that a changed byte is only a wrong sum
    path = zipped(tmp_path / "a.zip", (info, b"x = 1"), ("b/harness.py", b"y = 1"))
    path.write_bytes(path.read_bytes().replace(b"x = 1", b"x = 2"))
    refused = told(unpacked(path, tmp_path / "s"))
    assert refused["a/harness.py"].startswith("it is damaged (Bad CRC-32")
    assert refused["b/harness.py"] == ""


@pytest.mark.parametrize("keep", [0.5, 0.95])
@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_an_archive_that_was_cut_short(kind: str, keep: float, tmp_path: Path) -> None:
    members = [(f"s{i}/harness.py", os.urandom(2000)) for i in range(20)]
    path = tmp_path / f"a.{kind}"
    (zipped if kind == "zip" else tarred)(path, *members)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])
    with pytest.raises(UsageError, match="is damaged"):
        unpacked(path, tmp_path / "spool")


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz", "a.tar.xz"])
@pytest.mark.parametrize("data", [b"", b"rubbish" * 100, b"\x1f\x8brubbish"])
def test_what_only_calls_itself_an_archive(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match="is damaged"):
        unpacked(tmp_path / name, tmp_path / "spool")


def test_an_entry_that_is_blown_up(tmp_path: Path) -> None:
    bomb = (("a/harness.py", bytes(6 << 20)), ("b/harness.py", b"x"))
    tree = unpacked(zipped(tmp_path / "a.zip", *bomb), tmp_path / "zip")
    assert told(tree) == {
        "a/harness.py": "it unpacks to more than 200 times its size",
        "b/harness.py": "",
    }
    assert sum(p.stat().st_size for p in (tmp_path / "zip").iterdir()) == 1


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_an_entry_that_is_too_large(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{kind}"
    members = (("a/harness.py", os.urandom(3000)), ("b/harness.py", b"x"))
    (zipped if kind == "zip" else tarred)(path, *members)
    tree = unpacked(path, tmp_path / "spool", entry_bytes=2000)
    assert told(tree) == {"a/harness.py": "it is larger than 2,000 bytes", "b/harness.py": ""}


@pytest.mark.parametrize("kind", ["zip", "tgz"])
@pytest.mark.parametrize("limits", [{"entries": 10}, {"total_bytes": 5000}])
def test_an_archive_that_is_too_large_is_refused_whole(
    limits: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{kind}"
    members = [(f"s{i}/harness.py", os.urandom(1000)) for i in range(20)]
    (zipped if kind == "zip" else tarred)(path, *members)
    with pytest.raises(UsageError, match="it is refused"):
        unpacked(path, tmp_path / "spool", **limits)


def test_a_tar_that_is_mostly_air(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    with gzip.open(path, "wb") as file:
        member = tarfile.TarInfo("a/harness.py")
        member.size = 300 << 20
        file.write(member.tobuf())
        for _ in range(100):
            file.write(bytes(1 << 20))
    with pytest.raises(UsageError, match="unpacks to far more than it is"):
        unpacked(path, tmp_path / "spool", total_bytes=32 << 20)


def test_a_table_of_contents_that_is_a_bomb(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("a/harness.py", b"x"))
    data = bytearray(path.read_bytes())
    where = data.rindex(b"PK\x05\x06")
    struct.pack_into("<L", data, where + 12, 0x7FFFFFFF)
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"table of contents|damaged"):
        unpacked(path, tmp_path / "spool")


def test_names_in_other_scripts_stay_what_they_are(tmp_path: Path) -> None:
    names = ["小明", "Юлия", "Ελένη", "عمر", "ada\nlovelace", "x" * 300, "a\u202eb"]
    entries = [(f"{name}/harness.py", name.encode()) for name in names]
    entries += [
        (f"{unicodedata.normalize(form, 'José')}/harness.py", form.encode())
        for form in ("NFC", "NFD")
    ]
    for path in (
        zipped(tmp_path / "a.zip", *entries),
        tarred(tmp_path / "a.tgz", *entries),
    ):
        (tmp_path / path.suffix[1:]).mkdir()
        students = collect([path], tmp_path / path.suffix[1:]).students
        keys = {student.key for student in students}
        assert len(students) == len(entries)
        assert {"小明", "Юлия", "Ελένη", "عمر", "ada\ufffdlovelace", "a\ufffdb"} <= keys
        assert {"José", "José (2)"} <= keys
        assert max(map(len, keys)) < 140


def test_an_old_zip_that_does_not_say_it_is_utf_8(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", ("Jos\u00e9/harness.py", b"x"))
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        data[data.index(mark) + at] &= ~0x08
    path.write_bytes(data)
    assert told(unpacked(path, tmp_path / "s")) == {"José/harness.py": ""}


def test_clutter_is_left_out(tmp_path: Path) -> None:
    names = ["__MACOSX/a/._harness.py", "a/.DS_Store", "a/.git/config", "a/__pycache__/h.pyc"]
    entries = [(name, b"x") for name in [*names, "a/harness.py"]]
    assert told(unpacked(zipped(tmp_path / "a.zip", *entries), tmp_path / "s")) == {
        "a/harness.py": ""
    }


def test_neither_archive_nor_folder(tmp_path: Path) -> None:
    (tmp_path / "a.rar").write_bytes(b"Rar!")
    (tmp_path / "spool").mkdir()
    with pytest.raises(UsageError, match="neither a folder, a zip, a tar nor a Python file"):
        collect([tmp_path / "a.rar"], tmp_path / "spool")
