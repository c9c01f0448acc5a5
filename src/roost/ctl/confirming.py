"""What cannot be taken back is done when its label is typed, as in the web console."""

import sys
from collections.abc import Mapping

import click

from roost.app.table import line
from roost.commands.operations import Command
from roost.commands.written import fill
from roost.ctl.errors import WRONG_USE, CommandError
from roost.ctl.profiles import Profile
from roost.ctl.waiting import view

_LABELS = ("label", "username", "domain")


def confirm(profile: Profile, command: Command, arguments: Mapping[str, str]) -> None:
    """Ask; CommandError where nobody can answer, or something else is answered."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise CommandError("this cannot be taken back: say --yes", WRONG_USE)
    label = _label(profile, command, arguments)
    typed = str(click.prompt(f"{command.help}\nType {line(label)} to go on", err=True))
    if typed.strip() != label:
        raise CommandError("nothing was done", WRONG_USE)


def _label(profile: Profile, command: Command, arguments: Mapping[str, str]) -> str:
    """The label of the thing; its id where it has none, and yes where it has neither."""
    if command.view is not None:
        record = view(profile, fill(command, command.view, arguments))
        for name in _LABELS:
            if isinstance(text := record.get(name), str) and text:
                return text
    return next(reversed(list(arguments.values())), "yes")
