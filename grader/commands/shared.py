"""What commands have in common: exit status, an option, a word on standard error."""

from __future__ import annotations

import enum

import click


class Exit(enum.IntEnum):
    """What the exit status says."""

    PASSED = 0
    NOT_PASSED = 1
    USAGE = 2
    GRADER = 3
    INTERRUPTED = 130
    TERMINATED = 143


lessons_option = click.option(
    "--lessons",
    "folders",
    multiple=True,
    type=click.Path(),
    envvar="LAB_CHECK_LESSONS",
    help="A folder with more lesson folders, beside the built-in ones.",
)


def warn(text: str) -> None:
    """Say something on standard error, in a way that no terminal and no pipeline obeys."""
    from grader.render.escaping import visible  # noqa: PLC0415

    # A name is the student's, and a pipeline obeys what stands in its log.
    told = visible(text).replace("##[", "# #[").replace("::", ": :")
    click.echo(f"lab_check: {told}", err=True)
