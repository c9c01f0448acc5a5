"""What holds of the data of an upload, checked while they come (spec A images 5)."""

import zlib
from collections.abc import Iterator
from datetime import timedelta

from roost.errors import ShownError

MAX_COMPRESSED = 5 * 1024**3
"""Bytes (spec A limits image upload)."""
WINDOW = timedelta(hours=24)
"""In which data have to come (spec A images 6)."""
CANCELED = "No data have come within 24 hours; the upload is canceled"

_PIECE = 1024**2
_SECTOR = 512
_HEAD = 65536 + 72
"""Bytes at the beginning that tell a disk from other files."""
_GZIP = b"\x1f\x8b"
_DISKS = (
    (510, b"\x55\xaa"),
    (1080, b"\x53\xef"),
    (0, b"XFSB"),
    (65600, b"_BHRfS_M"),
)
"""A partition table or boot sector (also before a GPT), ext2 to ext4, XFS, btrfs."""
_FORMATS = ((0, b"QFI\xfb", "qcow2"), (0, b"KDMV", "VMDK"), (0, b"vhdxfile", "VHDX"))


class RefusedError(ShownError):
    """The data cannot become an image; another attempt with them would not either."""

    lasting = True


class Unpacker:
    """Makes a raw disk of gzip data that come in pieces, holding little of it in memory."""

    def __init__(self, most: int, most_compressed: int = MAX_COMPRESSED) -> None:
        """`most`: bytes of the disk; `most_compressed`: bytes that may come."""
        self._most = most
        self._most_compressed = most_compressed
        self._member = zlib.decompressobj(wbits=31)
        self._start = b""
        self._head = bytearray()
        self._came = 0
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Pieces of the disk, of at most 1 MB; raises RefusedError."""
        self._came += len(data)
        if self._came > self._most_compressed:
            raise RefusedError(f"The file is larger than {self._most_compressed} bytes")
        if len(self._start) < len(_GZIP):
            self._start += data[: len(_GZIP)]
            if not _GZIP.startswith(self._start[: len(_GZIP)]):
                raise RefusedError("The file is not compressed by gzip")
        while data:
            data, piece = self._unpack(data)
            if piece:
                self._look_at(piece)
                yield piece

    def end(self) -> None:
        """All has come; raises RefusedError when that is not a whole disk."""
        if not self._member.eof:
            raise RefusedError("The file is cut short")
        if self._size < _SECTOR or self._size % _SECTOR:
            raise RefusedError(f"The disk is not a multiple of {_SECTOR} bytes long")
        for at, magic, name in _FORMATS:
            if self._has(at, magic):
                raise RefusedError(f"The file is a {name} image; send a raw disk")
        if not any(self._has(at, magic) for at, magic in _DISKS):
            raise RefusedError("The file holds no disk: neither partitions nor a file system")

    def _unpack(self, data: bytes) -> tuple[bytes, bytes]:
        """What is still to be unpacked, and a piece."""
        if self._member.eof:
            # Files that are put behind each other are one (RFC 1952, 2.2).
            self._member = zlib.decompressobj(wbits=31)
        try:
            piece = self._member.decompress(data, _PIECE)
        except zlib.error:
            raise RefusedError("The file is damaged: gzip cannot unpack it") from None
        return self._member.unconsumed_tail or self._member.unused_data, piece

    def _look_at(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._most:
            raise RefusedError(f"The disk is larger than {self._most // 1024**2} MB")
        if len(self._head) < _HEAD:
            self._head += piece[: _HEAD - len(self._head)]

    def _has(self, at: int, magic: bytes) -> bool:
        return self._head[at : at + len(magic)] == magic
