"""`roost job`: what is being done, what waits and what has failed."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import get_args

import click

from roost.app.lab.clock import clock_beside
from roost.app.operator import jobs
from roost.app.state import open_store
from roost.app.terminal import Shown
from roost.cli.options import (
    ID,
    ago,
    json_option,
    limit_option,
    read_served_settings,
    run,
    show_one,
    show_rows,
    state_option,
)
from roost.jobs.listing_queries import ListedJob, Wanted, list_jobs
from roost.jobs.model import Status
from roost.settings import Settings

_COLUMNS = ("id", "kind", "resource", "account_id", "status", "step", "attempt", "created", "error")
_ID = click.argument("job_id", type=ID, metavar="ID")


@click.group()
def job() -> None:
    """What is being done, what waits and what has failed. A server may run meanwhile."""


@job.command("list")
@state_option
@click.option(
    "--status", type=click.Choice(get_args(Status)), multiple=True, help="May be repeated."
)
@click.option("--kind", help="Such as compute_create.")
@click.option("--resource", help="Such as compute:100001.")
@click.option("--account", type=ID, help="Of this account.")
@click.option("--older", metavar="AGE", callback=ago, help="Enqueued before, such as 10m.")
@click.option("--scheduled", is_flag=True, help="Also what Roost does again and again.")
@limit_option
@json_option
def list_(
    state: Path | None,
    status: tuple[str, ...],
    kind: str | None,
    resource: str | None,
    account: int | None,
    older: timedelta | None,
    scheduled: bool,
    limit: int,
    as_json: bool,
) -> None:
    """List jobs, the latest first.

    Without any filter those of schedules are left out.
    """
    wanted = Wanted(
        statuses=status,
        kind=kind,
        resource=resource,
        account_id=account,
        scheduled=scheduled or bool(kind or resource or status or older),
        limit=limit + 1,
    )
    found = run(_list(read_served_settings(state=state), wanted, older))
    show_rows(found, limit, _COLUMNS, as_json)


@job.command()
@state_option
@_ID
@json_option
def show(state: Path | None, job_id: int, as_json: bool) -> None:
    """Show a job: its steps, attempts and faults, and the job it waits for."""
    show_one(run(_describe(read_served_settings(state=state), job_id)), as_json)


@job.command()
@state_option
@_ID
def retry(state: Path | None, job_id: int) -> None:
    """Have the next attempt of a job at once that waits after a failure."""
    run(_retry(read_served_settings(state=state), job_id))
    click.echo(f"job {job_id} is tried now")


@job.command()
@state_option
@_ID
def cancel(state: Path | None, job_id: int) -> None:
    """Stop a job and undo what it did; its event fails and says so."""
    click.echo(run(_cancel(read_served_settings(state=state), job_id)))


async def _list(settings: Settings, wanted: Wanted, older: timedelta | None) -> list[ListedJob]:
    async with open_store(settings) as store:
        if older is not None:
            now = (await clock_beside(settings, store)).now()
            wanted = replace(wanted, before=now - older)
        return await list_jobs(store, wanted)


async def _describe(settings: Settings, job_id: int) -> Shown:
    async with open_store(settings) as store:
        return await jobs.describe(store, job_id)


async def _retry(settings: Settings, job_id: int) -> None:
    async with open_store(settings) as store:
        await jobs.retry(store, await clock_beside(settings, store), job_id)


async def _cancel(settings: Settings, job_id: int) -> str:
    async with open_store(settings) as store:
        return await jobs.cancel(store, await clock_beside(settings, store), job_id)
