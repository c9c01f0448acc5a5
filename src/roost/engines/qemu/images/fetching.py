"""Getting a foreign image file: from a path or a URL, unpacked when it is a gzip file."""

import gzip
import hashlib
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from roost.engines.qemu.images.commands import ImageError
from roost.threads import DISK

_MB = 1024 * 1024
_CHUNK = 1024 * 1024
_GZIP = b"\x1f\x8b"
_SHA512 = 128
"""Hexadecimal digits."""
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=30, sock_read=60)


async def fetch(source: str, work: Path, max_bytes: int, checksum: str | None = None) -> Path:
    """The plain file, in `work` or where it is already; ImageError when it cannot be had.

    `max_bytes` limits both what is fetched and what it unpacks to. `checksum` is of what is
    fetched: SHA-256 or SHA-512, by its length.
    """
    if urlsplit(source).scheme in ("http", "https"):
        file = work / "fetched"
        try:
            await _download(source, file, max_bytes)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ImageError(f"{source} cannot be fetched: {error or 'too slow'}") from error
    else:
        file = await DISK.run(_local_file, source, max_bytes)
    if checksum is not None:
        await DISK.run(_check_sum, file, checksum.lower())
    return await DISK.run(_unpack, file, work / "unpacked", max_bytes)


async def _download(url: str, target: Path, max_bytes: int) -> None:
    async with (
        aiohttp.ClientSession(timeout=_TIMEOUT, raise_for_status=True) as session,
        session.get(url) as response,
    ):
        size = 0
        with target.open("wb") as file:
            async for chunk in response.content.iter_chunked(_CHUNK):
                size += len(chunk)
                _check_size(size, max_bytes)
                await DISK.run(file.write, chunk)


def _local_file(source: str, max_bytes: int) -> Path:
    """An absolute path, which QEMU's tools cannot mistake for an address."""
    path = Path(source).resolve()
    if not path.is_file():
        raise ImageError(f"{source} is not a file")
    _check_size(path.stat().st_size, max_bytes)
    return path


def _check_sum(path: Path, checksum: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha512" if len(checksum) == _SHA512 else "sha256")
    if found.hexdigest() != checksum:
        raise ImageError(f"the file has the checksum {found.hexdigest()}, not that")


def _unpack(source: Path, target: Path, max_bytes: int) -> Path:
    """`target` with the content of a gzip file, or `source` itself when it is none."""
    with source.open("rb") as file:
        if file.read(len(_GZIP)) != _GZIP:
            return source
    size = 0
    try:
        with gzip.open(source) as packed, target.open("wb") as file:
            while chunk := packed.read(_CHUNK):
                size += len(chunk)
                _check_size(size, max_bytes)
                file.write(chunk)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ImageError(f"the gzip file is damaged: {error}") from error
    return target


def _check_size(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ImageError(f"the image is larger than {max_bytes // _MB} MB")
