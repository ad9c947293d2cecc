"""The same batch on a Dask cluster; a worker that is lost costs nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cohort import cluster
from grader.errors import UsageError
from tests.cohort import make_cohort

ROOT = Path(__file__).parent.parent.parent
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="the extra `cluster` is not installed"
)


@needs_dask
def test_a_hundred_with_one_worker_killed(tmp_path: Path) -> None:
    made = make_cohort.students(100)
    source = make_cohort.as_zip(make_cohort.plain(made), tmp_path / "in.zip")
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "tests/cohort/cluster_batch.py", str(source), str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    figures = json.loads((out / "cohort.json").read_text())["figures"]
    assert (figures["graded"], figures["errors"]) == (100, 0)
    lines = [json.loads(line) for line in (out / "audit.jsonl").read_text().splitlines()]
    assert len({line["report"] for line in lines}) == len(lines) == 100


@needs_dask
def test_a_cluster_that_is_not_there() -> None:
    command = (
        "from grader.cohort import cluster\nfrom grader.errors import UsageError\n"
        "try:\n    cluster.executor('tcp://127.0.0.1:9', 0.5).__enter__()\n"
        "except UsageError as exc:\n    print(exc.message)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("No Dask scheduler answers at tcp://127.0.0.1:9"), done.stderr


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="not installed"), cluster.executor("tcp://x:1"):
        pass
