"""`roost top`: how the cloud is at this moment."""

import asyncio
import contextlib
import shutil
import sys
from pathlib import Path

import click

from roost.app.operator.screen import to_screen
from roost.app.operator.top import Top, Watch
from roost.app.state import open_store
from roost.app.terminal import fields, to_json
from roost.cli.options import json_option, read_served_settings, run, state_option
from roost.settings import Settings

_HOME, _END_OF_LINE, _END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


@click.command()
@state_option
@click.option(
    "--interval",
    type=click.FloatRange(0.5, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two screens.",
)
@click.option("--once", is_flag=True, help="Print one screen.")
@json_option
def top(state: Path | None, interval: float, once: bool, as_json: bool) -> None:
    """How the cloud is at this moment. Again and again, until interrupted."""
    settings = read_served_settings(state=state)
    with contextlib.suppress(KeyboardInterrupt):
        run(_top(settings, interval, once, as_json))


async def _top(settings: Settings, interval: float, once: bool, as_json: bool) -> None:
    async with open_store(settings) as store:
        watch = Watch(settings, store)
        while True:
            found = await watch.look()
            if as_json:
                click.echo(to_json(fields(found)))
            elif once or not sys.stdout.isatty():
                click.echo(to_screen(found))
            else:
                _show(found)
            if once:
                return
            await asyncio.sleep(interval)


def _show(found: Top) -> None:
    """In the place of the screen before, cut to the size of the terminal."""
    width, height = shutil.get_terminal_size()
    lines = to_screen(found).splitlines()[: height - 1]
    text = "".join(f"{each[:width]}{_END_OF_LINE}\n" for each in lines)
    click.echo(f"{_HOME}{text}{_END_OF_SCREEN}", nl=False)
