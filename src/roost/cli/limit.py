"""`roost account limit`: how much an account may have."""

from pathlib import Path

import click

from roost.app.operator.limits import (
    NAMES,
    LimitError,
    ListedLimit,
    list_limits,
    parse_amount,
    reset_limit,
    set_limit,
)
from roost.app.state import open_store
from roost.app.terminal import fields
from roost.cli.options import ID, json_option, read_served_settings, run, show_all, state_option
from roost.settings import Settings


def _amount(context: click.Context, parameter: click.Parameter, text: str) -> int | None:
    try:
        return parse_amount(text)
    except LimitError as error:
        raise click.BadParameter(str(error), context, parameter) from error


@click.group()
def limit() -> None:
    """How much an account may have."""


@limit.command()
@state_option
@json_option
@click.argument("account", type=ID)
def show(state: Path | None, account: int, as_json: bool) -> None:
    """Show what ACCOUNT has, what it may have, and whose word that is."""
    settings = read_served_settings(state=state)
    found = run(_list(settings, account))
    show_all([fields(row) for row in found], ("limit", "used", "allowed", "set_by"), as_json)


@limit.command("set")
@state_option
@click.argument("account", type=ID)
@click.argument("name", type=click.Choice(NAMES))
@click.argument("amount", callback=_amount)
def set_one(state: Path | None, account: int, name: str, amount: int | None) -> None:
    """Let ACCOUNT have AMOUNT of NAME, or `unlimited`; from the next request on."""
    run(_set(read_served_settings(state=state), account, name, amount))


@limit.command()
@state_option
@click.argument("account", type=ID)
@click.argument("name", type=click.Choice(NAMES), required=False)
def reset(state: Path | None, account: int, name: str | None) -> None:
    """Let the catalogue's limits hold for ACCOUNT again: all, or the one of NAME."""
    run(_reset(read_served_settings(state=state), account, name))


async def _list(settings: Settings, account_id: int) -> list[ListedLimit]:
    async with open_store(settings) as store:
        return await list_limits(store, settings, account_id)


async def _set(settings: Settings, account_id: int, name: str, amount: int | None) -> None:
    async with open_store(settings) as store:
        await set_limit(store, account_id, name, amount)


async def _reset(settings: Settings, account_id: int, name: str | None) -> None:
    async with open_store(settings) as store:
        await reset_limit(store, account_id, name)
