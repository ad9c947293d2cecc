"""What goes into an image: our own modules, and pytest as it is installed here. Nothing of a lesson.

Everything is collected on this machine, so that a build needs no network. All of it is pure Python, so
that it runs on whatever Python the base image has.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import io
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import LabCheckError

if TYPE_CHECKING:
    import tarfile
    from collections.abc import Iterator, Mapping

_PACKAGE = Path(__file__).resolve().parent.parent
_OURS = (
    "__init__.py",
    "errors.py",
    "wire.py",
    "carried.py",
    "program.py",
    "inside/*.py",
    "lab/*.py",
)
# pytest, what it imports, and the reporter: import name -> the distribution that it comes with.
_NEEDED = {
    "pytest": "pytest",
    "_pytest": "pytest",
    "pluggy": "pluggy",
    "iniconfig": "iniconfig",
    "packaging": "packaging",
    "pytest_jsonreport": "pytest-json-report",
}
_IF_THERE = {"py": "pytest", "pygments": "pygments"}  # imported by some versions of pytest

# Runs in the build: refuses a Python that is too old, and compiles, because nothing can be written later.
# python:*-slim comes without the bytecode of its own library, which costs 0.2 s at every start.
_COMPILE = r"""
import compileall, re, sys, sysconfig
from pathlib import Path
from py_compile import PycInvalidationMode as Mode
if sys.version_info < (3, 11):
    sys.exit("LAB_CHECK: the base has Python %d.%d; 3.11 or newer is needed." % sys.version_info[:2])
here = str(Path(__file__).parent)
skip = re.compile(r"/(test|tests|idlelib|lib2to3|tkinter|turtledemo|ensurepip|site-packages|"
                  r"dist-packages|pydoc_data|config-[^/]*)/")
compileall.compile_dir(here, quiet=1, invalidation_mode=Mode.UNCHECKED_HASH)
compileall.compile_dir(sysconfig.get_path("stdlib"), quiet=2, rx=skip)
sys.path[:0] = [here, here + "/grader", here + "/site"]
import lab, grader.inside.stage, grader.inside.judge
"""


def digest() -> str:
    """Of everything of ours that runs in a room. An image with another one is stale."""
    seen = hashlib.sha256()
    for name, data in sorted(_our_files()):
        seen.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    return seen.hexdigest()


@functools.cache
def versions() -> Mapping[str, str]:
    """Which version of each package of others goes in.

    Raises:
        LabCheckError: one that is needed is not installed here.
    """
    import importlib.metadata  # noqa: PLC0415 - costs 20 ms, and is for building only

    found = {}
    for name, distribution in {**_NEEDED, **_IF_THERE}.items():
        if importlib.util.find_spec(name) is not None:
            found[distribution] = importlib.metadata.version(distribution)
        elif name in _NEEDED:
            raise LabCheckError(
                f"{distribution} is not installed here, so it can't go into an image.",
                help=f"python -m pip install {distribution}",
            )
    return found


def context(base: str, labels: Mapping[str, str]) -> bytes:
    """What the engine is given to build from, as a tar file; the same every time for the same content.

    Args:
        base: the image to build on.
        labels: of the image.
    """
    lines = [f"FROM {base}", "USER 0:0", "COPY lab_check /opt/lab_check"]
    lines += ['RUN ["python3", "-I", "-S", "/opt/lab_check/compile.py"]']
    lines += ["ENTRYPOINT []", 'CMD ["python3", "-V"]', "HEALTHCHECK NONE", "WORKDIR /"]
    lines += [f'LABEL "{name}"="{value}"' for name, value in labels.items()]
    import tarfile  # noqa: PLC0415 - for building only

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        _add(tar, "Dockerfile", "\n".join(lines).encode() + b"\n")
        _add(tar, "lab_check/compile.py", _COMPILE.encode())
        for name, data in sorted(_our_files()):
            _add(tar, f"lab_check/grader/{name}", data)
        for name, data in sorted(their_files()):
            _add(tar, f"lab_check/site/{name}", data)
    return buffer.getvalue()


def _our_files() -> Iterator[tuple[str, bytes]]:
    for pattern in _OURS:
        for path in _PACKAGE.glob(pattern):
            yield path.relative_to(_PACKAGE).as_posix(), path.read_bytes()


def their_files() -> Iterator[tuple[str, bytes]]:
    """The packages that a judge needs, as they are installed here: path in site-packages, and content."""
    for name in {**_NEEDED, **_IF_THERE}:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            for root in map(Path, spec.submodule_search_locations):
                for path in root.rglob("*.py"):
                    yield f"{name}/{path.relative_to(root).as_posix()}", path.read_bytes()
        elif spec is not None and spec.origin is not None:
            yield f"{name}.py", Path(spec.origin).read_bytes()


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tar.tarinfo(name)
    entry.size, entry.mode = len(data), 0o644
    tar.addfile(entry, io.BytesIO(data))
