"""Reports on disk: whole or not there, one batch at a time, an audit that a full disk can't garble."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.cohort.store import Store
from grader.errors import StoreError, UsageError
from grader.records import Submission
from tests.cohort.helpers import LESSON, NoRooms, Pretend

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def report() -> Any:
    submission = Submission("harness.py", "n + n", "ab" * 32, 5)
    return Pretend().report(submission, LESSON, rooms=NoRooms())


def test_a_report_comes_back(report: Any, tmp_path: Path) -> None:
    with Store(tmp_path / "out") as store:
        assert store.read("ada.1") is None
        store.write("ada.1", report)
        store.hold("ada.1", report)
        assert store.read("ada.1") == store.held("ada.1") == report
        store.release("ada.1")
        assert (store.read("ada.1"), store.held("ada.1")) == (report, None)
        store.drop("ada.1")
        with pytest.raises(StoreError):
            store.release("ada.1")


def test_a_write_that_fails_leaves_what_was_there(
    report: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with Store(tmp_path / "out") as store:
        store.write("ada.1", report)
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left on device"):
            store.write_text("reports/ada.1.json", ["{", "}"])
        assert store.read("ada.1") == report
        assert [path.name for path in (tmp_path / "out/reports").iterdir()] == ["ada.1.json"]


def test_half_a_line_of_audit_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with Store(tmp_path) as store:
        store.audit("graded", "a.1", started_at="1")
        monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[: len(data) // 2]))
        with pytest.raises(StoreError):
            store.audit("graded", "b.1", started_at="2")
        monkeypatch.setattr(os, "write", write)
        store.audit("graded", "c.1", started_at="3")
        assert store.audited() == {("a.1", "1"), ("c.1", "3")}
    lines = (tmp_path / "audit.jsonl").read_text().splitlines()
    assert json.loads(lines[-1])["report"] == "c.1"


def test_the_lock_goes_with_its_process(tmp_path: Path) -> None:
    command = (
        "import sys, time\nfrom grader.cohort.store import Store\n"
        "with Store(sys.argv[1]):\n    print('in', flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", command, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"in\n"
        with pytest.raises(UsageError, match=f"process {other.pid} "), Store(tmp_path):
            pass
        other.kill()
        other.wait()
    with Store(tmp_path):
        pass


def test_what_was_unpacked_is_gone_when_the_next_one_begins(tmp_path: Path) -> None:
    (tmp_path / ".unpacked/000").mkdir(parents=True)
    with Store(tmp_path) as store:
        assert not (tmp_path / ".unpacked").exists()
        with store.spool() as folder:
            assert list(folder.iterdir()) == []
        assert not folder.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError), Store(tmp_path / "file"):
        pass
    assert issubclass(StoreError, Exception)
