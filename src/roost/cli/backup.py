"""`roost backup`."""

from functools import partial
from pathlib import Path

import click

from roost.app.backup.make import back_up, left_out
from roost.app.logs import configure_logs
from roost.cli.options import read_served_settings, run, state_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@state_option
def backup(file: Path, state: Path | None) -> None:
    """Save the state in a new FILE, whether the server runs or not.

    It has the database, the key and token files, the catalogue, the zones with their DNSSEC keys,
    the attachments and what simulated engines remember. Keep it as secret as the state.
    """
    if file.exists():
        raise click.BadParameter(f"{file} is there already.", param_hint="'FILE'")
    if not file.absolute().parent.is_dir():
        raise click.BadParameter(f"There is no folder {file.parent}.", param_hint="'FILE'")
    settings = read_served_settings(state=state)
    configure_logs()
    try:
        made = run(back_up(settings, file.absolute(), partial(click.echo, err=True)))
    except OSError as error:
        raise click.ClickException(str(error)) from error
    for sentence in left_out(settings):
        click.echo(sentence, err=True)
    if made.lost:
        click.echo(f"{made.lost} attachments were not there", err=True)
    click.echo(
        f"{file}: {made.size} bytes, revision {made.revision}, {made.attachments} attachments"
    )
