"""`roost account top`."""

from pathlib import Path
from typing import get_args

import click

from roost.app.operator.uses import AccountUse, Use, most
from roost.app.state import open_store
from roost.cli.options import (
    json_option,
    limit_option,
    read_served_settings,
    run,
    show_rows,
    state_option,
)
from roost.clock import Clock
from roost.settings import Settings

_COLUMNS = ("account_id", *get_args(Use))


@click.command()
@state_option
@click.option("--by", type=click.Choice(get_args(Use)), default="vcpus", show_default=True)
@limit_option
@json_option
def top(state: Path | None, by: Use, limit: int, as_json: bool) -> None:
    """Which accounts use most.

    Memory and disk are MB, volumes GiB, objects and what was sent this month bytes, and what is
    owed US dollars.
    """
    rows = run(_most(read_served_settings(state=state), by, limit + 1))
    show_rows(rows, limit, _COLUMNS, as_json)


async def _most(settings: Settings, by: Use, limit: int) -> list[AccountUse]:
    async with open_store(settings) as store:
        return await most(store, by, Clock().now(), limit)
