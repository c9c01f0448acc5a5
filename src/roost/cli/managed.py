"""`roost account managed`: whose services the operator looks after."""

from pathlib import Path

import click

from roost.app.all_groups import all_groups
from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.cli.options import ID, read_served_settings, run, state_option
from roost.core.account_queries import exists
from roost.core.billing.ledger import Billables
from roost.core.events.log import EventListener, Starter
from roost.jobs.queue import JobQueue
from roost.resources.account.managed_service import change
from roost.settings import Settings


@click.command()
@state_option
@click.argument("account", type=ID)
@click.argument("state_of_it", metavar="on|off", type=click.Choice(["on", "off"]))
def managed(state: Path | None, account: int, state_of_it: str) -> None:
    """Give ACCOUNT the managed service, or end it.

    Once it has ended it costs nothing.
    """
    run(_change(read_served_settings(state=state), account, on=state_of_it == "on"))


async def _change(settings: Settings, account_id: int, *, on: bool) -> None:
    async with open_store(settings) as store, store.transaction() as db:
        if not await exists(db, account_id):
            raise click.ClickException(f"there is no account {account_id}")
        clock = await clock_beside(settings, db)
        groups = all_groups()
        queue = JobQueue(groups.jobs, clock, EventListener(clock))
        await change(Starter(queue, db, account_id), Billables(*groups.billables), on=on)
