"""`lab_check bundle gradescope --lesson N out.zip`."""

from __future__ import annotations

from pathlib import Path

import click

_SEED = "N|file"


@click.group()
def bundle() -> None:
    """Pack an autograder that a learning platform runs by itself."""


@bundle.command("gradescope")
@click.option("--lesson", type=int, required=True, help="The lesson's number.")
@click.option(
    "--seed",
    default="file",
    metavar=_SEED,
    show_default=True,
    help="What the tests' values are drawn from; file: each submission's own hash.",
)
@click.option(
    "--timeout", type=float, default=60.0, metavar="SECONDS", help="For the whole submission."
)
@click.option(
    "--lessons",
    "folders",
    multiple=True,
    type=click.Path(),
    envvar="LAB_CHECK_LESSONS",
    help="A folder with more lesson folders, beside the built-in ones.",
)
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False))
def gradescope(
    *, lesson: int, seed: str, timeout: float, folders: tuple[str, ...], out: Path
) -> None:
    """Write a Gradescope autograder for one lesson to the zip file OUT."""
    from grader import lessons  # noqa: PLC0415 - not for --help
    from grader.bundle import gradescope as packer  # noqa: PLC0415

    if seed != "file" and not seed.lstrip("-").isdecimal():
        raise click.BadParameter(f"{seed!r} is neither a whole number nor the word file")
    if timeout <= 0:
        raise click.BadParameter("--timeout takes a number of seconds above 0")
    chosen = lessons.find(lesson, folders)
    size = packer.write(out, chosen, seed=None if seed == "file" else int(seed), total_s=timeout)
    click.echo(f"wrote {out}: lesson {lesson}, {len(chosen.tests)} tests, {size / 1e6:.1f} MB")
