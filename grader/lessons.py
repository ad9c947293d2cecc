"""The catalogue: lesson number to title, tests, rules, starter. A lesson is a folder, and nothing more.

A folder holds `lesson.toml` (title, rules, wrong answers), `scenes.py` (played on the stage) and one
`test_*.py` (the hidden tests). The tests are read as text here, never run: a test is a function
`test_<id>` with `@rule("…")`, and its docstring is its title. Whatever is wrong with a folder is told to
its author with file and line.
"""

from __future__ import annotations

import ast
import hashlib
import re
import threading
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import LessonError, UnknownLessonError, UsageError
from grader.records import Rule, TestCase, WrongAnswer

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

_PACKAGE = Path(__file__).resolve().parent
_FOLDER = re.compile(r"lesson_(\d+)")
# Installed, the folders of lessons are inside the package; in a checkout, beside it.
_ROOTS = (_PACKAGE, _PACKAGE.parent)
# Python 3.11 counts how deep its parser is for all threads together, and trips over two at a time.
_PARSING = threading.Lock()
_REQUIRED = {"id", "text", "why", "section"}


@dataclass(frozen=True)
class Lesson:
    """One lesson, read and checked.

    `modules` are the sources of what its submissions may import beside `lab`; `names` says where the
    page asks for each name that a submission has to define. `stand_in` is a submission with which every
    scene can be played, right or not: a scene that breaks with it is broken. "" where there is none.
    """

    number: int
    title: str
    folder: Path
    tests: tuple[TestCase, ...]
    rules: Mapping[str, Rule]
    names: Mapping[str, str]
    modules: Mapping[str, str]
    test_file: str
    test_source: str
    scene_source: str
    sha256: str
    stand_in: str = ""

    @property
    def starter(self) -> Path | None:
        """The file that the lab starts from, if there is one."""
        return _starter(self.folder)


def folders(extra: Sequence[str | os.PathLike[str]] = ()) -> dict[int, Path]:
    """Every lesson's folder by number: the built-in ones, and those of `extra` beside them.

    Args:
        extra: folders that hold lesson folders; a number found there hides a built-in one.

    Raises:
        UsageError: a folder of `extra` is not there, or holds no lessons.
    """
    found: dict[int, Path] = {}
    builtin = next(
        (root / "hidden_tests" for root in _ROOTS if (root / "hidden_tests").is_dir()), None
    )
    if builtin is not None:
        found |= _in(builtin)
    for root in map(Path, extra):
        held = _in(root) if root.is_dir() else {}
        if not held:
            raise _no_lessons(root)
        found |= held
    return dict(sorted(found.items()))


def _in(root: Path) -> dict[int, Path]:
    named = ((_FOLDER.fullmatch(path.name), path) for path in sorted(root.iterdir()))
    return {int(name[1]): path for name, path in named if name and path.is_dir()}


def _no_lessons(root: Path) -> UsageError:
    told = f"{root} is not a folder of lessons"
    if (root / "lesson.toml").exists() or (root.is_dir() and _FOLDER.fullmatch(root.name)):
        return UsageError(f"{told}: it is a lesson.", help="Name the folder above it.")
    if root.is_dir():
        return UsageError(
            f"{told}: there is none in it.",
            help="A lesson is a folder lesson_NN; name what holds it.",
        )
    return UsageError(f"{told}.", help="Name an existing folder.")


def find(number: int, extra: Sequence[str | os.PathLike[str]] = ()) -> Lesson:
    """The lesson with that number.

    Raises:
        UnknownLessonError: there is none; says which there are.
        LessonError: its folder is broken.
    """
    known = folders(extra)
    if number not in known:
        numbers = ", ".join(map(str, known)) or "none"
        raise UnknownLessonError(
            f"There is no lesson {number}.", help=f"The lessons there are: {numbers}."
        )
    return load(known[number])


def load(folder: Path) -> Lesson:
    """Read and check one lesson's folder.

    Raises:
        LessonError: a file is missing or broken, or test and rule don't fit together.
    """
    settings = _settings(folder / "lesson.toml")
    rules = _rules(folder / "lesson.toml", settings)
    test_path = _test_file(folder)
    scene_source = _read(folder / "scenes.py")
    test_source = _read(test_path)
    _parse(folder / "scenes.py", scene_source)
    points = settings.get("points", {})
    tests = _tests(test_path, test_source, rules, points)
    modules = {name: _module(folder, name) for name in settings.get("modules", [])}
    number = settings["number"]
    return Lesson(
        number=number,
        title=settings["title"],
        folder=folder,
        tests=tests,
        rules=rules,
        names=settings.get("names", {}),
        modules=modules,
        test_file=test_path.name,
        test_source=test_source,
        scene_source=scene_source,
        sha256=_sha256(folder / "lesson.toml", test_source, scene_source, modules),
        stand_in=_stand_in(folder, settings),
    )


def _starter(folder: Path) -> Path | None:
    roots = (folder.parent.parent, *_ROOTS)
    paths = (root / "starters" / folder.name / "harness.py" for root in roots)
    return next((path for path in paths if path.is_file()), None)


def _stand_in(folder: Path, settings: Mapping[str, Any]) -> str:
    """The starter, and below it what the lesson's settings add; "" where they add nothing."""
    added = settings.get("stand_in", "")
    starter = _starter(folder)
    return f"{_read(starter)}\n\n{added}" if added and starter is not None else str(added)


