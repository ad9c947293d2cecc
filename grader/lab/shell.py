"""A shell that runs nothing: it knows one command, ``pytest``, and what that prints."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .workspace import Workspace

__all__ = ["Shell"]

_ITEMS = 2992
_FAILING = 2017  # which item fails is of no matter
_COMMAND_NOT_FOUND = 127


class Shell:
    """Runs command lines, or rather prints what they would have printed (page 9, "Which one?").

    Args:
        ws: the workspace that the tests are about.
        tests_pass_when: asked with the workspace each time that ``pytest`` runs; the tests pass
            when the answer is true. Without it they always fail.
    """

    def __init__(
        self, ws: Workspace, tests_pass_when: Callable[[Workspace], object] | None = None
    ) -> None:
        """Remember the workspace and the question."""
        self._ws = ws
        self._tests_pass_when = tests_pass_when

    def run(self, command: str) -> tuple[str, int]:
        """Run one command line.

        ``pytest``, with any arguments, prints 3,000 lines and exits 1 when it fails (page 7, the
        first cell), and three lines and 0 when it passes (page 9, the last long cell). Any other
        command is not found, exit status 127: the pages leave that open.

        Returns:
            What it printed on both streams, and its exit status.

        Raises:
            TypeError: the command is not a string.
        """
        if not isinstance(command, str):
            raise TypeError(f"a command is a string, not a value of type {type(command).__name__}")
        words = command.split()
        if not words:
            return "", 0
        if words[0] != "pytest":
            return f"sh: {words[0]}: command not found\n", _COMMAND_NOT_FOUND
        header = f"collected {_ITEMS} items\n\n"
        if self._tests_pass_when is not None and self._tests_pass_when(self._ws):
            return f"{header}===== {_ITEMS} passed =====\n", 0
        return header + _items() + _verdict(), 1


def _items() -> str:
    """One line an item, 39 bytes each: 50,000 bytes then end at line 1,283 from either side."""
    return "".join(
        f"tests/test_totals.py::test_{item:04} {'FAILED' if item == _FAILING else 'PASSED'}\n"
        for item in range(1, _ITEMS + 1)
    )


def _verdict() -> str:
    """Six lines, 159 to 197 bytes: the room that the last 1,283 lines leave for them."""
    return (
        f"_______________ test_{_FAILING} _______________\n"
        ">       assert total([1, 2, 3]) == 6\n"
        "E       assert 5 == 6\n"
        "\n"
        f"FAILED tests/test_totals.py::test_{_FAILING}\n"
        f"===== 1 failed, {_ITEMS - 1} passed =====\n"
    )
