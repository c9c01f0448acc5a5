"""Commands that are imported when they are used: all groups of the API take a second to import."""

import gc
import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import NamedTuple

import click


class Later(NamedTuple):
    """A command that is not imported yet; `help` is the first sentence of its own."""

    module: str
    help: str


def load(name: str) -> ModuleType:
    """Import a module. What modules make stays: to look for garbage among it takes a third of the
    time."""
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()


class LazyGroup(click.Group):
    """Commands of `later` are named like the functions of their modules."""

    later: Mapping[str, Later] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.later, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        later = self.later.get(cmd_name)
        if later is None:
            return super().get_command(ctx, cmd_name)
        command = getattr(load(later.module), cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What all of them do, without importing them."""
        rows = [(name, each.help) for name, each in self.later.items()]
        rows += [(name, each.get_short_help_str(limit=80)) for name, each in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
