"""`roost account canceled`: accounts that were canceled."""

from pathlib import Path

import click

from roost.app.groups import GROUPS
from roost.app.state import open_store
from roost.app.terminal import Shown, fields
from roost.cli.options import json_option, read_served_settings, run, show_all, state_option
from roost.core.endings import Endings
from roost.resources.cancellation.queries import all_canceled
from roost.settings import Settings

_MOST = 60
"""Characters of a comment in the table."""


_COLUMNS = ("id", "canceled", "closed", "erased", "balance", "has", "comments")


@click.command()
@state_option
@json_option
def canceled(state: Path | None, as_json: bool) -> None:
    """List accounts that were canceled.

    With what they still have and owe, and why they went.
    """
    rows = run(_list(read_served_settings(state=state)))
    if not as_json:
        rows = [{**row, "comments": str(row["comments"])[:_MOST]} for row in rows]
    show_all(rows, _COLUMNS, as_json)


async def _list(settings: Settings) -> list[Shown]:
    async with open_store(settings) as store:
        held = await Endings(*GROUPS.endings).of_canceled(store)
        found = await all_canceled(store)
        return [{**fields(row), "has": held.get(row.id, [])} for row in found]
