"""`roost instance`: instances of all accounts, and their guests."""

from pathlib import Path
from typing import get_args

import click

from roost.app.operator import drains, instances
from roost.app.state import open_store
from roost.app.table import escape
from roost.app.terminal import Shown
from roost.cli.options import (
    ID,
    json_option,
    limit_option,
    read_served_settings,
    roost_options,
    run,
    show_one,
    show_rows,
    state_option,
)
from roost.core.instance_queries import InstanceStatus
from roost.resources.compute.listing_queries import ListedInstance, Wanted, list_instances
from roost.settings import Settings

_COLUMNS = ("id", "account_id", "label", "region", "type", "status", "host", "ipv4", "ipv6")
_MAX_BYTES = 1 << 20


@click.group()
def instance() -> None:
    """Instances of all accounts, and their guests. A server may run meanwhile."""


@instance.command("list")
@state_option
@click.option("--account", type=ID, help="Of this account.")
@click.option("--region", help="In this region.")
@click.option("--status", type=click.Choice(get_args(InstanceStatus)))
@click.option("--label", help="With this in their labels.")
@limit_option
@json_option
def list_(
    state: Path | None,
    account: int | None,
    region: str | None,
    status: str | None,
    label: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List instances by id."""
    wanted = Wanted(account_id=account, region=region, status=status, label=label, limit=limit + 1)
    rows = run(_list(read_served_settings(state=state), wanted))
    show_rows(rows, limit, _COLUMNS, as_json)


@instance.command()
@roost_options
@click.argument("compute_id", type=ID, metavar="ID")
@json_option
def show(
    state: Path | None, engines: str | None, catalog: Path | None, compute_id: int, as_json: bool
) -> None:
    """Show an instance: its rows, its guest, unfinished jobs and last events."""
    settings = read_served_settings(state=state, engines=engines, catalog=catalog)
    show_one(run(_describe(settings, compute_id)), as_json)


@instance.command()
@state_option
@click.option(
    "--catalog", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="TOML file."
)
@click.argument("compute_id", type=ID, metavar="ID")
@click.option("--host", metavar="NAME", help="Where to; default: where most room is.")
@click.option("--off", is_flag=True, help="Power its guest off for the way, and boot it there.")
def migrate(
    state: Path | None, catalog: Path | None, compute_id: int, host: str | None, off: bool
) -> None:
    """Bring an instance to another host of its region.

    A guest that runs goes on running; one that cannot is powered off, and booted again there. Ends
    when that is done.
    """
    settings = read_served_settings(state=state, catalog=catalog)
    click.echo(run(_migrate(settings, compute_id, host, live=not off)))


@instance.command()
@roost_options
@click.argument("compute_id", type=ID, metavar="ID")
@click.option(
    "--bytes", "limit", type=click.IntRange(1, _MAX_BYTES), default=16384, show_default=True
)
def console(
    state: Path | None, engines: str | None, catalog: Path | None, compute_id: int, limit: int
) -> None:
    """Print what a guest wrote last to its serial console."""
    settings = read_served_settings(state=state, engines=engines, catalog=catalog)
    click.echo(escape(run(_console(settings, compute_id, limit))))


async def _migrate(settings: Settings, compute_id: int, host: str | None, *, live: bool) -> str:
    async with open_store(settings) as store:
        return await drains.migrate(store, settings, compute_id, host, live=live)


async def _list(settings: Settings, wanted: Wanted) -> list[ListedInstance]:
    async with open_store(settings) as store:
        return await list_instances(store, wanted)


async def _describe(settings: Settings, compute_id: int) -> Shown:
    async with open_store(settings) as store:
        return await instances.describe(store, settings, compute_id)


async def _console(settings: Settings, compute_id: int, limit: int) -> str:
    async with open_store(settings) as store:
        return await instances.console(store, settings, compute_id, limit)
