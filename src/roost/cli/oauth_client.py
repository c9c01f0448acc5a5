"""`roost oauth-client`: what operators do about applications of any account."""

from pathlib import Path

import click

from roost.app.state import open_store
from roost.app.terminal import fields
from roost.cli.options import json_option, read_served_settings, run, show_all, state_option
from roost.resources.oauth_clients.queries import ListedClient, list_clients, set_status
from roost.resources.oauth_clients.records import ClientStatus
from roost.settings import Settings
from roost.web.revocation import settle

_COLUMNS = ("id", "account_id", "status", "users", "created", "label", "redirect_uri")


@click.group("oauth-client")
def oauth_client() -> None:
    """OAuth clients of any account."""


@oauth_client.command("list")
@state_option
@json_option
def list_all(state: Path | None, as_json: bool) -> None:
    """List the OAuth clients of all accounts."""
    found = run(_list(read_served_settings(state=state)))
    show_all([fields(row) for row in found], _COLUMNS, as_json)


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
    """Disable a client for a breach of the rules: its owner sees it as suspended."""
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
