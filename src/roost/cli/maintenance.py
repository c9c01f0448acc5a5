"""`roost maintenance`: what is done to instances, and when."""

from datetime import datetime
from pathlib import Path

import click

from roost.app.state import open_store
from roost.app.terminal import fields
from roost.cli.options import ID, json_option, read_served_settings, run, show_all, state_option
from roost.resources.maintenance.queries import Maintenance, list_all
from roost.resources.maintenance.records import MaintenanceType
from roost.resources.maintenance.service import MaintenanceError, cancel, schedule
from roost.settings import Settings

_TYPES = ("reboot", "cold_migration", "live_migration")

_COLUMNS = ("id", "compute_id", "type", "when", "status", "reason")


@click.group()
def maintenance() -> None:
    """Maintenance of instances, which users see coming."""


@maintenance.command("schedule")
@state_option
@click.argument("compute_id", type=ID)
@click.option("--type", "type_", type=click.Choice(_TYPES), required=True)
@click.option(
    "--when", type=click.DateTime(["%Y-%m-%dT%H:%M:%S"]), required=True, help="UTC; past: now."
)
@click.option("--reason", required=True, help="For users to read.")
def schedule_one(
    state: Path | None, compute_id: int, type_: MaintenanceType, when: datetime, reason: str
) -> None:
    """Have an instance rebooted, or stopped and started by a cold migration; prints an ID.

    A live migration is refused, as no engine moves a guest while it runs.
    """
    if not reason.strip():
        raise click.BadParameter("must not be empty", param_hint="--reason")
    settings = read_served_settings(state=state)
    click.echo(run(_schedule(settings, compute_id, type_, when, reason)))


@maintenance.command("list")
@state_option
@json_option
def list_(state: Path | None, as_json: bool) -> None:
    """List all maintenance, the earliest first."""
    found = run(_list(read_served_settings(state=state)))
    show_all([fields(row) for row in found], _COLUMNS, as_json)


@maintenance.command("cancel")
@state_option
@click.argument("maintenance_id", type=ID, metavar="ID")
def cancel_one(state: Path | None, maintenance_id: int) -> None:
    """Cancel what has not begun."""
    run(_cancel(read_served_settings(state=state), maintenance_id))


async def _schedule(
    settings: Settings, compute_id: int, type_: MaintenanceType, when: datetime, reason: str
) -> int:
    async with open_store(settings) as store, store.transaction() as db:
        try:
            return await schedule(db, compute_id, type_, when, reason)
        except MaintenanceError as error:
            raise click.ClickException(str(error)) from error


async def _list(settings: Settings) -> list[Maintenance]:
    async with open_store(settings) as store:
        return await list_all(store)


async def _cancel(settings: Settings, maintenance_id: int) -> None:
    async with open_store(settings) as store, store.transaction() as db:
        try:
            await cancel(db, maintenance_id)
        except MaintenanceError as error:
            raise click.ClickException(str(error)) from error
