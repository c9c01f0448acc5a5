"""`roost engine`: what serves each region, and how it is."""

from pathlib import Path

import click

from roost.app.logs import configure_logs
from roost.app.name_server import dns_as_before
from roost.app.operator.engines import ListedEngine, list_engines
from roost.app.roost import open_roost
from roost.cli.options import json_option, read_served_settings, roost_options, run, show_rows
from roost.settings import Settings

_COLUMNS = ("region", "plane", "engine", "kind", "healthy", "in_use", "detail", "why")


@click.group()
def engine() -> None:
    """What serves each region, and how it is."""


@engine.command("list")
@roost_options
@json_option
def list_(state: Path | None, engines: str | None, catalog: Path | None, as_json: bool) -> None:
    """Ask each engine how it is, whether the server runs or not; nothing goes on running."""
    settings = read_served_settings(state=state, engines=engines, catalog=catalog)
    configure_logs()
    rows = run(_list(settings))
    show_rows(rows, len(rows), _COLUMNS, as_json)


async def _list(settings: Settings) -> list[ListedEngine]:
    async with dns_as_before(settings.state), open_roost(settings, beside=True) as roost:
        return await list_engines(roost)
