"""Data of uploads, checked while they come."""

import gzip
import os
import time
from itertools import count

import pytest
from tests.support.uploads import MB, disk_bytes

from roost.resources.images.upload_rules import RefusedError, Unpacker


def unpack(sent: bytes, step: int = 7001, most: int = 8 * MB, compressed: int = 8 * MB) -> bytes:
    unpacker = Unpacker(most, compressed)
    pieces: list[bytes] = []
    for start in range(0, len(sent), step):
        pieces.extend(unpacker.feed(sent[start : start + step]))
    pieces.append(unpacker.end())
    assert all(len(piece) <= MB for piece in pieces)
    return b"".join(pieces)


@pytest.mark.parametrize("step", [1, 7001, 10**9])
def test_a_disk_comes_through(step: int) -> None:
    disk = disk_bytes("a mark")
    assert unpack(gzip.compress(disk), step) == disk


def test_files_behind_each_other_are_one() -> None:
    disk = disk_bytes("a mark")
    assert unpack(gzip.compress(disk[:100000]) + gzip.compress(disk[100000:])) == disk


@pytest.mark.parametrize("step", [1, 7001, 10**9])
def test_zeros_behind_the_end_are_padding(step: int) -> None:
    disk = disk_bytes("a mark")
    assert unpack(gzip.compress(disk) + bytes(10_000), step) == disk


_LEAST = bytes.fromhex("1f8b0808bd5c91600003746573742e696d670003000000000000000000")
"""What test suites of clients upload as an image: a name, and nothing in it."""


@pytest.mark.parametrize(
    "sent", [_LEAST, gzip.compress(b""), gzip.compress(b"") * 3], ids=["named", "plain", "thrice"]
)
def test_a_file_with_nothing_in_it_is_an_empty_disk(sent: bytes) -> None:
    assert unpack(sent) == bytes(512)


def test_members_cost_no_more_in_a_large_piece_than_in_a_small_one() -> None:
    """In a batch of 1 MB each of 52,000 ends once had the rest of the batch copied."""
    members = gzip.compress(b"") * (MB // 20)
    unpack(members[:20])
    apart, together = _seconds(members, 4000), _seconds(members, MB)
    assert together < 3 * apart


def _seconds(sent: bytes, step: int) -> float:
    began = time.process_time()
    unpack(sent, step)
    return time.process_time() - began


@pytest.mark.parametrize("at_magic", [(1080, b"\x53\xef"), (0, b"XFSB"), (65600, b"_BHRfS_M")])
def test_file_systems_without_partitions_are_disks(at_magic: tuple[int, bytes]) -> None:
    at, magic = at_magic
    disk = bytearray(MB)
    disk[at : at + len(magic)] = magic
    assert unpack(gzip.compress(disk)) == disk


_DISK = disk_bytes("")
_PACKED = gzip.compress(_DISK)
_QCOW2 = b"QFI\xfb\0\0\0\3" + bytes(8) + b"/etc/shadow".ljust(MB - 16, b"\0")


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (_DISK, "The file is not compressed by gzip"),
        (b"\x1f", "The file is cut short"),
        (b"", "The file is cut short"),
        (_PACKED[:-9], "The file is cut short"),
        (_PACKED[:20] + b"\xff" * 200, "The file is damaged: gzip cannot unpack it"),
        (_PACKED[:-8] + bytes(8), "The file is damaged: gzip cannot unpack it"),
        (_PACKED + b"more", "The file is damaged: gzip cannot unpack it"),
        (gzip.compress(bytes(9 * MB)), "The disk is larger than 8 MB"),
        (gzip.compress(os.urandom(9 * MB), 1), "The file is larger than 8388608 bytes"),
        (_PACKED + bytes(100) + b"x", "The file is damaged: gzip cannot unpack it"),
        (_PACKED + bytes(100) + _PACKED, "The file is damaged: gzip cannot unpack it"),
        (gzip.compress(_DISK + b"x"), "The disk is not a multiple of 512 bytes long"),
        (gzip.compress(_QCOW2), "The file is a qcow2 image; send a raw disk"),
        (gzip.compress(b"KDMV".ljust(512, b"\0")), "The file is a VMDK image; send a raw disk"),
        (gzip.compress(bytes(MB)), "The file holds no disk: neither partitions nor a file system"),
    ],
    ids=count(),
)
def test_what_is_refused(sent: bytes, reason: str) -> None:
    with pytest.raises(RefusedError) as caught:
        unpack(sent, 100_000)
    assert str(caught.value) == reason
