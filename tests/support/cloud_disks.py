"""A disk as clouds publish them: partitioned, with GRUB, and Debian with cloud-init."""

import asyncio
import gzip
import os
import shutil
import struct
import subprocess
from importlib.resources import files
from pathlib import Path

from roost.engines.qemu.images import apt, guest
from roost.engines.qemu.images.store import GuestImage

_MB = 1024 * 1024
_SECTOR = 512
_BOOT_CODE = 440
"""Bytes of the boot sector before its table of partitions."""
_LINUX = 0x83
_GRUB_MODULES = ("biosdisk", "part_msdos", "ext2", "linux", "boot")
_GRUB_CONFIG = """\
set root=(hd0,msdos1)
linux /boot/vmlinuz {arguments}
initrd /boot/initrd
boot
"""


async def write_cloud_disk(image: GuestImage, folder: Path) -> Path:
    """A gzip file of it, made of `roost/debian12`, which has neither partitions nor a loader."""
    grub = folder / "grub"
    await apt.download(("grub-common", "grub-pc-bin"), grub)
    return await asyncio.to_thread(_write, image, grub, folder)


def _write(image: GuestImage, grub: Path, folder: Path) -> Path:
    system, disk = folder / "system.raw", folder / "disk.raw"
    convert = ("qemu-img", "convert", "-f", "qcow2", "-O", "raw")
    subprocess.run((*convert, image.root, system), check=True)
    _change(system, image, folder)
    size = system.stat().st_size
    with disk.open("wb") as file:
        file.write(_boot_sector(grub, size // _SECTOR))
        file.write(_loader(grub, image, folder))
        file.truncate(_MB + size)
    copy = ("dd", f"if={system}", f"of={disk}", "bs=1M", "seek=1", "conv=sparse,notrunc")
    subprocess.run((*copy, "status=none"), check=True)
    system.unlink()
    subprocess.run(("gzip", "-1", disk), check=True)
    return disk.with_suffix(".raw.gz")


def _boot_sector(grub: Path, sectors: int) -> bytes:
    """One active partition, from the second megabyte on."""
    code = (grub / "usr/lib/grub/i386-pc/boot.img").read_bytes()[:_BOOT_CODE]
    partition = struct.pack("<B3sB3sII", 0x80, b"\0" * 3, _LINUX, b"\0" * 3, 2048, sectors)
    return code + bytes(6) + partition.ljust(64, b"\0") + b"\x55\xaa"


def _loader(grub: Path, image: GuestImage, folder: Path) -> bytes:
    """What the boot sector goes on with, from the second sector on."""
    config, core = folder / "early.cfg", folder / "core.img"
    config.write_text(_GRUB_CONFIG.format(arguments=image.info.kernel_args))
    options = ("-O", "i386-pc", "-d", grub / "usr/lib/grub/i386-pc", "-p", "(hd0,msdos1)/boot/grub")
    command = (grub / "usr/bin/grub-mkimage", *options, "-c", config, "-o", core)
    subprocess.run((*command, *_GRUB_MODULES), check=True)
    return core.read_bytes()


def _change(system: Path, image: GuestImage, folder: Path) -> None:
    """What the image has beside its disk goes on it, and its root is a partition."""
    assert image.kernel is not None
    assert image.initrd is not None
    table, initrd, script = folder / "fstab", folder / "initrd", folder / "debugfs"
    table.write_text("/dev/sda1 / ext4 defaults,noatime 0 1\n")
    initrd.write_bytes(image.initrd.read_bytes() + _other_init(folder))
    lines = (
        *("rm /etc/fstab", f"write {table} /etc/fstab"),
        *(f"write {initrd} /boot/initrd", f"write {image.kernel} /boot/vmlinuz"),
    )
    script.write_text("\n".join(lines))
    subprocess.run(("debugfs", "-w", "-f", script, system), check=True, capture_output=True)


def _other_init(folder: Path) -> bytes:
    """An archive behind that of the image, whose files take the place of the same there."""
    tree = folder / "init"
    tree.mkdir()
    text = (files(guest) / "init").read_text()
    assert "\ndisk=sda\n" in text
    (tree / "init").write_text(text.replace("\ndisk=sda\n", "\ndisk=sda1\n"))
    (tree / "init").chmod(0o755)
    pack = ("cpio", "-o", "-H", "newc", "-R", "0:0", "--quiet")
    packed = subprocess.run(pack, cwd=tree, input=b"init\n", check=True, capture_output=True)
    return gzip.compress(packed.stdout)


def copy_images(source: Path, target: Path) -> Path:
    """The images of this host by hard links, for a test that makes some of its own."""
    shutil.copytree(source, target, symlinks=True, copy_function=os.link)
    return target
