"""A container as Gradescope would make one: the base image with only Python, root, the bundle unpacked."""

from __future__ import annotations

import contextlib
import io
import json
import tarfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader import lessons
from grader.bundle import gradescope
from grader.rooms import image
from grader.rooms.engine import API_S, Engine, remove

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LESSON = 10
SUBMISSION = "/autograder/submission"
METADATA = json.dumps({"users": [{"name": "Ada", "email": "ada@example.org"}]}).encode()


@dataclass(frozen=True)
class Place:
    """One container, with what a test does to it."""

    api: Any
    id: str

    def put(self, files: Mapping[str, bytes], folder: str = "/", mode: int = 0o644) -> None:
        """Put files below `folder`; a value that begins with `-> ` is a link."""
        self.api.put_archive(self.id, folder, tar(files, mode))

    def hand_in(self, files: Mapping[str, bytes]) -> None:
        """Put a submission where the platform does, in place of the last one."""
        self.do("rm", "-rf", SUBMISSION)
        self.do("mkdir", "-p", SUBMISSION)
        self.put(files, SUBMISSION)

    def do(self, *command: str, user: str = "0") -> tuple[int, str]:
        """Run a command; gives exit status and everything it printed."""
        made = self.api.exec_create(self.id, list(command), user=user)["Id"]
        printed = self.api.exec_start(made)
        return self.api.exec_inspect(made)["ExitCode"], printed.decode("utf-8", "replace")

    def grade(self) -> tuple[int, dict[str, Any]]:
        """As the platform does for each submission; gives the exit status and results.json."""
        status, printed = self.do("/autograder/run_autograder")
        there, names = self.do("ls", "/autograder/results")
        assert (there, names.split()) == (0, ["results.json"]), printed
        return status, json.loads(self.do("cat", "/autograder/results/results.json")[1])


@contextlib.contextmanager
def place() -> Iterator[Place]:
    """A container with a bundle in it. No network, and nothing installed; setup.sh has not been run."""
    engine = Engine()
    with engine.client(API_S) as api:
        host = api.create_host_config(network_mode="none", init=True)
        made = api.create_container(
            image.status(engine=engine).base,
            ["sleep", "600"],
            user="0",
            network_disabled=True,
            host_config=host,
            labels={"lab_check.test": "bundle"},
        )["Id"]
        try:
            api.start(made)
            here = Place(api, made)
            unpack(here)
            yield here
        finally:
            remove(api, made)


def unpack(here: Place) -> None:
    """As `unzip` and the platform's own harness do: modes from the zip, run_autograder copied."""
    data = gradescope.build(lessons.find(LESSON), seed=None, total_s=60.0)
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        files = {entry.filename: bundle.read(entry) for entry in bundle.infolist()}
        modes = {entry.filename: entry.external_attr >> 16 & 0o777 for entry in bundle.infolist()}
    for name in ("source", "submission", "results"):
        here.do("mkdir", "-p", f"/autograder/{name}")
    for mode in set(modes.values()):
        here.put({n: d for n, d in files.items() if modes[n] == mode}, "/autograder/source", mode)
    here.put({"run_autograder": files["run_autograder"]}, "/autograder", 0o755)
    here.put({"submission_metadata.json": METADATA}, "/autograder")


def tar(files: Mapping[str, bytes], mode: int) -> bytes:
    """Files as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.mode = mode
            if data.startswith(b"-> "):
                entry.type, entry.linkname = tarfile.SYMTYPE, data[3:].decode()
            else:
                entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()
