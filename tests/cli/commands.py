"""Every command there is, and a command line taken apart without carrying it out."""

from __future__ import annotations

import click

from grader.cli import cli


def leaves(group: click.Group = cli, name: str = "") -> list[tuple[str, click.Command]]:
    """Each command that does something, by what is typed for it."""
    found: list[tuple[str, click.Command]] = []
    for word, command in group.commands.items():
        path = f"{name} {word}".strip()
        if isinstance(command, click.Group):
            found += leaves(command, path)
        else:
            found.append((path, command))
    return found


def parsed(words: list[str]) -> tuple[str, dict[str, object]]:
    """Which command `words` mean, and its parameters.

    Raises:
        click.ClickException: they mean none, or not in this way.
    """
    command: click.Command = cli
    ctx = cli.make_context("lab_check", list(words))
    path: list[str] = []
    while isinstance(command, click.Group):
        args = [*ctx._protected_args, *ctx.args]
        name, found, rest = command.resolve_command(ctx, args)
        assert found is not None
        assert name is not None
        path.append(name)
        command, ctx = found, found.make_context(name, rest, parent=ctx)
    return " ".join(path), ctx.params
