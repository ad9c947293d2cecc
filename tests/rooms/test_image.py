"""The image: what goes in, how it is built, and when it is refused."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING, Any

import docker
import pytest

from grader.errors import LabCheckError, RoomError, UsageError
from grader.records import Limits
from grader.rooms import engine as engines
from grader.rooms import image, packing
from grader.rooms.container import ContainerRooms
from grader.rooms.engine import Engine
from grader.rooms.flags import container_flags

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "lab-check-test-image"


def packed() -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(packing.context("base", {"a": "b"}))) as tar:
        found = {}
        for entry in tar:
            file = tar.extractfile(entry)
            assert file is not None
            found[entry.name] = file.read()
        return found


def test_nothing_of_a_lesson_goes_in() -> None:
    files = packed()
    assert {"Dockerfile", "lab_check/compile.py"} < set(files)
    for name in files:
        assert name.endswith(".py") or name == "Dockerfile"
        assert not any(word in name for word in ("hidden_tests", "lesson", "starters", "damaged"))
    ours = {name for name in files if name.startswith("lab_check/grader/")}
    parts = {name.split("/")[2] for name in ours}
    assert parts == {
        "__init__.py",
        "errors.py",
        "wire.py",
        "carried.py",
        "program.py",
        "inside",
        "lab",
    }
    assert not any(b"newest-wins" in files[name] for name in ours)


def test_pytest_goes_in_as_it_is_installed_here() -> None:
    files = packed()
    for name in ("pytest/__init__.py", "pluggy/__init__.py", "pytest_jsonreport/plugin.py"):
        assert f"lab_check/site/{name}" in files
    assert packing.versions()["pytest"] == pytest.__version__


def test_the_same_content_is_the_same_context() -> None:
    assert packing.context("base", {}) == packing.context("base", {})
    assert packing.context("base", {}) != packing.context("other", {})
    assert b"FROM base\n" in packed()["Dockerfile"]
    assert b'LABEL "a"="b"' in packed()["Dockerfile"]


def test_the_digest_is_of_what_runs_in_a_room(monkeypatch: pytest.MonkeyPatch) -> None:
    before = packing.digest()
    assert packing.digest() == before
    files = [*packing._our_files(), ("inside/new.py", b"")]
    monkeypatch.setattr(packing, "_our_files", lambda: files)
    assert packing.digest() != before


def test_what_is_needed_has_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    packing.versions.cache_clear()
    monkeypatch.setattr(packing, "_NEEDED", {"nothing_of_that_name": "nothing-of-that-name"})
    with pytest.raises(LabCheckError, match="is not installed here") as told:
        packing.versions()
    assert "pip install" in told.value.help
    packing.versions.cache_clear()


@pytest.mark.parametrize(
    ("step", "error", "says"),
    [
        ({"stream": "LAB_CHECK: the base has Python 3.9; …"}, UsageError, "has Python 3.9"),
        ({"error": 'exec: "python3": executable file not found'}, UsageError, "has no python3"),
        ({"error": "no space left on device"}, RoomError, "can't be built"),
    ],
)
def test_a_build_that_fails_says_why(
    step: dict[str, str], error: type[LabCheckError], says: str
) -> None:
    with pytest.raises(error, match=says) as told:
        image._note(step, "base", lambda _: None)
    assert told.value.help


# --- with an engine --------------------------------------------------------------------------------


@pytest.fixture
def name() -> Iterator[str]:
    yield NAME
    with Engine().client() as api:
        for tag in (NAME, f"{NAME}-base"):
            if api.images(tag):
                api.remove_image(tag, force=True)


@pytest.mark.docker
def test_an_image_that_is_missing(name: str) -> None:
    found = image.status(name)
    assert (found.id, found.fits, found.help) == (None, False, "Build it: lab_check image build.")
    with pytest.raises(RoomError, match="There is no image") as told:
        ContainerRooms(name)
    assert (told.value.reason, told.value.help) == ("open", found.help)


@pytest.mark.docker
def test_an_image_of_another_version_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    built = image.build(image.status().base, name=name, say=lines.append)
    assert built.fits
    assert lines
    assert built.packages == image.status().packages
    monkeypatch.setattr(packing, "digest", lambda: "another")
    found = image.status(name)
    assert not found.fits
    assert "stale" in found.message
    with pytest.raises(RoomError, match="stale") as told:
        ContainerRooms(name)
    assert told.value.help == "Build it again: lab_check image build."


@pytest.mark.docker
def test_the_image_before_goes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "digest", lambda: "one")
    before = image.build(image.status().base, name=name)
    assert image.build(image.status().base, name=name).id == before.id  # nothing is new
    monkeypatch.setattr(packing, "digest", lambda: "another")
    assert image.build(image.status().base, name=name).id != before.id
    with Engine().client() as api, pytest.raises(docker.errors.ImageNotFound):
        api.inspect_image(before.id)


@pytest.mark.docker
def test_the_image_before_stays_where_it_is_used(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "digest", lambda: "one")
    built = image.build(image.status().base, name=name)
    assert built.id
    with Engine().client() as api:
        user = engines.create(api, built.id, container_flags("stage", Limits(), labels={}))
        try:
            monkeypatch.setattr(packing, "digest", lambda: "another")
            assert image.build(image.status().base, name=name).id != built.id
            assert api.inspect_image(built.id)["Id"] == built.id
        finally:
            engines.remove(api, user)
            api.remove_image(built.id)


@pytest.mark.docker
def test_an_image_of_somebody_elses_is_refused(name: str) -> None:
    base(f"{name}-base")
    found = image.status(f"{name}-base")
    assert not found.fits
    assert "not made by lab_check" in found.message


@pytest.mark.docker
def test_nothing_is_pulled_unasked(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def pull(*_: Any, **__: Any) -> None:
        raise AssertionError("pulled")

    monkeypatch.setattr(docker.APIClient, "pull", pull)
    with pytest.raises(UsageError, match="nothing is pulled unasked") as told:
        image.build("lab-check-no-such-base:1", name=name)
    assert "--base" in told.value.help


@pytest.mark.docker
def test_a_base_without_python(name: str) -> None:
    base(f"{name}-base")
    with pytest.raises(UsageError, match="no python3"):
        image.build(f"{name}-base", name=name)


@pytest.mark.docker
def test_a_base_with_a_volume(name: str) -> None:
    base(f"{name}-base", "VOLUME /data")
    with pytest.raises(UsageError, match="declares a volume"):
        image.build(f"{name}-base", name=name)


def base(name: str, *changes: str) -> None:
    """Import an image with one empty file in it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("file"))
    with Engine().client() as api:
        api.import_image_from_data(
            buffer.getvalue(), repository=name, changes=list(changes) or None
        )
