"""Disks, volumes, backups and images of real guests: what a backup lists, and `Pieces` keep."""

from collections.abc import Mapping
from contextlib import aclosing
from io import BytesIO
from pathlib import Path, PurePosixPath

from roost.app.backup.archive import Reader, Writer
from roost.app.backup.manifest import DISKS, IMAGES, LIST_SUFFIX
from roost.app.backup.pieces import Contents, Pieces
from roost.engines.qemu.disks.saving import saved_files, settle
from roost.engines.qemu.images.store import INFO, ImageInfo, ImageStore
from roost.settings import Settings
from roost.threads import DISK

_ENGINE = "qemu"


async def write_disks(writer: Writer, settings: Settings, pieces: Pieces, drafts: Path) -> int:
    """How many files there are. Raises EngineError and OSError."""
    written = 0
    await DISK.run(pieces.begin)
    for region in sorted((settings.state / _ENGINE).glob("*")):
        async with aclosing(saved_files(region, drafts)) as files:
            async for file in files:
                contents = await DISK.run(pieces.put, file.source)
                _list(writer, f"{DISKS}/{region.name}/{file.path}", contents)
                written += 1
    for image in await DISK.run(ImageStore.of(settings).list):
        for path in sorted(image.directory.iterdir()):
            contents = await DISK.run(pieces.put, path)
            _list(writer, f"{IMAGES}/{image.info.id}/{path.name}", contents)
            written += 1
    await DISK.run(pieces.settle)
    return written


def _list(writer: Writer, path: str, contents: Contents) -> None:
    writer.add(f"{path}{LIST_SUFFIX}", BytesIO(contents.model_dump_json().encode()))


def read_contents(reader: Reader) -> Mapping[PurePosixPath, Contents]:
    """Read what the files have that a backup lists, by their path in it."""
    return {
        PurePosixPath(name.removesuffix(LIST_SUFFIX)): Contents.model_validate_json(
            reader.read(name)
        )
        for name in reader.manifest.lists
    }


async def put_disks(
    files: Mapping[PurePosixPath, Contents], pieces: Pieces, state: Path, store: ImageStore
) -> None:
    """Make them in a state that is being restored, and images that are not there.

    Raises BackupError and OSError.
    """
    images = dict[str, dict[str, Contents]]()
    for path, contents in files.items():
        if path.is_relative_to(IMAGES):
            images.setdefault(str(path.parent.relative_to(IMAGES)), {})[path.name] = contents
        else:
            await DISK.run(_put_file, pieces, contents, state / _ENGINE / path.relative_to(DISKS))
    for region in (state / _ENGINE).glob("*"):
        await DISK.run(settle, region)
    for image_id, parts in images.items():
        await _put_image(store, image_id, parts, pieces)


def _put_file(pieces: Pieces, contents: Contents, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pieces.get(contents, target)


async def _put_image(
    store: ImageStore, image_id: str, parts: Mapping[str, Contents], pieces: Pieces
) -> None:
    async with store.draft(image_id) as draft:
        if store.find(image_id) is not None:
            return
        for name, contents in parts.items():
            path = draft.image / name
            await DISK.run(pieces.get, contents, path)
            path.chmod(0o644)
        info = ImageInfo.model_validate_json((draft.image / INFO).read_text())
        await DISK.run(draft.publish, info)
