"""Whether a guest has a file system of a volume mounted, as far as the host can see.

Linux locks a removable disk while anything has it open; this is for guests that do not. ext2, ext3
and ext4 say so on the disk while they are mounted for writing, on a whole volume or in a partition.
XFS, Btrfs, swap, LVM, RAID and encrypted volumes do not say, and what is only read never does.
"""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

_SECTOR = 512
_SUPERBLOCK, _SUPERBLOCK_SIZE = 1024, 1024
_EXT_MAGIC = 0xEF53
_EXT_FIELDS = struct.Struct("<56xHH32xII")
"""Magic, state, compatible features, incompatible features."""
_CLEANLY_UNMOUNTED = 0x1
_HAS_JOURNAL = 0x4
_NEEDS_RECOVERY = 0x4

_MBR_ENTRY = struct.Struct("<4xB3xII")
_MBR_ENTRIES = range(446, 510, _MBR_ENTRY.size)
_GPT_PROTECTION = 0xEE
_GPT_HEADER = struct.Struct("<8s64xQII")
_GPT_ENTRY = struct.Struct("<16s16xQ")
_GPT_MOST_ENTRIES = 128


def is_mounted(path: Path) -> bool:
    """Whether a file system on the disk is mounted for writing, or was not unmounted."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return any(_ext_is_mounted(descriptor, start) for start in (0, *_partitions(descriptor)))
    finally:
        os.close(descriptor)


def _ext_is_mounted(descriptor: int, start: int) -> bool:
    block = os.pread(descriptor, _SUPERBLOCK_SIZE, start + _SUPERBLOCK)
    if len(block) < _SUPERBLOCK_SIZE:
        return False
    magic, state, features, needs = _EXT_FIELDS.unpack_from(block)
    if magic != _EXT_MAGIC:
        return False
    if features & _HAS_JOURNAL:
        return bool(needs & _NEEDS_RECOVERY)
    return not state & _CLEANLY_UNMOUNTED


def _partitions(descriptor: int) -> Iterator[int]:
    """Where they begin, in bytes. Not those inside an extended partition."""
    first = os.pread(descriptor, _SECTOR, 0)
    if first[510:512] != b"\x55\xaa":
        return
    for offset in _MBR_ENTRIES:
        kind, start, _sectors = _MBR_ENTRY.unpack_from(first, offset)
        if kind == _GPT_PROTECTION:
            yield from _gpt_partitions(descriptor)
        elif kind:
            yield start * _SECTOR


def _gpt_partitions(descriptor: int) -> Iterator[int]:
    header = os.pread(descriptor, _SECTOR, _SECTOR)
    if len(header) < _SECTOR:
        return
    magic, table, count, size = _GPT_HEADER.unpack_from(header)
    if magic != b"EFI PART" or not _GPT_ENTRY.size <= size <= _SECTOR or table >= 1 << 40:
        return
    for number in range(min(count, _GPT_MOST_ENTRIES)):
        entry = os.pread(descriptor, _GPT_ENTRY.size, table * _SECTOR + number * size)
        if len(entry) < _GPT_ENTRY.size:
            return
        kind, start = _GPT_ENTRY.unpack(entry)
        if any(kind) and start < 1 << 40:
            yield start * _SECTOR
