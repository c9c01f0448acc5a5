"""`roost event`: what all accounts are told."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import click

from roost.app.lab.clock import clock_beside
from roost.app.operator.events import tail as tail_events
from roost.app.state import open_store
from roost.app.table import line
from roost.app.terminal import fields, to_json
from roost.cli.options import (
    ID,
    ago,
    json_option,
    limit_option,
    read_served_settings,
    run,
    state_option,
)
from roost.core.events.listing_queries import ListedEvent, Wanted
from roost.settings import Settings

_STATUSES = ("scheduled", "started", "finished", "failed", "notification")


def _entity(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[str | None, str | None]:
    """Type and id."""
    if text is None:
        return None, None
    kind, _, key = text.partition(":")
    if not kind:
        raise click.BadParameter("must be like compute:100001, or volume", context, parameter)
    return kind, key or None


@click.group()
def event() -> None:
    """What all accounts are told. A server may run meanwhile."""


@event.command()
@state_option
@click.option("--account", type=ID, help="Of this account.")
@click.option("--status", type=click.Choice(_STATUSES))
@click.option("--user", help="Of what this user did.")
@click.option(
    "--resource",
    metavar="TYPE[:ID]",
    callback=_entity,
    help="About this, such as compute:100001, or any volume.",
)
@click.option("--since", metavar="AGE", callback=ago, help="Not older than, such as 2h.")
@click.option("--follow", is_flag=True, help="Go on with new ones, until interrupted.")
@limit_option
@json_option
def tail(
    state: Path | None,
    account: int | None,
    status: str | None,
    user: str | None,
    resource: tuple[str | None, str | None],
    since: timedelta | None,
    follow: bool,
    limit: int,
    as_json: bool,
) -> None:
    """Print the latest events, one a line, the last one last."""
    settings = read_served_settings(state=state)
    wanted = Wanted(
        account_id=account,
        status=status,
        username=user,
        entity_type=resource[0],
        entity_id=resource[1],
    )
    run(_tail(settings, wanted, since, limit, follow, as_json))


async def _tail(
    settings: Settings,
    wanted: Wanted,
    since: timedelta | None,
    limit: int,
    follow: bool,
    as_json: bool,
) -> None:
    async with open_store(settings) as store:
        if since is not None:
            now = (await clock_beside(settings, store)).now()
            wanted = replace(wanted, since=now - since)
        async for each in tail_events(store, wanted, limit, follow):
            click.echo(to_json(fields(each)) if as_json else _line(each))


def _line(event: ListedEvent) -> str:
    entity = " ".join(str(part) for part in (event.entity_type, event.entity_id) if part)
    words = (
        event.created.isoformat(),
        str(event.id),
        f"account {event.account_id}",
        event.username or "",
        event.action,
        event.status,
        f"{entity} {event.label or ''}".strip(),
        event.message,
    )
    return line("  ".join(word for word in words if word))
