"""Importing cloud images: a local file or a URL, raw or qcow2, with or without gzip.

The file is foreign. A qcow2 can name other files of the host as its content, so it is refused
unless it stands alone.
"""

import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from roost.engines.qemu.images.commands import ImageError, run
from roost.engines.qemu.images.fetching import fetch
from roost.engines.qemu.images.store import ROOT, ImageInfo, ImageStore
from roost.threads import DISK

MAX_BYTES = 16 * 1024**3
"""Of the file, and of what it unpacks to."""
MAX_VIRTUAL_BYTES = 256 * 1024**3

_MB = 1024 * 1024
_QCOW2 = b"QFI\xfb"
_QCOW2_HEADER = 104
_EXTERNAL_DATA_FILE = 1 << 2
_SECTOR = 512
_BOOTABLE = b"\x55\xaa"
"""The end of the first sector of a disk that firmware boots, also before a GPT."""


class _Details(BaseModel):
    """The part of `qemu-img info` that matters; the name is QEMU's."""

    virtual_size: int = Field(alias="virtual-size")


async def import_image(
    store: ImageStore,
    source: str,
    image_id: str,
    progress: Callable[[str], None],
    max_bytes: int = MAX_BYTES,
    checksum: str | None = None,
) -> None:
    """Store the cloud image at `source`, a path or an http(s) URL, as `image_id`.

    It boots by itself and is set up by cloud-init. `checksum` is that of the file before it is
    unpacked: SHA-256 or SHA-512 in hexadecimal. ImageError says why a file is refused.
    """
    async with store.draft(image_id) as draft:
        progress(f"fetching {source}")
        plain = await fetch(source, draft.work, max_bytes, checksum)
        kind = await DISK.run(_kind, plain)
        size = await _virtual_size(plain, kind)
        info = ImageInfo(
            id=image_id,
            boot="firmware",
            kernel_args="",
            setup="nocloud",
            cloud_init=True,
            virtual_size=math.ceil(size / _MB),
        )
        progress("converting")
        await run("qemu-img", "convert", "-f", kind, "-O", "qcow2", plain, draft.image / ROOT)
        await DISK.run(draft.publish, info)
    progress(f"{image_id} is ready")


def _kind(path: Path) -> Literal["qcow2", "raw"]:
    """By its first bytes alone: QEMU's own search would follow what foreign formats refer to."""
    with path.open("rb") as file:
        head = file.read(_SECTOR)
    if head.startswith(_QCOW2):
        _check_qcow2(head)
        return "qcow2"
    if len(head) < _SECTOR or not head.endswith(_BOOTABLE):
        raise ImageError("the image is neither qcow2 nor a raw disk that boots")
    return "raw"


def _check_qcow2(head: bytes) -> None:
    """Before QEMU sees it, since its tools open the files that a header names."""
    if len(head) < _QCOW2_HEADER:
        raise ImageError("the qcow2 file is cut short")
    version, backing_offset = struct.unpack_from(">IQ", head, 4)
    (features,) = struct.unpack_from(">Q", head, 72) if version > 2 else (0,)
    if backing_offset or features & _EXTERNAL_DATA_FILE:
        raise ImageError("the image refers to another file")


async def _virtual_size(path: Path, kind: str) -> int:
    """Bytes of the disk."""
    text = await run("qemu-img", "info", "--output=json", "-f", kind, path)
    size = _Details.model_validate_json(text).virtual_size
    if size > MAX_VIRTUAL_BYTES:
        raise ImageError(f"the disk is larger than {MAX_VIRTUAL_BYTES // _MB} MB")
    return size
