"""`roost account`: accounts of this cloud."""

from collections.abc import Mapping
from pathlib import Path

import click
from pydantic import ValidationError

from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.app.terminal import fields
from roost.cli.lazy import Later, LazyGroup
from roost.cli.options import ID, json_option, read_served_settings, run, show_all, state_option
from roost.core.account_queries import exists
from roost.resources.account.bodies import UpdateAccount
from roost.resources.account.queries import ListedAccount, list_accounts, set_parent_pays
from roost.resources.account.service import AccountError, Opened, make_parent, open_account
from roost.resources.betas import queries as betas
from roost.resources.suspension import service as suspension
from roost.resources.suspension.service import SuspensionError
from roost.resources.users.bodies import CreateUser
from roost.settings import Settings
from roost.web.bodies import Body
from roost.web.revocation import settle

_MAX_REASON = 500


class _Commands(LazyGroup):
    later = {
        "canceled": Later("roost.cli.canceled", "List accounts that were canceled."),
        "credit": Later("roost.cli.credit", "What an account owes less, as its operator wants."),
        "top": Later("roost.cli.account_top", "Which accounts use most."),
        "limit": Later("roost.cli.limit", "How much an account may have."),
        "managed": Later("roost.cli.managed", "Give ACCOUNT the managed service, or end it."),
    }


_COLUMNS = ("id", "parent_id", "users", "created", "suspended", "email", "company")


@click.group(cls=_Commands)
def account() -> None:
    """Accounts of this cloud."""


@account.command()
@state_option
@click.option("--email", required=True, help="Of the account and its first user.")
@click.option("--company", default="", help="At most 128 characters.")
@click.option("--user", help="Name of the first user. Default: admin-ID.")
def create(state: Path | None, email: str, company: str, user: str | None) -> None:
    """Open an account; prints its id, its unrestricted user and that user's token, once."""
    _check(CreateUser, {"username": "default" if user is None else user, "email": email})
    _check(UpdateAccount, {"company": company})
    opened = run(_create(read_served_settings(state=state), email, company, user))
    click.echo(f"account {opened.account_id}\nuser {opened.username}\ntoken {opened.token}")


@account.command("list")
@state_option
@json_option
def list_all(state: Path | None, as_json: bool) -> None:
    """List all accounts."""
    found = run(_list(read_served_settings(state=state)))
    show_all([fields(row) for row in found], _COLUMNS, as_json)


@account.command()
@state_option
@click.argument("child", type=ID)
@click.argument("parent", type=ID)
def parent(state: Path | None, child: int, parent: int) -> None:
    """Make account CHILD a child of account PARENT; prints the name of its proxy user."""
    click.echo(run(_tie(read_served_settings(state=state), child, parent)))


@account.command()
@state_option
@click.argument("child", type=ID)
@click.argument("who", type=click.Choice(["parent", "itself"]))
def payer(state: Path | None, child: int, who: str) -> None:
    """Who owes the next invoices of account CHILD: its parent, or itself."""
    run(_set_payer(read_served_settings(state=state), child, parent_pays=who == "parent"))


@account.command()
@state_option
@click.argument("account", type=ID)
@click.argument("beta")
def enroll(state: Path | None, account: int, beta: str) -> None:
    """Let ACCOUNT take part in the beta program BETA, also one by invitation only."""
    run(_enroll(read_served_settings(state=state), account, beta))


@account.command()
@state_option
@click.argument("account", type=ID)
@click.option("--reason", required=True, help="For its users to read; at most 500 characters.")
def suspend(state: Path | None, account: int, reason: str) -> None:
    """Let what ACCOUNT has rest: instances and databases are shut down, data are kept.

    A payment does not end it.
    """
    if not 0 < len(reason.strip()) <= _MAX_REASON:
        raise click.BadParameter(f"must be 1-{_MAX_REASON} characters", param_hint="--reason")
    run(_suspend(read_served_settings(state=state), account, reason.strip()))


@account.command()
@state_option
@click.argument("account", type=ID)
def resume(state: Path | None, account: int) -> None:
    """Let ACCOUNT go on, for whatever it was suspended."""
    run(_resume(read_served_settings(state=state), account))


def _check(model: type[Body], values: Mapping[str, str]) -> None:
    """Check values by the rules that hold over HTTP."""
    try:
        model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        option = str(first["loc"][0]).replace("username", "user")
        raise click.BadParameter(first["msg"], param_hint=f"--{option}") from error


async def _create(settings: Settings, email: str, company: str, user: str | None) -> Opened:
    try:
        async with open_store(settings) as store, store.transaction() as db:
            return await open_account(db, await clock_beside(settings, db), email, company, user)
    except AccountError as error:
        raise click.ClickException(str(error)) from error


async def _list(settings: Settings) -> list[ListedAccount]:
    async with open_store(settings) as store:
        return await list_accounts(store)


async def _tie(settings: Settings, child: int, parent: int) -> str:
    try:
        async with open_store(settings) as store:
            async with store.transaction() as db:
                name = await make_parent(db, await clock_beside(settings, db), child, parent)
            await settle(store)
            return name
    except AccountError as error:
        raise click.ClickException(str(error)) from error


async def _set_payer(settings: Settings, child: int, *, parent_pays: bool) -> None:
    async with open_store(settings) as store:
        if not await set_parent_pays(store, child, parent_pays=parent_pays):
            raise click.ClickException(f"account {child} is no child of another")


async def _enroll(settings: Settings, account_id: int, beta_id: str) -> None:
    async with open_store(settings) as store, store.transaction() as db:
        if not await exists(db, account_id):
            raise click.ClickException(f"there is no account {account_id}")
        if await betas.find(db, beta_id) is None:
            raise click.ClickException(f"there is no beta program {beta_id}")
        now = (await clock_beside(settings, db)).seconds()
        await betas.enroll(db, account_id, beta_id, now)


async def _suspend(settings: Settings, account_id: int, reason: str) -> None:
    try:
        async with open_store(settings) as store, store.transaction() as db:
            now = (await clock_beside(settings, db)).seconds()
            await suspension.suspend(db, account_id, "operator", reason, now)
    except SuspensionError as error:
        raise click.ClickException(str(error)) from error


async def _resume(settings: Settings, account_id: int) -> None:
    try:
        async with open_store(settings) as store, store.transaction() as db:
            await suspension.resume(db, account_id)
    except SuspensionError as error:
        raise click.ClickException(str(error)) from error
