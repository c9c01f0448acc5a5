"""`roost token`: personal access tokens of any user."""

import sys
from datetime import timedelta
from pathlib import Path

import click

from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.app.terminal import fields
from roost.cli.options import ID, json_option, read_served_settings, run, show_all, state_option
from roost.core.narrowing.restrictions import narrow as narrow_token
from roost.core.narrowing.restrictions import parse, shown
from roost.core.scopes import Scopes
from roost.resources.account.queries import find_operator, find_user
from roost.resources.tokens.queries import KEPT, TokenRow, find_uses, list_tokens, revoke_token
from roost.resources.tokens.service import issue_token
from roost.settings import Settings
from roost.web.revocation import settle

_LABEL_LENGTH = 100

_COLUMNS = ("id", "username", "label", "prefix", "scopes", "created", "expiry")


@click.group()
def token() -> None:
    """Personal access tokens."""


@token.command()
@state_option
@click.option("--label", required=True, help="1 to 100 characters.")
@click.option("--scopes", required=True, help='"*", or such as "computes:read_write".')
@click.option("--user", help="Default: the first unrestricted user of the first account.")
@click.option("--expires", type=click.IntRange(1, 36500), metavar="DAYS", help="Default: never.")
def create(
    state: Path | None, label: str, scopes: str, user: str | None, expires: int | None
) -> None:
    """Make a token and print it, once and for all."""
    if not 1 <= len(label) <= _LABEL_LENGTH:
        raise click.BadParameter(f"must be 1-{_LABEL_LENGTH} characters", param_hint="--label")
    try:
        parsed = Scopes.parse(scopes)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--scopes") from error
    settings = read_served_settings(state=state)
    click.echo(run(_create(settings, label, parsed, user, expires)))


@token.command()
@click.argument("restrictions", nargs=-1, required=True, metavar="JSON...")
@click.option("--token", "given", help="The token to narrow. Default: read from standard input.")
def narrow(restrictions: tuple[str, ...], given: str | None) -> None:
    """Print a token that may do less, without asking a server.

    Each restriction is a JSON object, such as '{"read_only": true}'; all of them have to hold.
    A narrowed token can be narrowed again.
    """
    text = (given or sys.stdin.readline()).strip()
    if not text:
        raise click.UsageError("there is no token to narrow")
    try:
        for each in restrictions:
            text = narrow_token(text, parse(each))
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="JSON") from error
    click.echo(text)


@token.command()
@click.option("--token", "given", help="Default: read from standard input.")
def restrictions(given: str | None) -> None:
    """Print the restrictions of a narrowed token, one a line, without asking a server."""
    text = (given or sys.stdin.readline()).strip()
    try:
        found = list(shown(text))
    except ValueError as error:
        raise click.ClickException(f"this is not a narrowed token: {error}") from error
    for each in found:
        click.echo(each.model_dump_json(exclude_none=True))


@token.command("list")
@state_option
@json_option
def list_all(state: Path | None, as_json: bool) -> None:
    """List the tokens of all users that are not revoked."""
    found = run(_list(read_served_settings(state=state)))
    show_all([fields(row) for row in found], _COLUMNS, as_json)


@token.command()
@state_option
@click.argument("token_id", type=ID, metavar="ID")
def revoke(state: Path | None, token_id: int) -> None:
    """Revoke a token at once, in all servers."""
    if not run(_revoke(read_served_settings(state=state), token_id)):
        raise click.ClickException(f"there is no token {token_id}, or it is revoked already")


@token.command()
@state_option
@click.argument("token_id", type=ID, metavar="ID")
def suggest(state: Path | None, token_id: int) -> None:
    """Print the smallest scopes that a token's calls of the last 30 days needed."""
    operations = run(_uses(read_served_settings(state=state), token_id))
    if operations is None:
        raise click.ClickException(f"there is no token {token_id}")
    if not operations:
        raise click.ClickException(f"token {token_id} was not used in the last 30 days")
    # No other command of tokens waits for all groups.
    from roost.app.groups import GROUPS
    from roost.web.registry import Registry

    scopes = Scopes.smallest(
        scope
        for endpoint in Registry(GROUPS.endpoints)
        if endpoint.name in operations
        for scope in endpoint.scopes
    )
    click.echo(scopes.text if scopes else "any scope will do: its calls needed none")


async def _uses(settings: Settings, token_id: int) -> list[str] | None:
    async with open_store(settings) as store:
        now = (await clock_beside(settings, store)).now()
        return await find_uses(store, token_id, (now - KEPT).date())


async def _create(
    settings: Settings, label: str, scopes: Scopes, user: str | None, days: int | None
) -> str:
    async with open_store(settings) as store, store.transaction() as db:
        clock = await clock_beside(settings, db)
        expiry = None if days is None else clock.seconds() + timedelta(days=days)
        user_id = await (find_operator(db) if user is None else find_user(db, user))
        if user_id is None:
            missing = f"there is no user {user}" if user else "say whose token it is with --user"
            raise click.ClickException(missing)
        return await issue_token(db, clock, user_id, label, scopes, expiry)


async def _list(settings: Settings) -> list[TokenRow]:
    async with open_store(settings) as store:
        return await list_tokens(store)


async def _revoke(settings: Settings, token_id: int) -> bool:
    async with open_store(settings) as store:
        now = (await clock_beside(settings, store)).seconds()
        revoked = await revoke_token(store, token_id, now)
        await settle(store)
        return revoked
