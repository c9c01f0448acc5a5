"""Images of guests on disk: `<root>/<maker>/<name>` is a link to one finished version.

A version is made in a hidden directory and becomes visible by one rename of its link, so nobody
sees half of one. The directory of an image's versions is locked meanwhile, and all in it that the
link does not mean is rubbish.

Clouds may share a root for the images that operators build. Private ones are numbered by each
cloud for itself, so they are in a folder of their cloud, `<root>/.clouds/<name>`, which is laid out
as the root is.

Guests do not refer to a version by its path: `GuestImage.link` gives them their own hard link,
which keeps the blocks alive when the image is replaced or removed.
"""

import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from roost.core.catalog.catalog import PRIVATE
from roost.engines.locks import locked
from roost.engines.qemu.host.files import sync
from roost.engines.qemu.images.commands import ImageError
from roost.secrets import Box
from roost.settings import Settings
from roost.threads import DISK

ROOT = "root.qcow2"
KERNEL = "kernel"
INITRD = "initrd"
INFO = "image.json"

VERSIONS = ".versions"
UPLOADS = ".uploads"
"""In the folder of a cloud: what is being sent to it."""
_CLOUDS = ".clouds"
_SEGMENT = "[a-z0-9][a-z0-9._-]{0,62}"
_ID = re.compile(f"{_SEGMENT}/{_SEGMENT}")


class ImageInfo(BaseModel):
    """What the engine must know to start a guest from an image (`image.json`)."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: str
    boot: Literal["kernel", "firmware"]
    """Directly with the image's kernel, or by what the disk's own boot sector says."""
    kernel_args: str
    """Empty for firmware boot."""
    setup: Literal["fw_cfg", "nocloud"]
    """How the guest learns its name, keys and addresses."""
    cloud_init: bool
    """Whether user data of every cloud-init format is understood."""
    virtual_size: int
    """MB; the smallest root disk that holds the image."""
    any_lun: bool = False
    """Whether its initial RAM disk finds the root disk where the kernel's `roost.lun=N` says."""


@dataclass(frozen=True, slots=True)
class GuestImage:
    """A finished image and its files."""

    info: ImageInfo
    directory: Path

    @property
    def root(self) -> Path:
        """The qcow2 root disk. A guest's overlay uses a `link` to it as its backing file."""
        return self.directory / ROOT

    @property
    def kernel(self) -> Path | None:
        return self.directory / KERNEL if self.info.boot == "kernel" else None

    @property
    def initrd(self) -> Path | None:
        return self.directory / INITRD if self.info.boot == "kernel" else None

    def link(self, directory: Path) -> "GuestImage":
        """This image with its files hard-linked, or copied, into `directory`."""
        return self._link(directory, [path.name for path in self.directory.iterdir()])

    def link_kernel(self, directory: Path) -> "GuestImage":
        """All but the root disk, for a disk that holds the image itself."""
        names = [path.name for path in self.directory.iterdir()]
        return self._link(directory, [name for name in names if name != ROOT])

    def _link(self, directory: Path, names: Collection[str]) -> "GuestImage":
        directory.mkdir(parents=True, exist_ok=True)
        # What the image is comes last: its links are whole once that is there.
        for name in sorted(names, key=INFO.__eq__):
            _link_or_copy(self.directory / name, directory / name)
        sync(*(directory / name for name in names), directory)
        return GuestImage(self.info, directory)


def check_id(image_id: str) -> str:
    """`image_id` when it has the form `maker/name`; ImageError else, before it becomes a path."""
    if _ID.fullmatch(image_id) is None:
        raise ImageError(f"{image_id!r} is not an image id such as roost/debian12")
    return image_id


@dataclass(frozen=True, slots=True)
class Draft:
    """An image that is being made."""

    store: "ImageStore"
    id: str
    image: Path
    """For the files of the image."""
    work: Path
    """For files that are needed only meanwhile."""

    def publish(self, info: ImageInfo) -> None:
        """Make `image` the image for good, in place of the one of this id that there may be.

        Blocks, until all of it is on the disk.
        """
        if info.id != self.id:
            raise ValueError(f"{info.id} is not {self.id}")
        (self.image / INFO).write_text(info.model_dump_json(indent=2))
        sync(*self.image.iterdir(), self.image)
        self.store.put(self.id, self.image)


