"""`lab_check image` and `lab_check doctor`."""

from __future__ import annotations

import click

from grader.commands.shared import Exit


@click.group()
def image() -> None:
    """The container image that both rooms are made of."""


@image.command("build")
@click.option("--base", metavar="IMAGE", help="Any with Python 3.11 or newer; python:3.13-slim.")
@click.option("--pull", is_flag=True, help="Fetch the base if it is not on this machine.")
@click.option("--quiet", "-q", is_flag=True, help="Say only what came of it.")
def build_image(*, base: str | None, pull: bool, quiet: bool) -> None:
    """Build the image. Uses no network but for --pull."""
    from grader.rooms import image as images  # noqa: PLC0415

    say = (lambda _: None) if quiet else click.echo
    found = images.build(base or images.DEFAULT_BASE, pull=pull, say=say)
    click.echo(f"{found.message} {found.id}")


@image.command("status")
def image_status() -> None:
    """Say what image there is, and whether it fits. Exit status 3 where it doesn't."""
    from grader.rooms import image as images  # noqa: PLC0415

    found = images.status()
    click.echo(found.message + (f" {found.help}" if found.help else ""))
    if found.id:
        click.echo(f"{found.id}\nbase {found.base}, lab_check {found.version}")
        click.echo(f"{found.size / 1e6:.0f} MB, {', '.join(found.packages)}")
    raise SystemExit(Exit.PASSED if found.fits else Exit.GRADER)


@click.command()
@click.option("--sweep", is_flag=True, help="Only remove containers that nobody owns any more.")
def doctor(*, sweep: bool) -> None:
    """Examine engine and image, and trip each limit for real. Exit status 3 where one doesn't hold."""
    from grader.rooms import doctor as doctors  # noqa: PLC0415

    if sweep:
        removed = doctors.sweep()
        click.echo(f"removed {len(removed)} container(s)")
        return
    well = True
    for finding in doctors.examine():
        word = {True: "ok", False: "BAD", None: "?"}[finding.good]
        click.echo(f"{word:>4}  {finding.name:<14} {finding.message}")
        if finding.help:
            click.echo(f"{'':>22}{finding.help}")
        well &= finding.good is not False
    raise SystemExit(Exit.PASSED if well else Exit.GRADER)
