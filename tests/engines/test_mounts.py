"""What the host can see of a mounted file system on a volume."""

import struct
import subprocess
from pathlib import Path

import pytest

from roost.engines.qemu.volumes.mounts import is_mounted

_MB = 1 << 20
_NEEDS_RECOVERY = (0x60, 0x4)
_CLEANLY_UNMOUNTED = (0x3A, 0x1)


def make(path: Path, *options: str, start: int = 0) -> None:
    """A file system of 4 MB that begins at a byte of the disk."""
    with path.open("ab") as disk:
        disk.truncate(start + 4 * _MB)
    command = ["mke2fs", "-q", "-F", "-E", f"offset={start}", *options, str(path), "4096k"]
    subprocess.run(command, check=True)


def flip(path: Path, field: tuple[int, int], start: int = 0) -> None:
    """Change a flag in the superblock, as a mount does."""
    offset, flag = field
    with path.open("r+b") as disk:
        disk.seek(start + 1024 + offset)
        value = disk.read(1)[0]
        disk.seek(-1, 1)
        disk.write(bytes([value ^ flag]))


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("ext2", _CLEANLY_UNMOUNTED),
        ("ext3", _NEEDS_RECOVERY),
        ("ext4", _NEEDS_RECOVERY),
    ],
)
@pytest.mark.parametrize("table", ["none", "mbr", "gpt"])
def test_a_mounted_file_system_is_seen(
    tmp_path: Path, kind: str, field: tuple[int, int], table: str
) -> None:
    disk, start = tmp_path / "disk", 0 if table == "none" else _MB
    make(disk, "-t", kind, start=start)
    if table == "mbr":
        write_mbr(disk, 0x83, start)
    elif table == "gpt":
        write_gpt(disk, start)
    assert not is_mounted(disk)
    flip(disk, field, start)
    assert is_mounted(disk)
    flip(disk, field, start)
    assert not is_mounted(disk)


@pytest.mark.parametrize("size", [0, 100, 1500, _MB])
@pytest.mark.parametrize("filling", [b"\0", b"\xff", b"EFI PART"])
def test_anything_else_is_not(tmp_path: Path, size: int, filling: bytes) -> None:
    disk = tmp_path / "disk"
    disk.write_bytes((filling * size)[:size])
    assert not is_mounted(disk)
    if size > 1024:
        write_mbr(disk, 0xEE, 512)
        assert not is_mounted(disk)


def write_mbr(disk: Path, kind: int, start: int) -> None:
    entry = struct.pack("<4xB3xII", kind, start // 512, 8192)
    with disk.open("r+b") as file:
        file.seek(446)
        file.write(entry.ljust(64, b"\0") + b"\x55\xaa")


def write_gpt(disk: Path, start: int) -> None:
    write_mbr(disk, 0xEE, 512)
    header = struct.pack("<8s64xQII", b"EFI PART", 2, 128, 128)
    entry = struct.pack("<16s16xQ", b"linux filesystem", start // 512)
    with disk.open("r+b") as file:
        file.seek(512)
        file.write(header)
        file.seek(1024 + 128)  # The second entry; the first is empty.
        file.write(entry)
