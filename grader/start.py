"""Where the command begins: the rooms open first, so that they do while the command line is imported."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The console script."""
    gc.disable()  # there is no garbage in what is imported
    from grader.rooms import early  # noqa: PLC0415 - imports are what this is about

    early.open_for(sys.argv[1:])
    try:
        from grader.cli import main as run  # noqa: PLC0415

        gc.freeze()
        gc.enable()
        run()
    finally:
        early.close()
