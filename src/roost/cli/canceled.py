"""`roost account canceled`: accounts that were canceled."""

from collections.abc import Mapping
from pathlib import Path

import click

from roost.app.groups import GROUPS
from roost.app.state import open_store
from roost.app.table import format_table
from roost.cli.options import read_served_settings, run, state_option
from roost.core.endings import Endings
from roost.resources.account.cancel_queries import CanceledAccount, all_canceled
from roost.settings import Settings

_MOST = 60
"""Characters of a comment in the table."""


@click.command()
@state_option
def canceled(state: Path | None) -> None:
    """List accounts that were canceled.

    With what they still have and owe, and why they went.
    """
    click.echo(run(_list(read_served_settings(state=state))))


async def _list(settings: Settings) -> str:
    async with open_store(settings) as store:
        held = await Endings(*GROUPS.endings).of_canceled(store)
        return _table(await all_canceled(store), held)


def _table(rows: list[CanceledAccount], held: Mapping[int, list[str]]) -> str:
    return format_table(
        ("ID", "CANCELED", "CLOSED", "ERASED", "BALANCE", "HAS", "COMMENTS"),
        (
            (
                str(row.id),
                row.canceled.isoformat(),
                "-" if row.closed is None else row.closed.isoformat(),
                "-" if row.erased is None else row.erased.isoformat(),
                f"{row.balance:.2f}",
                ", ".join(held.get(row.id, ())) or "-",
                _in_short(row.comments) or "-",
            )
            for row in rows
        ),
    )


def _in_short(comments: str) -> str:
    """One line without what would steer a terminal."""
    line = "".join(each if each.isprintable() else " " for each in comments[: 2 * _MOST])
    return " ".join(line.split())[:_MOST]
