"""`roost/mini`: a guest of a few megabytes that answers on SSH seconds after its start.

Debian's cloud kernel, busybox, dropbear and udev. The initial RAM disk only loads drivers and
mounts the root disk, so what the guest writes, its SSH host keys too, outlives a restart.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from roost.engines.qemu.images import apt
from roost.engines.qemu.images.commands import make_disk, run
from roost.engines.qemu.images.guest import lines, place
from roost.engines.qemu.images.initrd import kernel_release, pack_initrd
from roost.engines.qemu.images.store import INITRD, KERNEL, ROOT, Draft, ImageInfo
from roost.threads import DISK

MINI = ImageInfo(
    id="roost/mini",
    boot="kernel",
    kernel_args="console=ttyS0 net.ifnames=0 mitigations=off nokaslr audit=0 apparmor=0"
    " random.trust_cpu=on quiet panic=1",
    setup="fw_cfg",
    cloud_init=False,
    virtual_size=64,
    any_lun=True,
)

_DIRECTORIES = (
    *("dev", "proc", "sys", "run", "tmp", "root", "mnt"),
    *("etc/dropbear", "var/log", "var/lib/roost"),
)
_LINKS = {
    "lib/systemd/systemd-udevd": "/bin/udevadm",
    "sbin/fsck.ext3": "e2fsck",
    "sbin/fsck.ext4": "e2fsck",
    "sbin/mkfs.ext2": "mke2fs",
    "sbin/mkfs.ext3": "mke2fs",
    "sbin/mkfs.ext4": "mke2fs",
}
_ETC = ("inittab", "passwd", "group", "shadow", "os-release", "rc", "late")
_GUEST_FILES = {
    **{name: f"etc/{name}" for name in _ETC},
    "power": "etc/acpi/PWRF/00000080",
}


async def build_mini(draft: Draft, progress: Callable[[str], None]) -> None:
    """Build `roost/mini` from the host's package sources, as root; takes a few seconds."""
    await _build(draft.work, draft.image, progress)
    await DISK.run(draft.publish, MINI)
    progress(f"{MINI.id} is ready")


async def _build(work: Path, image: Path, progress: Callable[[str], None]) -> None:
    packages, root = work / "packages", work / "root"
    progress("downloading packages")
    await apt.download((*lines("packages"), await apt.newest_kernel()), packages)
    progress("packing the initial RAM disk")
    shutil.copy(packages / f"boot/vmlinuz-{kernel_release(packages)}", image / KERNEL)
    (image / INITRD).write_bytes(await pack_initrd(packages, work / "initrd"))
    progress("writing the root disk")
    applets = await run(packages / "bin/busybox", "--list-full")
    await DISK.run(_lay_out_root, packages, root, applets.decode().split())
    await make_disk(root, image / ROOT, MINI.virtual_size, "mini")


def _lay_out_root(packages: Path, tree: Path, applets: list[str]) -> None:
    for directory in _DIRECTORIES:
        (tree / directory).mkdir(parents=True)
    for source in (path for pattern in lines("files") for path in packages.glob(pattern)):
        target = tree / source.relative_to(packages)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
    for path, place_of in (dict.fromkeys(applets, "/bin/busybox") | _LINKS).items():
        _link(tree / path, place_of)
    for name, path in _GUEST_FILES.items():
        place(name, tree / path)


def _link(path: Path, target: str) -> None:
    """A real program that is there already goes before busybox's own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.symlink_to(target)
