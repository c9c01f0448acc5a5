"""`roost payment`: what accounts have paid in another way than by card."""

from decimal import Decimal
from pathlib import Path
from typing import Literal

import click

from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.cli.options import ID, USD, read_served_settings, run, state_option
from roost.core.account_queries import exists
from roost.resources.payments.service import record, settle
from roost.settings import Settings
from roost.store import Queries


@click.group()
def payment() -> None:
    """What accounts have paid."""


@payment.command("record")
@state_option
@click.argument("account", type=ID)
@click.argument("usd", type=USD)
def record_one(state: Path | None, account: int, usd: Decimal) -> None:
    """Record that ACCOUNT has paid USD in another way than by card; prints the payment's id."""
    click.echo(run(_record(read_served_settings(state=state), account, usd)))


@payment.command("settle")
@state_option
@click.argument("payment", type=ID)
@click.argument("status", type=click.Choice(["accepted", "declined"]))
def settle_one(state: Path | None, payment: int, status: Literal["accepted", "declined"]) -> None:
    """Say what became of PAYMENT, of which `roost fsck` says that nobody knows."""
    run(_settle(read_served_settings(state=state), payment, status))


async def _record(settings: Settings, account: int, usd: Decimal) -> int:
    async with open_store(settings) as store, store.transaction() as db:
        await _check(db, account)
        return await record(db, account, usd, (await clock_beside(settings, db)).seconds())


async def _settle(
    settings: Settings, payment: int, status: Literal["accepted", "declined"]
) -> None:
    async with open_store(settings) as store, store.transaction() as db:
        now = (await clock_beside(settings, db)).seconds()
        if not await settle(db, payment, status, now):
            raise click.ClickException(f"There is no pending payment {payment}")


async def _check(db: Queries, account: int) -> None:
    if not await exists(db, account):
        raise click.ClickException(f"There is no account {account}")
