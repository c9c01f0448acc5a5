"""`roost backup`, and what is done with backups that are there."""

from functools import partial
from pathlib import Path

import click

from roost.app.backup.check import check, prune
from roost.app.backup.make import back_up, left_out
from roost.app.logs import configure_logs
from roost.cli.options import read_served_settings, run, state_option
from roost.threads import DISK

_NEW_FILE = click.Path(path_type=Path, dir_okay=False)
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@click.argument("file", type=_NEW_FILE)
@click.option(
    "--disks",
    type=click.Path(path_type=Path, file_okay=False),
    help="Save disks, volumes, backups and images of guests, too: in this folder, to which each "
    "backup adds what is not there yet.",
)
@state_option
def backup(file: Path, disks: Path | None, state: Path | None) -> None:
    """Save the state in a new FILE, whether the server runs or not.

    It has the database, the key and token files, the catalogue, the zones with their DNSSEC keys,
    the attachments and what simulated engines remember. Keep it as secret as the state. Of several
    hosts each saves what is on its own disks: run it on all of them.
    """
    if file.exists():
        raise click.BadParameter(f"{file} is there already.", param_hint="'FILE'")
    for path, hint in ((file, "'FILE'"), (disks, "'--disks'")):
        if path is not None and not path.absolute().parent.is_dir():
            raise click.BadParameter(f"There is no folder {path.parent}.", param_hint=hint)
    settings = read_served_settings(state=state)
    configure_logs()
    try:
        made = run(back_up(settings, file.absolute(), disks, partial(click.echo, err=True)))
    except OSError as error:
        raise click.ClickException(str(error)) from error
    for sentence in left_out(settings, made, disks=disks is not None):
        click.echo(sentence, err=True)
    if made.lost:
        click.echo(f"{made.lost} attachments were not there", err=True)
    click.echo(
        f"{file}: {made.size} bytes, revision {made.revision}, {made.attachments} attachments"
    )
    if disks is not None:
        click.echo(f"{disks}: {made.listed} files of guests and images, {made.added} new bytes")


@click.command()
@click.argument("file", type=_FILE)
@click.option("--disks", type=_FOLDER, help="Read the pieces of disks and images, too.")
def check_backup(file: Path, disks: Path | None) -> None:
    """Read all of the backup FILE, and say whether it is whole; nothing is changed."""
    manifest, listed = run(DISK.run(check, file, disks))
    read = "all read" if disks is not None else "not read without --disks"
    shown = f"{listed} pieces of disks and images, {read}" if listed else "no disks"
    click.echo(f"{file} is whole: {manifest.made:%Y-%m-%d %H:%M} UTC, {shown}")


@click.command()
@click.argument("disks", type=_FOLDER)
@click.argument("files", nargs=-1, required=True, type=_FILE)
def prune_backups(disks: Path, files: tuple[Path, ...]) -> None:
    """Remove from the folder DISKS what none of the backups FILES needs."""
    number, room = run(DISK.run(prune, disks, files))
    click.echo(f"{disks}: removed {number} pieces, {room} bytes")
