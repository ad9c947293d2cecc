"""Batches: submissions a second, beside what the engine or plain processes manage at the same concurrency."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmarks import plain
from benchmarks.measuring import Command, Taken, timed
from benchmarks.single import LESSON, ROOT, SOLUTION, docker_run, lab_check
from benchmarks.table import Row
from grader import lessons
from grader.records import Limits
from grader.rooms import engine as engines
from grader.rooms import flags, sweeping
from grader.rooms import image as images

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def local(python: str, folder: Path, runs: int, *, workers: int, count: int = 100) -> Iterator[Row]:
    """A batch in plain processes, beside one plain pytest process a submission."""
    work = folder / "plain"
    plain.write(work, lessons.find(LESSON), SOLUTION, [str(ROOT / "grader"), str(ROOT)])

    def pytest() -> None:
        subprocess.run(
            [python, "-m", "pytest", "-q"], cwd=work, check=True, stdout=subprocess.DEVNULL
        )

    batch = _batch(python, folder, count, workers, "local")
    each = max(20, count // 5)
    theirs = [timed(lambda: _at_once(pytest, each, workers)) for _ in range(runs)]
    ours = [batch() for _ in range(runs)]
    yield _rate(
        f"local batch of {count} / plain pytest a submission",
        (count, ours),
        (each, theirs),
        workers,
        at_least=3.0,
    )


def docker(
    python: str, folder: Path, runs: int, *, concurrency: tuple[int, ...], count: int = 60
) -> Iterator[Row]:
    """A batch in containers, beside empty containers and beside a `docker run` a submission."""
    inside = [f"{flags.ROOT}/grader", flags.ROOT]
    work = folder / "plain"
    plain.write(work, lessons.find(LESSON), SOLUTION, inside)

    def run() -> None:
        subprocess.run(docker_run(work), check=True, stdout=subprocess.DEVNULL)

    best = []
    for workers in concurrency:
        batch = _batch(python, folder, count, workers, "docker")
        taken = [batch() for _ in range(runs)]
        best.append((statistics.median(one.wall_s for one in taken), workers, taken))
    _, workers, ours = min(best, key=lambda each: each[0])
    empty = _empty_container()
    engine = [timed(lambda: _at_once(empty, count, workers), machine=True) for _ in range(runs)]
    yield _rate(
        f"docker batch of {count} / empty containers",
        (count, ours),
        (count, engine),
        workers,
        at_least=0.7,
    )
    each = max(12, count // 4)
    theirs = [timed(lambda: _at_once(run, each, workers), machine=True) for _ in range(runs)]
    yield _rate(
        f"docker batch of {count} / docker run of plain pytest",
        (count, ours),
        (each, theirs),
        workers,
        at_least=1.5,
    )


def _batch(python: str, folder: Path, count: int, workers: int, runner: str) -> Callable[[], Taken]:
    """The command over `count` students, each with a file of its own."""
    source = folder / f"cohort-{count}"
    text = SOLUTION.read_text(encoding="utf-8")
    for number in range(count):
        (source / f"s{number:04}").mkdir(parents=True, exist_ok=True)
        file = source / f"s{number:04}" / "harness.py"
        file.write_text(f"{text}\n# {number}\n", encoding="utf-8")
    out = folder / "out"
    argv = ["batch", "--lesson", LESSON, "--runner", runner, "--workers", workers, "--quiet"]
    command = Command(lab_check(python, *argv, "--out", out, source), machine=runner == "docker")

    def run() -> Taken:
        shutil.rmtree(out, ignore_errors=True)
        return command.run()

    return run


def _empty_container() -> Callable[[], None]:
    """Creates, starts and removes a container with a stage's flags, in which nothing runs."""
    engine = engines.Engine()
    image = images.fitting(engine)
    labels = sweeping.labels(uuid.uuid4().hex, 600.0)
    sealed: Any = flags.container_flags("stage", Limits(), labels=labels, program=["true"])

    def once() -> None:
        with engine.client() as api:
            made = engines.create(api, image, sealed)
            api.start(made)
            engines.remove(api, made)

    return once


def _at_once(work: Callable[[], None], count: int, workers: int) -> None:
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work) for _ in range(count)]:
            done.result()


def _rate(
    name: str,
    ours: tuple[int, list[Taken]],
    theirs: tuple[int, list[Taken]],
    workers: int,
    *,
    at_least: float,
) -> Row:
    """Ours a second, over theirs a second; and CPU time for each, ours over theirs."""
    (n, a), (m, b) = ours, theirs
    wall_a, wall_b = (statistics.median(x.wall_s for x in each) for each in (a, b))
    cpu_a, cpu_b = (statistics.median(x.cpu_s for x in each) for each in (a, b))
    return Row(
        name,
        (n / wall_a) / (m / wall_b),
        at_least,
        at_least=True,
        cpu=(cpu_a / n) / (cpu_b / m),
        detail=f"{n / wall_a:.1f}/s / {m / wall_b:.1f}/s, {workers} at a time;"
        f" CPU {cpu_a / n:.3f} s / {cpu_b / m:.3f} s",
    )
