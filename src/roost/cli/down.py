"""`roost down`."""

from pathlib import Path

import click

from roost.app.down import take_down
from roost.app.logs import configure_logs
from roost.cli.options import read_served_settings, roost_options, run


@click.command()
@roost_options
def down(state: Path | None, engines: str | None, catalog: Path | None) -> None:
    """Stop the server of a state, all guests and the database.

    Instances that ran are booted again by the next start, unless their watchdog is off. Workers
    that were started on their own must be stopped before.
    """
    settings = read_served_settings(state=state, engines=engines, catalog=catalog)
    configure_logs()
    if not run(take_down(settings, click.echo)):
        raise click.exceptions.Exit(1)
