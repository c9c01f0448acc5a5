"""`roostctl`: the API as a command line."""

import io
import sys

import click

from roost.commands import names
from roost.commands.operations import Command, find_command

_INTERRUPTED = 128 + 2
"""128 and the number of SIGINT (POSIX shells)."""
_SHOWN = 60
"""Characters of a group's commands in the list of groups."""


class _Group(click.Group):
    """The commands of one group of operations, which are made when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(names()[self.name or ""])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = find_command(f"{self.name} {cmd_name.replace('_', '-')}")
        if found is None:
            return None
        from roost.ctl.command import make

        return make(found, _perform)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, find_command(f"{self.name} {name}")) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.help) for name, each in found if each is not None])


def _perform(command: Command, given: dict[str, object]) -> None:
    """What completes a command, or shows its help, needs nothing of this."""
    from roost.ctl.call import perform

    perform(command, given)


class _Root(click.Group):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What a terminal, or a file, has no characters for is escaped there."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Ctrl-C ends it as it ends other programs: shells stop their scripts at 130."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(err=True)
            ctx.exit(_INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["auth", "completion", *(name for name, own in names().items() if own)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "auth":
            from roost.ctl.auth import auth

            return auth
        if cmd_name == "completion":
            return completion
        name = cmd_name.replace("_", "-")
        if name not in names():
            return None
        return _Group(name, help=f"Operations on {name.replace('-', ' ')}.")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each group with as many of its commands as there is room for."""
        rows = [
            ("auth", "login, logout, list, use, status"),
            ("completion", "what completes commands in a shell"),
        ]
        rows += [(name, _short(", ".join(own))) for name, own in names().items() if own]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rpartition(',')[0]}, …"


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print what completes commands in a shell. It belongs into one of its start-up files."""
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(main, {}, "roostctl", "_ROOSTCTL_COMPLETE").source())


@click.group(cls=_Root)
@click.version_option(package_name="roost")
def main() -> None:
    """Use a Roost cloud: `roostctl auth login` first, or set ROOST_URL and ROOST_TOKEN."""
