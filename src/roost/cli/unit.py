"""`roost unit`."""

import shutil
import sys
from importlib.resources import files
from pathlib import Path

import click

from roost.errors import OperatorError

_WRITTEN = "/usr/local/bin/roost"
"""The program in the files as they are."""


@click.command()
@click.argument("name", type=click.Choice(("serve", "worker", "simulated")))
def unit(name: str) -> None:
    """Print the unit of systemd for a server or a worker.

    It starts the program that prints it: run it where Roost is installed to stay.
    """
    text = files("roost.app").joinpath("units", f"{name}.service").read_text()
    try:
        click.echo(text.replace(_WRITTEN, _quoted(_program())), nl=False)
    except OperatorError as error:
        raise click.ClickException(str(error)) from error


def _program() -> Path:
    """The command by its name, not what a link of it leads to: that changes with upgrades.

    Raises OperatorError.
    """
    found = shutil.which(sys.argv[0])
    if found is None or Path(found).name != "roost":
        found = shutil.which("roost")
    if found is None:
        raise OperatorError("the command roost is not installed where programs are looked for")
    return Path(found).absolute()


def _quoted(program: Path) -> str:
    """For ExecStart= (systemd.service, COMMAND LINES).

    Raises OperatorError.
    """
    text = str(program)
    if not text.isprintable() or any(sign in text for sign in "\"'\\$"):
        raise OperatorError(f"systemd cannot start {text!r}: install Roost elsewhere")
    text = text.replace("%", "%%")
    return f'"{text}"' if " " in text else text
