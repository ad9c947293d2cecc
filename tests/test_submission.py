from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest

from grader import submission
from grader.errors import SubmissionError

LIMIT = 1 << 20


def problem(path: Path | str) -> SubmissionError:
    with pytest.raises(SubmissionError) as caught:
        submission.read(path, LIMIT)
    return caught.value


def test_a_plain_file(tmp_path: Path) -> None:
    path = tmp_path / "a b.py"
    path.write_bytes(b"x = 1\r\ny = '\xc3\xa9'\r\n")
    read = submission.read(path, LIMIT)
    assert (read.name, read.text, read.size) == ("a b.py", "x = 1\ny = '\u00e9'\n", 17)
    assert read.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to("real.py")
    assert submission.read(tmp_path / "link.py", LIMIT).text == "x = 1\n"


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "broken").symlink_to("nothing")
    told = {
        "missing": "There is no file",
        "": "is a folder",
        "pipe": "is a pipe",
        "broken": "is a link to a file that isn't there",
    }
    for name, words in told.items():
        found = problem(tmp_path / name)
        assert (found.kind, words in found.message) == ("not_a_file", True), found.message
    assert problem("/dev/null").message == "/dev/null is a device or a socket, not a file."
    assert problem("a\0b").kind == "not_a_file"
    assert problem(tmp_path / ("n" * 300)).kind == "not_a_file"


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "harness.py").write_bytes(data)
    assert problem(tmp_path / "harness.py").message == "harness.py is empty."


def test_a_file_of_one_byte_too_many(tmp_path: Path) -> None:
    path = tmp_path / "harness.py"
    path.write_bytes(b"#" * LIMIT)
    assert submission.read(path, LIMIT).size == LIMIT
    path.write_bytes(b"#" * (LIMIT + 1))
    assert problem(path).kind == "too_large"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"x = 1\ny = '\xff'\n", 2),
        (b"# \xe9\n", 1),
        (b"a\nb\nc\n'\xc3'", 4),
        (b"x = '\xed\xa0\x80'", 1),  # half a character, encoded
    ],
)
def test_bytes_that_are_no_utf8(data: bytes, line: int) -> None:
    with pytest.raises(SubmissionError) as caught:
        submission.from_bytes(data)
    assert (caught.value.kind, caught.value.line) == ("encoding", line)


def test_encodings_that_python_knows() -> None:
    assert submission.from_bytes(b"\xef\xbb\xbfx = 1\n").text == "x = 1\n"
    latin = "# coding: latin-1\nx = '\u00e9'\n"
    assert submission.from_bytes(latin.encode("latin-1")).text == latin


@pytest.mark.parametrize("cookie", ["rot13", "no-such-codec", "hex"])
def test_encodings_that_are_none(cookie: str) -> None:
    with pytest.raises(SubmissionError) as caught:
        submission.from_bytes(f"# coding: {cookie}\nx = 1\n".encode())
    assert caught.value.kind == "encoding"


def test_a_stream_is_read_to_the_limit_and_no_further() -> None:
    assert submission.read_stream(io.BytesIO(b"x = 1\n"), LIMIT).name == "harness.py"
    endless = io.BytesIO(b"#" * (3 * LIMIT))
    with pytest.raises(SubmissionError):
        submission.read_stream(endless, LIMIT)
    assert endless.tell() == LIMIT + 1


def test_a_name_that_lies_beside_is_told_only_if_it_can_be_shown(tmp_path: Path) -> None:
    for name in ("harnes\n::error::.py", "h\u202earness.py", f"harness{'s' * 100}.py"):
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    assert problem(tmp_path / "harness.py").help == "Check the name and the folder."
    (tmp_path / "harnes.py").mkdir()
    assert problem(tmp_path / "harness.py").help == "Check the name and the folder."
    (tmp_path / "Harness.py").write_text("x = 1\n", encoding="utf-8")
    assert problem(tmp_path / "harness.py").help.endswith("folder. Harness.py lies in that folder.")
