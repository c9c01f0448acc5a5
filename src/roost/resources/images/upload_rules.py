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
_FIRST_BITE = 256
_LARGEST_BITE = 64 * 1024
"""Bytes that are unpacked at once, more and more of a member: the rest of a bite behind a member's
end is copied, and one who makes a file of nothing but ends would let all of it be copied at each.
"""
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
_DAMAGED = "The file is damaged: gzip cannot unpack it"
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
        self._bite = _FIRST_BITE
        self._padded = False
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
        at = 0
        while at < len(data) and not self._is_padding(data, at):
            consumed, piece = self._unpack(memoryview(data)[at : at + self._bite])
            at += consumed
            if piece:
                self._look_at(piece)
                yield piece

    def end(self) -> bytes:
        """All has come: the last piece; raises RefusedError when that is not a whole disk.

        A file with nothing in it is the least disk there is, an empty one.
        """
        if not self._member.eof:
            raise RefusedError("The file is cut short")
        if not self._size:
            return bytes(_SECTOR)
        if self._size % _SECTOR:
            raise RefusedError(f"The disk is not a multiple of {_SECTOR} bytes long")
        for at, magic, name in _FORMATS:
            if self._has(at, magic):
                raise RefusedError(f"The file is a {name} image; send a raw disk")
        if not any(self._has(at, magic) for at, magic in _DISKS):
            raise RefusedError("The file holds no disk: neither partitions nor a file system")
        return b""

    def _is_padding(self, data: bytes, at: int) -> bool:
        """Zeros behind the last member fill a block of a tape or a disk, as gzip knows."""
        self._padded = self._padded or (self._member.eof and data[at] == 0)
        if self._padded and data.count(0, at) < len(data) - at:
            raise RefusedError(_DAMAGED)
        return self._padded

    def _unpack(self, bite: memoryview) -> tuple[int, bytes]:
        """How much of it has been used, and a piece."""
        if self._member.eof:
            # Files that are put behind each other are one (RFC 1952, 2.2).
            self._member = zlib.decompressobj(wbits=31)
        try:
            piece = self._member.decompress(bite, _PIECE)
        except zlib.error:
            raise RefusedError(_DAMAGED) from None
        self._bite = _FIRST_BITE if self._member.eof else min(self._bite * 2, _LARGEST_BITE)
        unused = self._member.unconsumed_tail or self._member.unused_data
        return len(bite) - len(unused), piece

    def _look_at(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._most:
            raise RefusedError(f"The disk is larger than {self._most // 1024**2} MB")
        if len(self._head) < _HEAD:
            self._head += piece[: _HEAD - len(self._head)]

    def _has(self, at: int, magic: bytes) -> bool:
        return self._head[at : at + len(magic)] == magic
