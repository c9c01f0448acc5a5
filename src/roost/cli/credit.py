"""`roost account credit`: what an operator takes off a balance, or puts on it."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

import click

from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.app.terminal import fields
from roost.cli.options import (
    ID,
    USD,
    json_option,
    read_served_settings,
    run,
    show_all,
    state_option,
)
from roost.core.account_queries import exists
from roost.resources.payments import credit_queries
from roost.resources.payments.credit_queries import Credit
from roost.resources.payments.service import CreditError
from roost.resources.payments.service import credit as give_credit
from roost.settings import Settings

F = TypeVar("F", bound=Callable[..., None])
_MOST_REASON, _MOST_KEY = 255, 64


def _text(most: int) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    def check(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
        if text is None or (0 < len(text) <= most and text.isprintable()):
            return text
        raise click.BadParameter(f"must be 1 to {most} printable characters", context, parameter)

    return check


def _options(command: F) -> F:
    command = click.option(
        "--key", callback=_text(_MOST_KEY), help="The same key gives the same credit once only."
    )(command)
    return click.option(
        "--reason", required=True, callback=_text(_MOST_REASON), help="Why, for the books."
    )(command)


@click.group()
def credit() -> None:
    """What an account owes less, as its operator wants."""


@credit.command("give")
@state_option
@click.argument("account", type=ID)
@click.argument("usd", type=USD)
@_options
def give_one(state: Path | None, account: int, usd: Decimal, reason: str, key: str | None) -> None:
    """Let ACCOUNT owe USD less, as a gift or a refund; prints the credit's id."""
    click.echo(run(_give(read_served_settings(state=state), account, usd, reason, key)))


@credit.command("take")
@state_option
@click.argument("account", type=ID)
@click.argument("usd", type=USD)
@_options
def take_one(state: Path | None, account: int, usd: Decimal, reason: str, key: str | None) -> None:
    """Let ACCOUNT owe USD more, such as for a credit that was a mistake; prints the id."""
    click.echo(run(_give(read_served_settings(state=state), account, -usd, reason, key)))


@credit.command("list")
@state_option
@json_option
@click.argument("account", type=ID)
def list_all(state: Path | None, account: int, as_json: bool) -> None:
    """List what ACCOUNT was given and what was taken, the newest first."""
    found = run(_list(read_served_settings(state=state), account))
    show_all([fields(row) for row in found], ("id", "created", "usd", "reason"), as_json)


async def _give(
    settings: Settings, account: int, usd: Decimal, reason: str, key: str | None
) -> int:
    async with open_store(settings) as store, store.transaction() as db:
        _check(await exists(db, account), account)
        try:
            now = (await clock_beside(settings, db)).seconds()
            return await give_credit(db, account, usd, reason, key, now)
        except CreditError as error:
            raise click.ClickException(str(error)) from None


async def _list(settings: Settings, account: int) -> list[Credit]:
    async with open_store(settings) as store:
        _check(await exists(store, account), account)
        return await credit_queries.of_account(store, account)


def _check(known: bool, account: int) -> None:
    if not known:
        raise click.ClickException(f"There is no account {account}")
