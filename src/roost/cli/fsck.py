"""`roost fsck`."""

from pathlib import Path

import click

from roost.app.fsck import check_state
from roost.app.logs import configure_logs
from roost.cli.options import read_served_settings, roost_options, run


@click.command()
@roost_options
@click.option("--repair", is_flag=True, help="Mend what is found; guests without a row are lost.")
def fsck(state: Path | None, engines: str | None, catalog: Path | None, repair: bool) -> None:
    """Compare the database with what the engines hold, whether the server runs or not.

    Instances with an unfinished job are left alone, and so are guests that are off with their
    host until the next start. Ends with 1 when differences are left; nothing goes on running.
    """
    settings = read_served_settings(state=state, engines=engines, catalog=catalog)
    configure_logs()
    outcome = run(check_state(settings, repair, click.echo))
    click.echo(f"fsck: {outcome}")
    if not outcome.sound:
        raise click.exceptions.Exit(1)
