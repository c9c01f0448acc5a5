"""`roost/debian12`: Debian 12 with cloud-init, for real work.

Kernel and initial RAM disk lie beside the root disk, which has neither partitions nor a boot
loader: the guest starts faster and its file system grows without more ado.
"""

import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from roost.engines.qemu.images import apt
from roost.engines.qemu.images.commands import IN_OWN_MOUNTS, make_disk, run
from roost.engines.qemu.images.initrd import kernel_release, pack_initrd
from roost.engines.qemu.images.store import INITRD, KERNEL, ROOT, Draft, ImageInfo
from roost.threads import DISK

DEBIAN12 = ImageInfo(
    id="roost/debian12",
    boot="kernel",
    kernel_args="ro console=ttyS0 net.ifnames=0 mitigations=off nokaslr"
    " audit=0 apparmor=0 random.trust_cpu=on quiet",
    setup="nocloud",
    cloud_init=True,
    virtual_size=2048,
    any_lun=True,
)

_LABEL = "roost-root"

_PACKAGES = (
    *("systemd", "systemd-sysv", "systemd-resolved", "systemd-timesyncd", "udev", "dbus", "kmod"),
    *("linux-image-cloud-amd64", "busybox-static", "e2fsprogs", "fdisk"),
    *("cloud-init", "cloud-guest-utils", "netplan.io", "locales", "openssh-server"),
    *("iproute2", "iputils-ping", "netbase", "netcat-openbsd", "ca-certificates", "less", "nano"),
)

_FILES = {
    "etc/fstab": "/dev/sda / ext4 defaults,noatime,errors=remount-ro 0 1\n",
    "etc/initramfs-tools/update-initramfs.conf": "update_initramfs=no\n",
    "etc/ssh/sshd_config.d/60-roost.conf": "PermitRootLogin yes\n"
    "HostKey /etc/ssh/ssh_host_ed25519_key\n",
    "etc/cloud/cloud.cfg.d/10-roost.cfg": (files(__package__) / "debian12.cfg").read_text(),
}
_STALE = (
    *("etc/hostname", "etc/machine-id", "var/lib/dbus/machine-id"),
    *("etc/ssh/ssh_host_*", "boot/initrd.img-*"),
)
_NEEDLESS_UNITS = ("e2scrub_reap.service", "e2scrub_all.timer")
"""They look for LVM volumes, which takes seconds of each boot."""


async def build_debian12(draft: Draft, progress: Callable[[str], None]) -> None:
    """Build `roost/debian12` from the host's package sources, as root; about a minute.

    It takes 3 GB more of the store's disk while it runs.
    """
    await _build(draft.work, draft.image, progress)
    await DISK.run(draft.publish, DEBIAN12)
    progress(f"{DEBIAN12.id} is ready")


async def _build(work: Path, image: Path, progress: Callable[[str], None]) -> None:
    progress("installing Debian")
    tree = work / "root"
    options = ("--mode=root", "--variant=minbase", "--format=directory", "--architectures=amd64")
    include = f"--include={','.join(_PACKAGES)}"
    retries = f"--aptopt={apt.RETRIES.replace('=', ' ')}"
    proxy, sources = await apt.proxy_options(), await apt.sources()
    command = (*IN_OWN_MOUNTS, "mmdebstrap", *options, include, *proxy, retries)
    await run(*command, apt.RELEASE, tree, *sources)
    progress("packing the initial RAM disk")
    shutil.copy(tree / f"boot/vmlinuz-{kernel_release(tree)}", image / KERNEL)
    (image / INITRD).write_bytes(await pack_initrd(tree, work / "initrd"))
    progress("writing the root disk")
    await DISK.run(_finish, tree)
    await make_disk(tree, image / ROOT, DEBIAN12.virtual_size, _LABEL)


def _finish(tree: Path) -> None:
    for path, text in _FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    for unit in _NEEDLESS_UNITS:
        (tree / "etc/systemd/system" / unit).symlink_to("/dev/null")
    for pattern in _STALE:
        for stale in tree.glob(pattern):
            stale.unlink()
    (tree / "etc/machine-id").touch()
