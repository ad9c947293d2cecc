"""Makes the pictures in the README, from the real programs: `python docs/images/make.py`.

The report is what a terminal of 88 columns shows, as an SVG; the cohort's page is photographed by Chromium,
which has to be installed. Everybody in it is made up.
"""

from __future__ import annotations

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))

from tests.wrong_answers.table import edited, entries  # noqa: E402 - a folder beside docs, no package

WIDTH = 88  # columns
LESSON, WRONG = 10, "newest-result-wins"
SHOWN = "lab_check --lesson 10 harness.py"


def report() -> None:
    """report.svg: the text report of one wrong answer, as it stands in a terminal."""
    entry = next(each for each in entries(LESSON) if each["name"] == WRONG)
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "harness.py").write_text(edited(LESSON, entry), encoding="utf-8")
        told = _in_a_terminal([*_lab_check(), *SHOWN.split()[1:], "--runner", "local"], Path(name))
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {SHOWN}", style="bold"))
    console.print(Text.from_ansi(told.rstrip()))
    svg = console.export_svg(title="lab_check", unique_id="report")
    # No font from a stranger's server: a forge would not load it, and whoever reads should not.
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code", "ui-monospace, Menlo, Consolas")
    (HERE / "report.svg").write_text(svg, encoding="utf-8")


def cohort() -> None:
    """cohort.png: the page of a class of 30, some of whom share an idea."""
    every = entries(LESSON)
    solution = (ROOT / "tests" / "solutions" / f"lesson_{LESSON:02}" / "harness.py").read_text(
        encoding="utf-8"
    )
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for number in range(30):
            entry = every[(number * number) % 17 * 5 % len(every)]
            text = solution if number % 3 == 0 else edited(LESSON, entry)
            folder = work / "class" / f"student-{number + 1:02}"
            folder.mkdir(parents=True)
            (folder / "harness.py").write_text(f"{text}\n# {number}\n", encoding="utf-8")
        batch = ["batch", "--lesson", str(LESSON), "--runner", "local", "--quiet", "--out", "out"]
        ran = subprocess.run(
            [*_lab_check(), *batch, "class"], cwd=work, check=False, capture_output=True
        )
        if ran.returncode not in (0, 1):
            raise SystemExit(ran.stderr.decode())
        _photograph(work / "out" / "index.html", HERE / "cohort.png", work / "profile")


def _lab_check() -> list[str]:
    return [sys.executable, "-m", "grader"]


def _in_a_terminal(command: list[str], folder: Path) -> str:
    """What a command prints where it believes to be in a terminal."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    here, there = pty.openpty()
    process = subprocess.Popen(
        command, cwd=folder, stdout=there, stdin=subprocess.DEVNULL, env=environment
    )
    os.close(there)
    told = b""
    while True:
        try:
            data = os.read(here, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        told += data
    process.wait()
    os.close(here)
    return told.decode().replace("\r\n", "\n")


def _photograph(page: Path, into: Path, profile: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("Chromium is not installed.")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
    flags += ["--disable-background-networking", "--disable-sync", "--disable-component-update"]
    flags += [f"--user-data-dir={profile}", "--window-size=1100,1400", f"--screenshot={into}"]
    subprocess.run([chromium, *flags, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    report()
    cohort()
