"""Whether guests can run on this host."""

import asyncio
import ctypes
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from roost.core.engine import EngineError
from roost.engines.qemu.boot.command import PROGRAM
from roost.engines.qemu.guests.users import users_exist
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.qemu.network.rules import BASE

_PACKAGES = {
    PROGRAM: "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "ip": "iproute2",
    "tc": "iproute2",
    "nft": "nftables",
    "dnsmasq": "dnsmasq-base",
    "e2fsck": "e2fsprogs",
    "mkfs.ext4": "e2fsprogs",
    "resize2fs": "e2fsprogs",
    "mkswap": "util-linux",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "setsid": "util-linux",
}
_TUN = "/dev/net/tun"
_CLONE_NEWNET = 0x40000000


async def check(state_dir: Path, network: NetworkConfig) -> str | None:
    """The reason why this host cannot run guests, or None."""
    if os.geteuid() != 0:
        return "only root may run virtual machines with networks"
    if missing := missing_packages():
        return f"these packages are not installed: {', '.join(missing)}"
    return await _kernel_problem() or await GuestNetwork(state_dir, network).problem()


def missing_packages() -> tuple[str, ...]:
    """Debian packages whose programs this host lacks."""
    missing = (package for program, package in _PACKAGES.items() if shutil.which(program) is None)
    return tuple(dict.fromkeys(missing))


async def qemu_version() -> str:
    """Such as `7.2.22`."""
    first_line = (await run("QEMU does not run", PROGRAM, "--version")).partition("\n")[0]
    return first_line.partition("version ")[2].partition(" ")[0]


async def _kernel_problem() -> str | None:
    if not users_exist():
        return "the users that guests run as do not exist in this user namespace"
    try:
        os.close(os.open(_TUN, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"{_TUN} cannot be used: {error.strerror}"
    with ThreadPoolExecutor(1) as thread:
        loop = asyncio.get_running_loop()
        if not await loop.run_in_executor(thread, _may_make_namespaces):
            return "network namespaces are forbidden here"
    try:
        await run("nftables cannot filter bridges here", "nft", "--check", "-f", "-", feed=BASE)
    except EngineError as error:
        return str(error)
    return None


def _may_make_namespaces() -> bool:
    """The thread moves into a new namespace, which ends with the thread."""
    failed: int = ctypes.CDLL(None).unshare(_CLONE_NEWNET)
    return failed == 0
