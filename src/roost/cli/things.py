"""`roost volume`, `database`, `bucket`, `domain` and `nodebalancer`: those of all accounts."""

from collections.abc import Mapping
from pathlib import Path

import click

from roost.app.operator.things import describe
from roost.app.state import open_store
from roost.app.terminal import Shown
from roost.cli.options import (
    ID,
    json_option,
    limit_option,
    read_served_settings,
    run,
    show_found,
    show_one,
    state_option,
)
from roost.core.listed_queries import Listed, list_rows
from roost.resources.databases.listing_queries import DATABASES
from roost.resources.domains.listing_queries import DOMAINS
from roost.resources.nodebalancers.listing_queries import NODEBALANCERS
from roost.resources.object_storage.listing_queries import BUCKETS
from roost.resources.volumes.listing_queries import VOLUMES
from roost.settings import Settings


def _group(listed: Listed, what: str) -> click.Group:
    """With `list`, by any of its filters, and `show`."""
    group = click.Group(listed.name, help=f"{what} A server may run meanwhile.")
    group.add_command(_list_command(listed))
    group.add_command(_show_command(listed))
    return group


def _list_command(listed: Listed) -> click.Command:
    @click.command("list", help=f"List each {listed.name} of all accounts, by id.")
    @state_option
    @limit_option
    @json_option
    def list_(state: Path | None, limit: int, as_json: bool, **filters: str | None) -> None:
        wanted = {name: value for name, value in filters.items() if value is not None}
        rows = run(_list(read_served_settings(state=state), listed, wanted, limit + 1))
        show_found(rows, limit, listed.shown, as_json)

    for name in listed.filters:
        list_ = click.option(f"--{name}", help=f"Of this {name}.")(list_)
    return list_


def _show_command(listed: Listed) -> click.Command:
    @click.command(help=f"Show a {listed.name}, its unfinished jobs and what happened last.")
    @state_option
    @click.argument("key", type=ID, metavar="ID")
    @json_option
    def show(state: Path | None, key: int, as_json: bool) -> None:
        show_one(run(_describe(read_served_settings(state=state), listed, key)), as_json)

    return show


async def _list(
    settings: Settings, listed: Listed, wanted: Mapping[str, str], limit: int
) -> list[Shown]:
    async with open_store(settings) as store:
        return await list_rows(store, listed, wanted, limit)


async def _describe(settings: Settings, listed: Listed, key: int) -> Shown:
    async with open_store(settings) as store:
        return await describe(store, listed, key)


volume = _group(VOLUMES, "Volumes of all accounts.")
database = _group(DATABASES, "Managed databases of all accounts.")
bucket = _group(BUCKETS, "Buckets of all accounts.")
domain = _group(DOMAINS, "Domains of all accounts.")
nodebalancer = _group(NODEBALANCERS, "NodeBalancers of all accounts.")
