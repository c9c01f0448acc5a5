"""`roost restore`."""

import shlex
from functools import partial
from pathlib import Path
from typing import Literal

import click

from roost.app.backup.restore import Choice
from roost.app.backup.restore import restore as restore_state
from roost.app.fsck import check_state
from roost.app.logs import configure_logs
from roost.cli.options import read_settings, roost_options, run
from roost.settings import MAIN_HOST, Settings


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--disks",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder of disks and images that the backup was made with.",
)
@click.option(
    "--keep-database",
    is_flag=True,
    help="Load no rows: a database of your own (DATABASE_URL) has them still.",
)
@roost_options
def restore(
    file: Path,
    disks: Path | None,
    keep_database: bool,
    state: Path | None,
    engines: Literal["auto", "simulated", "local"] | None,
    catalog: Path | None,
) -> None:
    """Fill an empty state from the backup FILE, and compare it with the engines.

    A file that is damaged, or of a newer Roost, is refused and nothing is changed. Ends with 1
    when differences are found; the state is restored all the same.
    """
    settings = read_settings(state=state)
    configure_logs()
    say = partial(click.echo, err=True)
    choice = Choice(engines, catalog and catalog.absolute(), disks, not keep_database)
    try:
        settings = run(restore_state(settings, choice, file, say))
    except OSError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"restored; serve it with: {_command(settings)}")
    try:
        outcome = run(check_state(settings, False, click.echo))
    except click.ClickException as error:
        raise click.ClickException(
            f"the state is restored, but fsck cannot compare it here: {error.message}"
        ) from error
    click.echo(f"fsck: {outcome}")
    if not outcome.sound:
        raise click.exceptions.Exit(1)


def _command(settings: Settings) -> str:
    is_main = settings.host == MAIN_HOST
    words = ["roost", *(("serve",) if is_main else ("worker", "--host", settings.host))]
    words += ["--state", str(settings.state), "--engines", settings.engines]
    if settings.catalog is not None:
        words += ["--catalog", str(settings.catalog)]
    return shlex.join(words)
