"""A name that is missing, and one in the file that may have been meant: misspelled, or in another place."""

from __future__ import annotations

import difflib
import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_BEGINS = re.compile(r"([ \t]*)(?:async +)?(?:def|class) +(\w{1,80})\b")
_ASSIGNS = re.compile(r"(\w{1,80})[ \t]*(?::[^=]{1,80})?=(?!=)")
_ALIKE = 0.8  # of difflib's ratio; at 0.75, two names that only share a word are alike
_DEEP = 4  # classes and functions around another
_LONG = 80  # characters of a name
_ENOUGH = 500  # names that are compared: the file is anybody's


@functools.lru_cache(maxsize=8)
def defined(text: str) -> Mapping[str, int]:
    """The functions, classes and names at the top level of a file, dotted, and the lines they begin at.

    Looked for line by line, as far in as they are indented: a file that is off is read as well as it goes.
    """
    found: dict[str, int] = {}
    around: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if begins := _BEGINS.match(line):
            indent = len(begins[1].expandtabs())
            around = [(at, name) for at, name in around if at < indent][:_DEEP]
            around.append((indent, begins[2]))
            found[".".join(name for _, name in around)] = number
        elif assigns := _ASSIGNS.match(line):
            found[assigns[1]] = number
    return found


def meant(name: str, here: Mapping[str, int], taken: Collection[str]) -> str:
    """The name that may have been meant by `name`, which is missing; "" where none is like it.

    Args:
        name: dotted, as in "Harness.prompt".
        here: what the file defines; see `defined`.
        taken: names that are there for something else.
    """
    if len(name) > _LONG:
        return ""
    free = [each for each in here if each not in taken][:_ENOUGH]
    parent, _, last = name.rpartition(".")
    if parent and parent not in here:
        return meant(parent, here, taken)
    moved = next((each for each in free if each.rpartition(".")[2] == last), "")
    if moved:
        return moved
    beside = {each.lower(): each for each in free if each.rpartition(".")[0] == parent}
    close = difflib.get_close_matches(name.lower(), beside, n=1, cutoff=_ALIKE)
    return beside[close[0]] if close else ""
