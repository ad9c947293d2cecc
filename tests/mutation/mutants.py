"""Small changes to a solution's "your code" regions, made with the operators of mutmut and of cosmic-ray.

Both tools bring a runner of their own, which edits files and starts a process for every mutant. Here a
mutant is a submission like any other, so only their operators are used. Neither takes a statement
out or moves one: that is added. What two operators make alike counts once; what does not compile counts not at all.
"""

from __future__ import annotations

import ast
import difflib
import functools
import itertools
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cosmic_ray.plugins  # type: ignore[import-not-found,import-untyped,unused-ignore]
import libcst  # type: ignore[import-not-found,import-untyped,unused-ignore]
from cosmic_ray import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    ast as cosmic_ray_ast,
)
from cosmic_ray import mutating  # type: ignore[import-not-found,import-untyped,unused-ignore]
from libcst.metadata import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    MetadataWrapper,
    PositionProvider,
)
from mutmut.mutation import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
    mutators,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SOLUTIONS = Path(__file__).parent.parent / "solutions"
_BEGIN, _END = "# --- your code ---", "# --- end ---"
_NEEDS_ARGUMENTS = ("core/VariableReplacer", "core/VariableInserter")


@dataclass(frozen=True)
class Mutant:
    """One change. `before` and `after` are the lines that differ, without what surrounds them."""

    lesson: int
    line: int
    operator: str
    before: str
    after: str
    source: str

    @property
    def key(self) -> tuple[int, str, str]:
        """What tells it from the others, wherever its lines stand."""
        return (self.lesson, self.before, self.after)


def of(lesson: int) -> list[Mutant]:
    """Every mutant of a lesson's solution, from the top of the file to its end."""
    text = (SOLUTIONS / f"lesson_{lesson:02}" / "harness.py").read_text(encoding="utf-8")
    lines = _regions(text)
    seen = {_meaning(text)}
    found: dict[tuple[int, str, str], Mutant] = {}
    made = (make(text, lines) for make in (_mutmut, _cosmic_ray, _left_out, _swapped))
    for operator, source in itertools.chain.from_iterable(made):
        meaning = _meaning(source)
        if meaning is None or meaning in seen:
            continue
        mutant = _told(lesson, operator, text, source)
        if mutant.line in lines:
            seen.add(meaning)
            while mutant.key in found:  # the same lines stand in the file twice
                mutant = Mutant(**{**vars(mutant), "after": mutant.after + " (again)"})
            found[mutant.key] = mutant
    return sorted(found.values(), key=lambda mutant: (mutant.line, mutant.after))


def _regions(text: str) -> set[int]:
    """The numbers of the lines that a student writes."""
    inside, lines = False, set()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() in (_BEGIN, _END):
            inside = line.strip() == _BEGIN
        elif inside:
            lines.add(number)
    return lines


@functools.lru_cache(maxsize=8)
def _meaning(source: str) -> str | None:
    """What Python makes of a source, comments and layout aside; None where it doesn't compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "harness.py", "exec", dont_inherit=True)
            return ast.dump(ast.parse(source))
        except (SyntaxError, ValueError):
            return None


def _told(lesson: int, operator: str, text: str, source: str) -> Mutant:
    old, new = text.split("\n"), source.split("\n")
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    parts = [codes for codes in matcher.get_opcodes() if codes[0] != "equal"]
    first, last = parts[0], parts[-1]
    before, after = old[first[1] : last[2]], new[first[3] : last[4]]
    return Mutant(lesson, first[1] + 1, operator, _flat(before), _flat(after), source)


def _flat(lines: list[str]) -> str:
    return " / ".join(filter(None, (re.sub(r"\s{2,}# .*$", "", line).strip() for line in lines)))


# --- mutmut -----------------------------------------------------------------------------------------


def _mutmut(text: str, lines: set[int]) -> Iterator[tuple[str, str]]:
    wrapper = MetadataWrapper(libcst.parse_module(text))
    module: Any = wrapper.module
    visitor = _Nodes(lines)
    wrapper.visit(visitor)
    for node in visitor.found:
        for kind, operator in mutators.mutation_operators:
            if isinstance(node, kind):
                for changed in operator(node):
                    name = f"mutmut/{operator.__name__.removeprefix('operator_')}"
                    yield name, module.deep_replace(node, changed).code


class _Nodes(libcst.CSTVisitor):  # type: ignore[misc,unused-ignore]
    """Gathers the nodes that begin on one of these lines."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, lines: set[int]) -> None:
        super().__init__()
        self.found: list[Any] = []
        self._lines = lines

    def on_visit(self, node: Any) -> bool:
        position = self.get_metadata(PositionProvider, node, None)
        if position is not None and position.start.line in self._lines:
            self.found.append(node)
        return True


# --- cosmic-ray -------------------------------------------------------------------------------------


def _cosmic_ray(text: str, lines: set[int]) -> Iterator[tuple[str, str]]:
    nodes = _Positions()
    nodes.walk(cosmic_ray_ast.get_ast(text))
    for name in cosmic_ray.plugins.operator_names():
        if name in _NEEDS_ARGUMENTS:
            continue
        operator = cosmic_ray.plugins.get_operator(name)()
        places = [place for node in nodes.found for place in operator.mutation_positions(node)]
        for occurrence, (begin, _) in enumerate(places):
            if begin[0] in lines:
                source = mutating.mutate_code(text, operator, occurrence)
                yield f"cosmic-ray/{name.removeprefix('core/')}", source


class _Positions(cosmic_ray_ast.Visitor):  # type: ignore[misc,unused-ignore]
    """Gathers all nodes in the order in which cosmic-ray numbers its mutations."""

    def __init__(self) -> None:
        self.found: list[Any] = []

    def visit(self, node: Any) -> Any:
        self.found.append(node)
        return node


# --- statements -------------------------------------------------------------------------------------


def _left_out(text: str, lines: set[int]) -> Iterator[tuple[str, str]]:
    """Without one statement: a simple one becomes `pass`, a compound one goes with all that is in it."""
    rows = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and node.lineno in lines and not _is_docstring(node):
            first, last = _rows_of(node)
            indent = rows[first][: len(rows[first]) - len(rows[first].lstrip())]
            yield "statement left out", "\n".join([*rows[:first], f"{indent}pass", *rows[last:]])


def _swapped(text: str, lines: set[int]) -> Iterator[tuple[str, str]]:
    """With a statement and the one after it in the other order."""
    rows = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", [])
        for one, two in itertools.pairwise(body if isinstance(body, list) else []):
            if {one.lineno, two.lineno} <= lines and _order_counts(one, two):
                (a, b), (c, d) = _rows_of(one), _rows_of(two)
                swapped = [*rows[:a], *rows[c:d], *rows[b:c], *rows[a:b], *rows[d:]]
                yield "statements swapped", "\n".join(swapped)


def _order_counts(one: ast.stmt, two: ast.stmt) -> bool:
    """Whether it may matter which comes first: not for definitions, docstrings, or two plain settings."""
    if isinstance(one, ast.Assign) and isinstance(two, ast.Assign):
        targets = [ast.unparse(target) for target in (*one.targets, *two.targets)]
        return any(
            ast.unparse(each).count(name) for each in (one.value, two.value) for name in targets
        )
    return not any(isinstance(each, ast.FunctionDef) or _is_docstring(each) for each in (one, two))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _rows_of(node: ast.stmt) -> tuple[int, int]:
    """The rows of a statement, decorators included: from the first to before the second, from 0."""
    assert node.end_lineno is not None
    above = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in above)]) - 1, node.end_lineno
