"""`roost oauth-client`: what operators do about applications of any account."""

from collections.abc import Iterable
from pathlib import Path

import click

from roost.app.state import open_store
from roost.app.table import format_table
from roost.cli.options import read_served_settings, run, state_option
from roost.resources.oauth_clients.queries import ListedClient, list_clients, set_status
from roost.resources.oauth_clients.records import ClientStatus
from roost.settings import Settings
from roost.web.revocation import settle


@click.group("oauth-client")
def oauth_client() -> None:
    """OAuth clients of any account."""


@oauth_client.command("list")
@state_option
def list_all(state: Path | None) -> None:
    """List the OAuth clients of all accounts."""
    click.echo(_table(run(_list(read_served_settings(state=state)))))


@oauth_client.command()
@state_option
@click.argument("client_id", metavar="ID")
def disable(state: Path | None, client_id: str) -> None:
    """Let nobody log in with a client, and refuse its tokens, until it is enabled again."""
    _set(state, client_id, "disabled")


@oauth_client.command()
@state_option
@click.argument("client_id", metavar="ID")
def suspend(state: Path | None, client_id: str) -> None:
    """The same, shown to its owner as suspended: for a breach of the rules."""
    _set(state, client_id, "suspended")


@oauth_client.command()
@state_option
@click.argument("client_id", metavar="ID")
def enable(state: Path | None, client_id: str) -> None:
    """Let a client work again; its tokens that are not over do so too."""
    _set(state, client_id, "active")


def _set(state: Path | None, client_id: str, status: ClientStatus) -> None:
    if not run(_write(read_served_settings(state=state), client_id, status)):
        raise click.ClickException(f"there is no OAuth client {client_id}")


async def _write(settings: Settings, client_id: str, status: ClientStatus) -> bool:
    async with open_store(settings) as store:
        found = await set_status(store, client_id, status)
        await settle(store)
        return found


async def _list(settings: Settings) -> list[ListedClient]:
    async with open_store(settings) as store:
        return await list_clients(store)


def _table(rows: Iterable[ListedClient]) -> str:
    return format_table(
        ("ID", "ACCOUNT", "STATUS", "USERS", "CREATED", "LABEL", "REDIRECT URI"),
        (
            (
                row.id,
                str(row.account_id),
                row.status,
                str(row.users),
                row.created.isoformat(),
                row.label,
                row.redirect_uri,
            )
            for row in rows
        ),
    )
