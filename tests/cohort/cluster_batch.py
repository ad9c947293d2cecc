"""Grades a cohort on a Dask cluster of two worker processes here, one of which is killed in the middle.

python tests/cohort/cluster_batch.py SOURCE OUT
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import Any

from grader.batch import FarRooms
from grader.cohort import cluster
from grader.cohort.progress import Quiet
from tests.cohort.helpers import batch


class KillsOne(Quiet):
    """Kills a worker once some are graded."""

    def __init__(self, process: int) -> None:
        self.process, self.count = process, 0

    def done(self, verdict: str, *, kept: bool) -> None:
        super().done(verdict, kept=kept)
        self.count += 1
        if self.count == 15:
            os.kill(self.process, signal.SIGKILL)


def main() -> None:
    distributed = import_module("distributed")
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as local:
        victim = next(iter(local.workers.values())).process.pid
        with cluster.executor(local.scheduler_address) as (executor, workers):
            batch(
                sys.argv[1],
                sys.argv[2],
                rooms=FarRooms("local"),
                executor=executor,
                workers=workers,
                progress=KillsOne(victim),
            )


if __name__ == "__main__":
    main()
