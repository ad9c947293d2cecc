"""The image that both rooms are made of: built without a network, and refused when it is stale."""

from __future__ import annotations

import contextlib
import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader import __version__
from grader.errors import RoomError, UsageError
from grader.rooms import packing
from grader.rooms.engine import Engine, image_help

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Two versions of the grader on one machine each need an image of their own.
IMAGE = os.environ.get("LAB_CHECK_IMAGE") or "lab-check-room"
DEFAULT_BASE = "python:3.13-slim"
DIGEST, VERSION, PACKAGES, BASE = (
    "lab_check.digest",
    "lab_check.version",
    "lab_check.packages",
    "lab_check.base",
)
_BUILD_S = 600.0


@dataclass(frozen=True)
class ImageStatus:
    """What there is. `id` is None where there is no image; `fits` says whether rooms can be made of it.

    `message` is one sentence; `help` what to do where it does not fit. `packages` are the versions of
    pytest and what it needs, `base` and `version` what the image was made of and by.
    """

    name: str
    id: str | None
    fits: bool
    message: str
    help: str = ""
    version: str = ""
    base: str = ""
    packages: tuple[str, ...] = ()
    size: int = 0  # bytes


def status(name: str = IMAGE, engine: Engine | None = None) -> ImageStatus:
    """What image there is by that name, and whether it fits this version of the grader.

    Raises:
        RoomError: no engine answers.
    """
    engine = engine or Engine()
    found = _inspect(engine, name)
    if found is None:
        return ImageStatus(name, None, False, f"There is no image {name} yet.", image_help())
    labels = (found.get("Config") or {}).get("Labels") or {}
    known = {
        "version": labels.get(VERSION, ""),
        "base": labels.get(BASE, ""),
        "packages": tuple(_packages(labels)),
        "size": int(found.get("Size", 0)),
    }
    image_id = str(found["Id"])
    if DIGEST not in labels:
        message = f"The image {name} was not made by lab_check."
        return ImageStatus(name, image_id, False, message, image_help(stale=True), **known)
    if labels[DIGEST] != packing.digest():
        message = f"The image {name} is stale: it was made by another version of lab_check."
        return ImageStatus(name, image_id, False, message, image_help(stale=True), **known)
    return ImageStatus(name, image_id, True, f"The image {name} fits.", **known)


def fitting(engine: Engine, name: str = IMAGE) -> str:
    """The id of the image by that name, if rooms can be made of it.

    Raises:
        RoomError: it is missing or stale; says the command that mends it. Reason "open".
    """
    found = status(name, engine)
    if not found.fits or found.id is None:
        raise RoomError(found.message, reason="open", help=found.help)
    return found.id


def build(
    base: str = DEFAULT_BASE,
    *,
    name: str = IMAGE,
    pull: bool = False,
    say: Callable[[str], None] = lambda _: None,
    engine: Engine | None = None,
) -> ImageStatus:
    """Build the image. Inside the build there is no network; what goes in is collected here.

    Args:
        base: an image with Python 3.11 or newer as `python3`.
        name: what to call the result. The last one of that name goes, if it was ours and nothing uses it.
        pull: fetch the base from its registry where it is not there; never done unasked.
        say: told each line of the engine's progress.
        engine: where to build.

    Raises:
        RoomError: the engine does not answer, or can't build; reason "open".
        UsageError: the base is not there, or is not fit to be one.
    """
    engine = engine or Engine()
    if pull and _inspect(engine, base) is None:
        _pull(engine, base, say)
    _check_base(engine, base)
    last = status(name, engine)
    labels = {
        DIGEST: packing.digest(),
        VERSION: __version__,
        BASE: base,
        PACKAGES: " ".join(f"{name}=={number}" for name, number in packing.versions().items()),
    }
    with engine.client(_BUILD_S) as api:
        steps = api.build(
            fileobj=io.BytesIO(packing.context(base, labels)),
            custom_context=True,
            tag=name,
            network_mode="none",
            pull=False,
            rm=True,
            forcerm=True,
            decode=True,
            use_config_proxy=False,
        )
        for step in steps:
            _note(step, base, say)
    built = status(name, engine)
    if last.version and last.id != built.id:
        _discard(engine, last)
    return built


def _check_base(engine: Engine, base: str) -> None:
    """Raise a UsageError where there is no such image, or it can't be built on."""
    found = _inspect(engine, base)
    if found is None:
        raise UsageError(
            f"The base image {base} is not on this machine, and nothing is pulled unasked.",
            help=f"Fetch it with `docker pull {base}`, or name another with --base.",
        )
    if (found.get("Config") or {}).get("Volumes"):
        raise UsageError(
            f"The base image {base} declares a volume, which would be a place to write to.",
            help="Name another base with --base.",
        )


def _discard(engine: Engine, image: ImageStatus) -> None:
    import docker  # noqa: PLC0415

    with engine.client() as api, contextlib.suppress(docker.errors.APIError):  # somebody uses it
        api.remove_image(image.id)


def _note(step: Mapping[str, Any], base: str, say: Callable[[str], None]) -> None:
    """Pass on one line of a build's progress, or raise what went wrong."""
    text = str(step.get("stream") or step.get("status") or "").strip()
    if "LAB_CHECK: " in text:
        raise UsageError(
            f"{base} can't be a base: {text.partition('LAB_CHECK: ')[2]}",
            help="Name another base with --base.",
        )
    if text:
        say(text)
    if "error" in step:
        error = str(step["error"])
        if "python3" in error and "not found" in error:
            raise UsageError(
                f"{base} can't be a base: it has no python3.", help="Name another with --base."
            )
        raise RoomError(
            f"The image can't be built: {error[:300]}",
            reason="open",
            help="Look at the lines above; `lab_check doctor` says how the engine is.",
        )


def _pull(engine: Engine, base: str, say: Callable[[str], None]) -> None:
    repository, _, tag = base.partition("@") if "@" in base else base.rpartition(":")
    if not repository or "/" in tag:
        repository, tag = base, "latest"
    with engine.client(_BUILD_S) as api:
        for step in api.pull(repository, tag=tag, stream=True, decode=True):
            _note(step, base, say)


def _inspect(engine: Engine, name: str) -> dict[str, Any] | None:
    import docker  # noqa: PLC0415

    with engine.client() as api:
        try:
            found: dict[str, Any] = api.inspect_image(name)
        except docker.errors.ImageNotFound:
            return None
        return found


def _packages(labels: Mapping[str, str]) -> list[str]:
    return labels.get(PACKAGES, "").split()