class ImageStore:
    """All images of one host. Calls from several processes do not disturb each other."""

    def __init__(self, root: Path, private: Path | None = None) -> None:
        """`private` is the folder of the cloud's own images: the root, where nobody shares it."""
        self.root = root
        self.private = private or root

    @classmethod
    def of(cls, settings: Settings) -> "ImageStore":
        """Blocks. Raises OSError when the cloud has no key yet."""
        return cls(settings.image_folder, cloud_folder(settings.image_folder, settings.sealing_key))

    def find(self, image_id: str) -> GuestImage | None:
        """None for an image that is not here; ImageError for a malformed id."""
        return load((self._folder(image_id) / image_id).resolve())

    def list(self) -> list[GuestImage]:
        """All images by id, without private ones of other clouds."""
        links = (path for each in {self.root, self.private} for path in each.glob("[!.]*/[!.]*"))
        ids = {"/".join(path.parts[-2:]) for path in links if path.is_symlink()}
        known = (image_id for image_id in sorted(ids) if _ID.fullmatch(image_id))
        return [image for image_id in known if (image := self.find(image_id)) is not None]

    def remove(self, image_id: str) -> None:
        """Forget an image; nothing happens when it is not here."""
        folder = self._folder(image_id)
        link = folder / image_id
        version = link.resolve()
        link.unlink(missing_ok=True)
        _discard(folder, version)

    def forget_versions(self, image_id: str) -> None:
        """Remove the place of an image of which there are no versions, and never will be."""
        folder = self._folder(image_id)
        if not folder.joinpath(image_id).is_symlink():
            shutil.rmtree(folder / VERSIONS / image_id, ignore_errors=True)

    @asynccontextmanager
    async def draft(self, image_id: str) -> AsyncIterator[Draft]:
        """Room for making an image; another process, or task, waits until the block ends.

        What is not published by then is removed, and so is what a killed process has left.
        """
        versions = self._folder(image_id) / VERSIONS / image_id
        versions.mkdir(parents=True, exist_ok=True)
        async with locked(versions):
            await DISK.run(self._sweep, image_id)
            image, work = (Path(tempfile.mkdtemp(dir=versions)) for _ in range(2))
            try:
                yield Draft(self, image_id, image, work)
            finally:
                await DISK.run(self._sweep, image_id)

    def put(self, image_id: str, version: Path) -> None:
        """Let the id mean a version that a draft has made."""
        folder = self._folder(image_id)
        link = folder / image_id
        old = link.resolve()
        link.parent.mkdir(exist_ok=True)
        fresh = version.with_suffix(".link")
        fresh.symlink_to(Path("..", VERSIONS, image_id, version.name))
        os.replace(fresh, link)
        sync(version.parent, link.parent, folder, folder.parent, self.root)
        _discard(folder, old)

    def _sweep(self, image_id: str) -> None:
        folder = self._folder(image_id)
        version = (folder / image_id).resolve()
        for path in (folder / VERSIONS / image_id).iterdir():
            if path.is_symlink():
                path.unlink()
            elif path.resolve() != version:
                shutil.rmtree(path, ignore_errors=True)

    def _folder(self, image_id: str) -> Path:
        return self.private if check_id(image_id).startswith(PRIVATE) else self.root


def cloud_folder(root: Path, key_file: Path) -> Path:
    """Where the cloud that has the key keeps what is its own; blocks, raises OSError."""
    return root / _CLOUDS / Box(key_file.read_bytes()).mark(b"cloud", b"images")[:8].hex()


def _discard(folder: Path, version: Path) -> None:
    if version.is_relative_to((folder / VERSIONS).resolve()):
        shutil.rmtree(version, ignore_errors=True)


def load(directory: Path) -> GuestImage | None:
    """What is in a finished version; None when nothing is. Raises ImageError for what is torn."""
    try:
        text = (directory / INFO).read_text()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return GuestImage(ImageInfo.model_validate_json(text), directory)
    except ValidationError as error:
        raise ImageError(f"{directory / INFO}: {error}") from error


def _link_or_copy(source: Path, target: Path) -> None:
    """`target` afterwards is `source`'s file; one that is there already is kept."""
    if target.exists():
        return
    try:
        os.link(source, target)
    except OSError:
        partial = target.with_name(f".{target.name}.partial")
        shutil.copyfile(source, partial)
        os.replace(partial, target)