def _settings(path: Path) -> dict[str, Any]:
    text = _read(path)
    try:
        settings = tomllib.loads(text)
    except tomllib.TOMLDecodeError as exc:
        raise LessonError(f"{path}: {exc}", help="Mend the TOML at that place.") from exc
    for field, kind in (("number", int), ("title", str)):
        if type(settings.get(field)) is not kind:
            raise LessonError(
                f"{path}:1: `{field}` is missing or no {kind.__name__}.",
                help=f'Begin the file with `number = {"11"}` and `title = "…"`.',
            )
    return settings


def _rules(path: Path, settings: Mapping[str, Any]) -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    text = _read(path)
    for entry in settings.get("rule", []):
        missing = sorted(_REQUIRED - set(entry))
        place = f"{path}:{_line_of(text, entry.get('id', ''))}"
        if missing:
            raise LessonError(
                f"{place}: a rule has no `{missing[0]}`.",
                help="A rule has id, text, why and section; function and wrong_answer if it likes.",
            )
        if entry["id"] in rules:
            raise LessonError(f"{place}: there are two rules {entry['id']!r}.", help="Rename one.")
        try:
            wrong = tuple(WrongAnswer(**row) for row in entry.get("wrong_answer", []))
        except TypeError as exc:
            raise LessonError(
                f"{place}: a wrong answer of {entry['id']!r} has other fields than id and text.",
                help="Write `id` and `text` under [[rule.wrong_answer]].",
            ) from exc
        known = {name: entry[name] for name in (*_REQUIRED, "function") if name in entry}
        rules[entry["id"]] = Rule(**known, wrong_answers=wrong)
    return rules


def _tests(
    path: Path, source: str, rules: Mapping[str, Rule], points: Mapping[str, int]
) -> tuple[TestCase, ...]:
    tests: list[TestCase] = []
    for node in _parse(path, source).body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        place, name = f"{path}:{node.lineno}", node.name.removeprefix("test_")
        rule_id = next(filter(None, map(_rule_id, node.decorator_list)), None)
        if rule_id is None:
            raise LessonError(
                f"{place}: {node.name} has no rule.",
                help='Put @rule("…") above it, with the id of a rule in lesson.toml.',
            )
        if rule_id not in rules:
            raise LessonError(
                f"{place}: {node.name} names a rule {rule_id!r} that lesson.toml doesn't have.",
                help=f"The rules there are: {', '.join(rules) or 'none'}.",
            )
        if any(test.id == name for test in tests):
            raise LessonError(f"{place}: there are two tests {name!r}.", help="Rename one.")
        title = (ast.get_docstring(node) or name.replace("_", " ")).splitlines()[0].rstrip(".")
        number = len(tests) + 1
        tests.append(
            TestCase(name, number, title, rules[rule_id], points.get(name, 1), node.lineno)
        )
    if not tests:
        raise LessonError(
            f"{path}:1: there is no test in it.", help="A test is a function test_<id>."
        )
    return tuple(tests)


def _rule_id(decorator: ast.expr) -> str | None:
    if (
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id == "rule"
        and decorator.args
        and isinstance(decorator.args[0], ast.Constant)
    ):
        return str(decorator.args[0].value)
    return None


def _test_file(folder: Path) -> Path:
    files = sorted(folder.glob("test_*.py"))
    if len(files) != 1:
        found = ", ".join(path.name for path in files) or "none"
        raise LessonError(
            f"{folder}: a lesson has one file test_*.py; found {found}.",
            help="Put every hidden test of the lesson into one test module.",
        )
    return files[0]


def _module(folder: Path, name: str) -> str:
    """The source of a module that the lesson's submissions may import, from the folder or beside it."""
    beside = (root / name / "__init__.py" for root in (folder.parent.parent, *_ROOTS))
    for path in (folder / f"{name}.py", *beside):
        if path.is_file():
            return _read(path)
    raise LessonError(
        f"{folder / 'lesson.toml'}: there is no module {name!r}.",
        help=f"Put {name}.py into the lesson's folder, or take it off `modules`.",
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        raise LessonError(
            f"{path} can't be read: {reason}.",
            help="A lesson is a folder with lesson.toml, scenes.py and one test_*.py.",
        ) from exc


def _parse(path: Path, source: str) -> ast.Module:
    try:
        with _PARSING:
            return ast.parse(source)
    except (SyntaxError, ValueError) as exc:
        line = getattr(exc, "lineno", None) or 1
        raise LessonError(
            f"{path}:{line}: it is not Python: {getattr(exc, 'msg', exc)}", help="Mend that line."
        ) from exc


def _line_of(text: str, rule_id: str) -> int:
    where = text.find(f'"{rule_id}"') if rule_id else -1
    return text.count("\n", 0, max(0, where)) + 1


def _sha256(toml: Path, tests: str, scenes: str, modules: Mapping[str, str]) -> str:
    """Of everything a verdict depends on: test module, scenes, rules, the lesson's modules, `lab`."""
    digest = hashlib.sha256()
    lab = [path.read_text(encoding="utf-8") for path in sorted((_PACKAGE / "lab").glob("*.py"))]
    for text in (_read(toml), tests, scenes, *modules.values(), *lab):
        digest.update(hashlib.sha256(text.encode()).digest())
    return digest.hexdigest()
