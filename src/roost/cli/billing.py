"""`roost billing`: whether the books are right."""

from pathlib import Path

import click

from roost.app.state import open_store
from roost.cli.options import read_served_settings, run, state_option
from roost.resources.billing.service import differences
from roost.settings import Settings


@click.group()
def billing() -> None:
    """What accounts are charged."""


@billing.command()
@state_option
def verify(state: Path | None) -> None:
    """Compute every invoice again from the ledger; ends with 1 where one differs."""
    found = run(_verify(read_served_settings(state=state)))
    for text in found:
        click.echo(text)
    click.echo(f"billing: {len(found)} differences")
    if found:
        raise click.exceptions.Exit(1)


async def _verify(settings: Settings) -> list[str]:
    async with open_store(settings) as store:
        return [text async for text in differences(store)]
