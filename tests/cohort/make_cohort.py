"""Makes a cohort of 40 made-up students, in each of the layouts that platforms use. No real people.

python tests/cohort/make_cohort.py FOLDER [COUNT]
"""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

GIVEN = ["Ada", "José", "Zoë", "Łukasz", "Mia", "Ravi", "Ngozi", "Юлия", "小明", "Anaïs"]
FAMILY = ["Nowak", "Okafor", "Østergård", "O'Neil", "Smith-Jones", "García López", "Иванова", "王"]
DOUBLES = ["n + n", "2 * n", "n * n", "n + 2", "n"]
TOTALS = ["sum(numbers)", "sum(numbers[:-1])", "numbers.length"]
GREETS = ['f"hello {name}"', '"hello you"']


@dataclass(frozen=True)
class Made:
    """One made-up student and what each platform knows them by."""

    number: int
    name: str
    source: str

    @property
    def key(self) -> str:
        return f"s{self.number:04}"

    @property
    def email(self) -> str:
        return f"{self.key}@school.example"

    @property
    def canvas(self) -> int:
        return 7000 + self.number

    @property
    def moodle(self) -> int:
        return 7001 + self.number  # on purpose the next one's number at Canvas

    @property
    def github(self) -> str:
        return f"{self.key}-gh"


def source(number: int) -> str:
    """A harness of lesson 90; each number its own, right ones and wrong ones."""
    if number % 13 == 12:
        return f"def double(n:\n    return {number}\n"
    double, total = DOUBLES[number % 5], TOTALS[number % 3]
    greet = GREETS[number % 7 == 3]
    return (
        f'"""Number {number}."""\n\n\ndef double(n):\n    return {double}\n\n\n'
        f"def total(numbers):\n    return {total}\n\n\ndef greet(name):\n    return {greet}\n"
    )


def outcomes(number: int) -> tuple[str, ...]:
    """What the four tests of lesson 90 have to say of `source(number)`."""
    if number % 13 == 12:
        return ("not_run",) * 4
    passed = (number % 5 < 2, number % 5 < 2, number % 3 == 0, number % 7 != 3)
    return tuple("pass" if right else "fail" for right in passed)


def students(count: int = 40) -> list[Made]:
    """The students; some share a name, and no two a number."""
    names = [f"{GIVEN[i % 10]} {FAMILY[(i // 2) % 8]}" for i in range(count)]
    return [Made(i, names[i], source(i)) for i in range(count)]


def roster(made: list[Made]) -> str:
    """A roster that joins the platforms' names."""
    lines = ["student,name,email,canvas_id,moodle_participant,github"]
    lines += [
        f"{s.key},{s.name},{s.email},{s.canvas},Participant {s.moodle},{s.github}" for s in made
    ]
    return "\n".join(lines) + "\n"


def canvas(made: list[Made]) -> dict[str, str]:
    """One flat folder."""
    files = {}
    for s in made:
        first, _, last = s.name.partition(" ")
        squashed = "".join(c for c in f"{last}{first}".lower() if c.isalnum())
        late = "_LATE" if s.number % 9 == 0 else ""
        files[f"{squashed}{late}_{s.canvas}_{90000 + s.number}_harness.py"] = s.source
    return files


def moodle(made: list[Made]) -> dict[str, str]:
    """A folder a student."""
    return {f"{s.name}_{s.moodle}_assignsubmission_file/harness.py": s.source for s in made}


def moodle_flat(made: list[Made]) -> dict[str, str]:
    """A file a student."""
    return {f"{s.name}_{s.moodle}_assignsubmission_file_harness.py": s.source for s in made}


def gradescope(made: list[Made]) -> dict[str, str]:
    """A folder a submission, and a YAML that says whose."""
    root, yaml, files = "assignment_55_export", "", {}
    for s in made:
        yaml += (
            f"submission_{8000 + s.number}:\n  :submitters:\n  - :name: {s.name}\n"
            f"    :sid: '{s.key}'\n    :email: {s.email}\n"
            "  :created_at: 2026-11-02 10:00:00.000000000 Z\n  :score: 0.0\n  :history: []\n"
        )
        files[f"{root}/submission_{8000 + s.number}/harness.py"] = s.source
    return {f"{root}/submission_metadata.yml": yaml, **files, "__MACOSX/._harness.py": "junk"}


def classroom(made: list[Made]) -> dict[str, str]:
    """A clone a student."""
    return {f"lab-90-submissions/lab-90-{s.github}/harness.py": s.source for s in made}


def classroom50(made: list[Made]) -> dict[str, str]:
    """A clone a student, without a folder around them."""
    return {f"cs-lab90-{s.github}/harness.py": s.source for s in made}


def plain(made: list[Made]) -> dict[str, str]:
    """A folder a student, named by the roster's id."""
    return {f"{s.key}/harness.py": s.source for s in made}


def plain_files(made: list[Made]) -> dict[str, str]:
    """A file a student."""
    return {f"{s.key}.py": s.source for s in made}


LAYOUTS = {
    "canvas": canvas,
    "moodle": moodle,
    "moodle_flat": moodle_flat,
    "gradescope": gradescope,
    "classroom": classroom,
    "classroom50": classroom50,
    "plain": plain,
    "plain_files": plain_files,
}


def canvas_book(made: list[Made]) -> bytes:
    """Canvas's gradebook export: a mark in front, a row of points, quoted names, other columns."""
    lines = [
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Lab 9 (410),Lab 90 (411),Final Score"
    ]
    lines += ["    Points Possible,,,,,12.00,4.00,(read only)"]
    for s in made:
        first, _, last = s.name.partition(" ")
        sis = f"{s.key},{s.email}"
        lines += [f'"{last}, {first}",{s.canvas},{sis},"Section ""A""",11.00,,"{s.number},5"']
    lines += ['"Student, Test",99999,,abcdef,"Section ""A""",,,']
    return ("\r\n".join(lines) + "\r\n").encode()


def moodle_book(made: list[Made]) -> bytes:
    """Moodle's grading worksheet."""
    head = "Identifier,Full name,Email address,Status,Grade,Maximum Grade"
    head += ",Last modified (submission),Last modified (grade),Feedback comments"
    lines = [head]
    for s in made:
        tail = '"Monday, 2 November 2026, 10:00 AM",-,"two\nlines, ""quoted"""'
        lines += [f'"Participant {s.moodle}","{s.name}",{s.email},Submitted,,4.00,{tail}']
    return ("\n".join(lines) + "\n").encode()


def as_folder(files: dict[str, str], folder: Path) -> Path:
    """The files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def as_zip(files: dict[str, str], path: Path) -> Path:
    """The files in a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def as_tar(files: dict[str, str], path: Path) -> Path:
    """The files in a tar.gz."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def main(folder: Path, count: int = 40) -> None:
    """Write everything below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = students(count)
    for name, layout in LAYOUTS.items():
        as_zip(layout(made), folder / f"{name}.zip")
    (folder / "roster.csv").write_text(roster(made), encoding="utf-8")
    (folder / "canvas.csv").write_bytes(canvas_book(made))
    (folder / "moodle.csv").write_bytes(moodle_book(made))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
