"""`roost account limit`: how much an account may have."""

from pathlib import Path

import click

from roost.app.groups import GROUPS
from roost.app.state import open_store
from roost.cli.options import ID, json_option, read_served_settings, run, show_all, state_option
from roost.core.account_queries import exists
from roost.core.catalog import load
from roost.core.limits.queries import Usage, read, reset_limit, set_limit
from roost.settings import Settings

_NAMES = tuple(GROUPS.limit_kinds)
_UNLIMITED = "unlimited"
_MOST = 2**53


def _amount(context: click.Context, parameter: click.Parameter, text: str) -> int | None:
    if text == _UNLIMITED:
        return None
    if not text.isdecimal() or int(text[:20]) > _MOST:
        raise click.BadParameter(f"must be 0 to {_MOST}, or {_UNLIMITED}", context, parameter)
    return int(text)


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
    limits = load(settings.catalog).entries.limits
    usage = run(_read(settings, account))
    rows = [
        {
            "limit": name,
            "used": used,
            "allowed": _written(
                usage.own.get(name, limits.get(name, GROUPS.limit_kinds[name].default))
            ),
            "set_by": "account" if name in usage.own else "catalogue",
        }
        for name, used in usage.used.items()
    ]
    show_all(rows, ("limit", "used", "allowed", "set_by"), as_json)


@limit.command("set")
@state_option
@click.argument("account", type=ID)
@click.argument("name", type=click.Choice(_NAMES))
@click.argument("amount", callback=_amount)
def set_one(state: Path | None, account: int, name: str, amount: int | None) -> None:
    """Let ACCOUNT have AMOUNT of NAME, or `unlimited`; from the next request on."""
    run(_set(read_served_settings(state=state), account, name, amount))


@limit.command()
@state_option
@click.argument("account", type=ID)
@click.argument("name", type=click.Choice(_NAMES), required=False)
def reset(state: Path | None, account: int, name: str | None) -> None:
    """Let the catalogue's limits hold for ACCOUNT again: all, or the one of NAME."""
    run(_reset(read_served_settings(state=state), account, name))


async def _read(settings: Settings, account_id: int) -> Usage:
    async with open_store(settings) as store:
        _check(await exists(store, account_id), account_id)
        found = [await read(store, account_id, group, unlimited=True) for group in GROUPS.limits]
        used = {name: used for each in found for name, used in each.used.items()}
        return Usage(used, found[0].own, found[0].suspended)


async def _set(settings: Settings, account_id: int, name: str, amount: int | None) -> None:
    async with open_store(settings) as store:
        _check(await set_limit(store, account_id, name, amount), account_id)


async def _reset(settings: Settings, account_id: int, name: str | None) -> None:
    async with open_store(settings) as store:
        _check(await reset_limit(store, account_id, name), account_id)


def _written(amount: int | None) -> int | str:
    return _UNLIMITED if amount is None else amount


def _check(known: bool, account_id: int) -> None:
    if not known:
        raise click.ClickException(f"there is no account {account_id}")
