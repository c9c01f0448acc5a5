"""`roost image`: the images from which real guests start."""

import re
from functools import partial
from pathlib import Path

import click

from roost.app.images import BUILDERS, build_image
from roost.app.lab.clock import clock_beside
from roost.app.state import open_store
from roost.cli.options import (
    json_option,
    read_served_settings,
    read_settings,
    run,
    show_all,
    state_option,
)
from roost.core.catalog import load
from roost.engines.qemu.images.commands import ImageError
from roost.engines.qemu.images.published import PUBLISHED
from roost.engines.qemu.images.store import ImageStore
from roost.resources.images.imported_service import offer
from roost.settings import Settings

_NAMES = {image_id.partition("/")[2]: image_id for image_id in (*BUILDERS, *PUBLISHED)}
_LABEL_LENGTH = 128
_CHECKSUM = re.compile("[0-9a-fA-F]{64}|[0-9a-fA-F]{128}")


@click.group()
def image() -> None:
    """Images on this host. A running server offers them at once."""


@image.command()
@state_option
@click.argument("name", type=click.Choice(list(_NAMES)))
def build(state: Path | None, name: str) -> None:
    """Build an image from the host's package sources; needs root.

    Of those that are not built here it says what to import.
    """
    image_id = _NAMES[name]
    if image_id in PUBLISHED:
        raise click.ClickException(
            f"{image_id} is not built here; import what its makers publish:\n"
            f"roost image import {PUBLISHED[image_id]} --id {image_id}"
        )
    store = ImageStore(read_settings(state=state).image_folder)
    run(build_image(store, image_id, lambda text: _say(image_id, text), again=True))


@image.command("import")
@state_option
@click.argument("source", metavar="FILE|URL")
@click.option("--id", "image_id", required=True, help="Such as acme/alpine.")
@click.option("--label", help="Of an image that is not in the catalogue. Default: its id.")
@click.option("--checksum", help="SHA-256 or SHA-512 of the file, as its makers publish it.")
def import_(
    state: Path | None, source: str, image_id: str, label: str | None, checksum: str | None
) -> None:
    """Import a cloud image: qcow2 or raw, set up by cloud-init; gzip is unpacked."""
    if checksum is not None and _CHECKSUM.fullmatch(checksum) is None:
        raise click.BadParameter("must be 64 or 128 hexadecimal digits", param_hint="--checksum")
    if label is not None and not 1 <= len(label) <= _LABEL_LENGTH:
        raise click.BadParameter(f"must be 1-{_LABEL_LENGTH} characters", param_hint="--label")
    if image_id.startswith("private/"):
        raise click.BadParameter("private/ is for the images of accounts", param_hint="--id")
    settings = read_served_settings(state=state)
    run(_import(settings, source, image_id, label, checksum))


@image.command("list")
@state_option
@json_option
def list_all(state: Path | None, as_json: bool) -> None:
    """List the images on this host, with the sizes of their disks in MB."""
    settings = read_settings(state=state)
    begun = settings.sealing_key.exists()
    store = ImageStore.of(settings) if begun else ImageStore(settings.image_folder)
    rows = [image.info.model_dump() for image in store.list()]
    show_all(rows, ("id", "boot", "setup", "virtual_size"), as_json)


async def _import(
    settings: Settings, source: str, image_id: str, label: str | None, checksum: str | None
) -> None:
    """An image that is not in the catalogue becomes public beside it."""
    from roost.engines.qemu.images.importing import import_image  # With an HTTP client.

    listed = load(settings.catalog).find_image(image_id) is not None
    if listed and label is not None:
        raise click.BadParameter("the catalogue labels this image", param_hint="--label")
    store = ImageStore(settings.image_folder)
    say = partial(_say, image_id)
    await import_image(store, source, image_id, say, checksum=checksum)
    found = store.find(image_id)
    if found is None:
        raise ImageError(f"{image_id} is gone already")
    if not listed:
        size = found.info.virtual_size
        async with open_store(settings) as database:
            now = (await clock_beside(settings, database)).now()
            await offer(database, image_id, label or image_id, size, now)


def _say(image_id: str, text: str) -> None:
    click.echo(f"{image_id}: {text}", err=True)
