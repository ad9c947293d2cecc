"""A Dask cluster as an executor: what runs on a university's Slurm or Kubernetes. The extra `cluster`."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Executor

_RETRIES = 3  # of the scheduler's own, for tasks whose worker was lost


@contextmanager
def executor(address: str, timeout_s: float = 10.0) -> Iterator[tuple[Executor, int]]:
    """The cluster's executor, and how many gradings it can do at a time.

    Args:
        address: of its scheduler, such as tcp://10.0.0.5:8786.
        timeout_s: how long to try to reach it.

    Raises:
        UsageError: it can't be reached, has no worker, or Dask isn't installed.
    """
    try:
        distributed = import_module("distributed")  # an extra, without types
    except ImportError as exc:
        raise UsageError(
            "--cluster needs Dask, which is not installed.",
            help="python -m pip install distributed",
        ) from exc
    try:
        client = distributed.Client(address, timeout=timeout_s)
    except (OSError, ValueError) as exc:
        raise UsageError(f"No Dask scheduler answers at {address}: {exc}") from exc
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise UsageError(f"The cluster at {address} has no worker.", help="Start some.")
        yield client.get_executor(retries=_RETRIES), threads
