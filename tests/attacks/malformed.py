"""Files that are no usual file, or no usual Python: what is handed in before anything in it can run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.attacks.suite import Attack, base_of

if TYPE_CHECKING:
    from pathlib import Path

_DEEP = 100_000
# What is handed in, and the kind of problem that it has to be; "" where it is as good as any.
_TEXTS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not_a_file"),
    "only_blanks": (b" \n\t\n", "not_a_file"),
    "not_utf_8": (b"x = '\xff\xfe'\n", "encoding"),
    "utf_16": ("x = 1\n".encode("utf-16"), "encoding"),
    "utf_16_by_its_own_word": ("# coding: utf-16\nx = 1\n".encode("utf-16"), "encoding"),
    "unknown_coding": (b"# -*- coding: nobody-knows -*-\nx = 1\n", "encoding"),
    "coding_that_is_no_text": (b"# coding: zlib\nx = 1\n", "encoding"),
    "nul": (b"x = 1\n\0\n", "syntax_error"),
    "no_python": (b"This is an essay about harnesses.\n", "syntax_error"),
    "a_zip": (b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(256)) * 20, "encoding"),
    "bytecode": (b"\xcb\r\r\n" + b"\xe3" * 400, "encoding"),
    "tabs_and_spaces": (b"if 1:\n\tx = 1\n        y = 1\n  z = 1\n", "syntax_error"),
    "missing_module": (b"import nothing_of_that_name\n", "import_error"),
    "own_helper_file": (b"from helpers import repair\n", "import_error"),
    "asks_at_import": (b"name = input('your name? ')\n", "import_error"),
    "recursion_at_import": (b"def f():\n    f()\n\n\nf()\n", "import_error"),
    "raises_at_import": (b"raise RuntimeError('\\x1b[2J\\ud800')\n", "import_error"),
    "brackets": (b"x = " + b"(" * _DEEP + b")" * _DEEP, "syntax_error"),
    "minus_signs": (b"x = " + b"-" * _DEEP + b"1\n", "syntax_error|load_crash"),
    "attributes": (b"x = a" + b".a" * _DEEP + b"\n", "syntax_error|load_crash|import_error"),
    "additions": (b"x = 1" + b"+a" * _DEEP + b"\n", "syntax_error|load_crash|import_error"),
    "lambdas": (b"x = " + b"lambda:" * _DEEP + b"1\n", "syntax_error|load_crash"),
    "nested_functions": (
        b"".join(b" " * n + b"def f():\n" for n in range(150)) + b" " * 150 + b"pass\n",
        "syntax_error",
    ),
    "power_when_compiled": (b"x = 9**9**9**9\n", "load_timeout|import_error"),
    "power_of_texts": (b"x = 'x' * 10**12\n", "import_error"),
    "a_line_of_a_megabyte": (
        b"x = '" + b"y" * 1_000_000 + b"'\nraise KeyError(x)\n",
        "import_error",
    ),
    "form_feeds_and_comments": (
        b"\f# " + "ünï\u202ecödé".encode() + b"\n" * 5000 + b"1 +\n",
        "syntax_error",
    ),
}


def malformed(folder: Path) -> list[Attack]:
    """Make the files and say what is due of each."""
    right = base_of("right", 10).encode()
    found = []

    def due(name: str, path: Path, problem: str = "") -> None:
        base = "" if problem else "right"
        found.append(Attack(f"malformed/{name}", base=base, problem=problem, path=path))

    def file(name: str, data: bytes, problem: str = "", called: str = "harness.py") -> None:
        (folder / name).mkdir()
        (folder / name / called).write_bytes(data)
        due(name, folder / name / called, problem)

    for name, (data, problem) in _TEXTS.items():
        file(name, data, problem)
    file("too_large", b"#", "too_large")
    os.truncate(folder / "too_large" / "harness.py", 50 << 20)  # without a block on the disk
    file("just_too_large", right + b"#" * ((1 << 20) + 1 - len(right)), "too_large")
    file("just_not_too_large", right + b"#" * ((1 << 20) - len(right)))
    # Right answers, in files that are unusual.
    file("byte_order_mark", b"\xef\xbb\xbf" + right)
    file("latin_1", b"# coding: latin-1\n# \xe4\xf6\xfc\n" + right)
    file("windows_newlines", right.replace(b"\n", b"\r\n"))
    file("old_mac_newlines", right.replace(b"\n", b"\r"))
    file("no_newline_at_the_end", right.rstrip())
    file("surrogates_as_escapes", right + b'\nX = "\\ud800"\n')
    file("name_with_spaces", right, called="my harness (1).py")
    file("name_with_a_newline", right, called="har\nness\x1b[2J.py")
    file("name_with_a_dash", right, called="-harness.py")
    file("name_like_markup", right, called="<b>::error::`x`|.py")
    file("name_that_is_no_text", right, called=os.fsdecode(b"harness\xff.py"))
    # What is no file at all.
    (folder / "places").mkdir()
    due("folder", folder / "places", "not_a_file")
    due("nothing_there", folder / "places" / "nothing.py", "not_a_file")
    due("name_too_long", folder / "places" / ("x" * 5000), "not_a_file")
    due("name_with_a_nul", folder / "places" / "har\0ness.py", "not_a_file")
    fifo = folder / "places" / "fifo.py"
    os.mkfifo(fifo)
    due("fifo", fifo, "not_a_file")
    due("device", type(folder)("/dev/zero"), "not_a_file")
    for name, target, problem in (
        ("link_to_a_right_answer", folder / "byte_order_mark" / "harness.py", ""),
        ("link_to_nothing", folder / "places" / "nothing.py", "not_a_file"),
        ("link_to_itself", folder / "places" / "link_to_itself.py", "not_a_file"),
    ):
        link = folder / "places" / f"{name}.py"
        link.symlink_to(target)
        due(name, link, problem)
    return found
