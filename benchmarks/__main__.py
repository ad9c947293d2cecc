"""Measures how fast the grader is, and prints a table.

    python -m benchmarks [--runs N] [--only NAME]… [--python PYTHON] [--record | --check]

Every figure is a ratio of two things measured in turn, or the difference of two, as a median of several
runs. `--python` names the interpreter of an environment in which the grader is installed and little else:
what else is installed there slows plain pytest down, and makes the ratio look better than it is.
`--record` writes the ratios of CPU times to recorded.json; `--check` fails where one is worse than 1.5 times
what is recorded. Rows that need a container engine are left out where none answers.

Exit status: 0, or 1 where --check found one worse.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import many, single, table
from grader.errors import RoomError
from grader.rooms.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.table import Row

RECORDED = Path(__file__).with_name("recorded.json")
_FACTOR = 1.5
_LOCAL = ("local", "start-up", "scene", "memory", "hang", "local-batch")
_DOCKER = ("docker", "docker-batch")


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Times the grader.")
    parser.add_argument("--runs", type=int, default=7, help="of each command; medians are shown")
    parser.add_argument("--only", action="append", choices=_LOCAL + _DOCKER, help="may be repeated")
    parser.add_argument("--python", default=sys.executable, help="an environment to measure in")
    parser.add_argument("--record", action="store_true", help="keep the ratios of CPU times")
    parser.add_argument("--check", action="store_true", help="compare them with what was kept")
    asked = parser.parse_args()
    wanted = asked.only or [*_LOCAL, *(_DOCKER if _engine_answers() else ())]
    print(table.head(), flush=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="lab_check-") as name:
        for group in wanted:
            for row in _measured(group, asked.python, Path(name) / group, asked.runs):
                print(row.line(), flush=True)
                rows.append(row)
    kept: dict[str, float] = json.loads(RECORDED.read_text(encoding="utf-8"))
    if asked.record:
        kept |= {row.name: round(row.cpu, 3) for row in rows if row.cpu is not None}
        RECORDED.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    worse = table.worse(rows, kept, _FACTOR) if asked.check else []
    for sentence in worse:
        print(f"WORSE: {sentence}")
    return 1 if worse else 0


def _measured(group: str, python: str, folder: Path, runs: int) -> Iterator[Row]:
    few = max(1, runs // 3)  # of what takes long
    groups: dict[str, Callable[[], Iterator[Row]]] = {
        "local": lambda: single.local(python, folder, runs),
        "docker": lambda: single.docker(python, folder, runs),
        "start-up": lambda: single.start_up(python, runs),
        "scene": lambda: single.scene(runs),
        "memory": lambda: single.memory(python, folder),
        "hang": lambda: single.hang(python, folder),
        "local-batch": lambda: many.local(python, folder, few, workers=2),
        "docker-batch": lambda: many.docker(python, folder, few, concurrency=(2, 3, 4)),
    }
    return groups[group]()


def _engine_answers() -> bool:
    try:
        Engine()
    except RoomError:
        return False
    return True


sys.exit(main())
