"""Gradescope's submission_metadata.yml: who is behind which folder. A stranger's YAML, read as data only."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from grader.cohort.naming import tidy
from grader.cohort.people import Person
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.cohort.entries import Entry

METADATA = "submission_metadata.yml"
_MOST_BYTES = 8 << 20


def read(entry: Entry) -> dict[str, tuple[tuple[Person, ...], float | None]]:
    """Folder name -> its submitters, and when they handed in (seconds since 1970).

    Raises:
        UsageError: the file can't be had, is no YAML, or asks for more than data.
    """
    data = _load(entry)
    if not isinstance(data, dict):
        raise _unreadable("it is not a mapping of folders")
    told = {}
    for folder, about in data.items():
        if isinstance(about, dict):
            told[tidy(str(folder))] = (_people(str(folder), about), _when(about))
    return told


def _load(entry: Entry) -> Any:
    try:
        import yaml  # noqa: PLC0415 - only Gradescope needs it
    except ImportError as exc:
        raise UsageError(
            "Gradescope's metadata is YAML, and PyYAML is not installed.", help="pip install pyyaml"
        ) from exc
    if entry.path is None:
        raise _unreadable(entry.refused)
    if entry.size > _MOST_BYTES:
        raise _unreadable(f"it is larger than {_MOST_BYTES:,} bytes")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Both are safe loaders: a tag that would build an object is an error.
        return yaml.load(entry.path.read_bytes(), Loader=loader)  # noqa: S506
    except (yaml.YAMLError, OSError, ValueError, RecursionError) as exc:
        raise _unreadable(str(exc).replace("\n", " ") or type(exc).__name__) from exc


def _people(folder: str, about: dict[Any, Any]) -> tuple[Person, ...]:
    submitters = _field(about, "submitters")
    if not isinstance(submitters, list):
        return ()
    people = []
    for submitter in submitters:
        if isinstance(submitter, dict):
            name, sid, email = (_text(submitter, field) for field in ("name", "sid", "email"))
            # Two of one name and nothing else are two, so a name alone is no key.
            key = sid or email or tidy(folder)
            people.append(Person(key, name, tuple(filter(None, (sid, email))), email))
    return tuple(people)


def _when(about: dict[Any, Any]) -> float | None:
    value = _field(about, "created_at")
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip().replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    return None


def _field(about: dict[Any, Any], name: str) -> Any:
    """A field by its Ruby symbol, which YAML reads as a name with a colon, or without one."""
    return about.get(f":{name}", about.get(name))


def _text(about: dict[Any, Any], name: str) -> str:
    value = _field(about, name)
    plain = isinstance(value, (str, int)) and not isinstance(value, bool)
    return tidy(str(value)) if plain else ""


def _unreadable(reason: str) -> UsageError:
    return UsageError(
        f"{METADATA} can't be read: {reason}.",
        help="It says who handed in what. Mend it, or read the folders alone with --layout plain.",
    )
