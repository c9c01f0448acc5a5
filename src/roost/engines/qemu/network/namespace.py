"""Work in a network namespace or on the host, in a thread of its own that ends with the work."""

import asyncio
import ctypes
import fcntl
import os
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from roost.engines.qemu.network.config import BRIDGE, NAMESPACES

_Result = TypeVar("_Result")
_SYSCTL = Path("/proc/sys/net")
_CLONE_NEWNET = 0x40000000
_TUNSETIFF = 0x400454CA
_TAP_WITHOUT_INFO_WITH_OFFLOADS = 0x0002 | 0x1000 | 0x4000

_SYSCTLS = {
    "ipv4/ip_forward": "1",
    "ipv6/conf/all/forwarding": "1",
    "ipv6/conf/all/accept_dad": "0",
    "ipv6/conf/default/accept_dad": "0",
    "ipv4/tcp_fwmark_accept": "1",
    "ipv4/conf/all/send_redirects": "0",
    "ipv4/conf/default/send_redirects": "0",
}

_SILENT = {
    "ipv4/ip_forward": "0",
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
}

_ROUTER = {
    **_SILENT,
    "ipv4/ip_forward": "1",
    "ipv4/tcp_fwmark_accept": "1",
    "ipv4/conf/all/send_redirects": "0",
    "ipv4/conf/default/send_redirects": "0",
}

_WHERE_THEY_EXIST = {
    "bridge/bridge-nf-call-iptables": "0",
    "bridge/bridge-nf-call-ip6tables": "0",
    "bridge/bridge-nf-call-arptables": "0",
    "netfilter/nf_conntrack_tcp_be_liberal": "1",
}
"""Of modules that another program of the host may load at any time."""


def _of_bridge(bridge: str) -> dict[str, str]:
    return {
        f"ipv4/conf/{bridge}/send_redirects": "0",
        f"ipv4/conf/{bridge}/proxy_arp_pvlan": "1",
        f"ipv4/neigh/{bridge}/proxy_delay": "0",
    }


def namespace_path(name: str) -> Path:
    return NAMESPACES / name


def made_as(name: str) -> str:
    """Which network it is: another one after it was made anew. FileNotFoundError.

    The number alone may be that of an earlier one.
    """
    found = namespace_path(name).stat()
    return f"{found.st_ino}.{found.st_ctime_ns}"


def identity(name: str) -> str | None:
    """Which network the namespace is, as `made_as` tells; None while there is none."""
    try:
        return made_as(name)
    except FileNotFoundError:
        return None


async def within(name: str, work: Callable[[], _Result]) -> _Result:
    """Run `work` inside the namespace; OSError when there is none."""

    def work_inside() -> _Result:
        enter(name)
        return work()

    return await on_host(work_inside)


async def on_host(work: Callable[[], _Result]) -> _Result:
    """Run `work` in this process's own namespace, which a new thread has."""
    with ThreadPoolExecutor(1) as thread:
        return await asyncio.get_running_loop().run_in_executor(thread, work)


def enter(name: str) -> None:
    """Move the thread that calls into the namespace for good; OSError."""
    descriptor = os.open(namespace_path(name), os.O_RDONLY | os.O_CLOEXEC)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(descriptor, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    finally:
        os.close(descriptor)


def set_up_forwarding() -> None:
    """Let the namespace route; addresses work at once instead of after a probe for duplicates."""
    for key, value in _SYSCTLS.items():
        _SYSCTL.joinpath(key).write_text(value)


def set_up_silence() -> None:
    """Keep the namespace itself from saying or forwarding anything."""
    for key, value in _SILENT.items():
        _SYSCTL.joinpath(key).write_text(value)
    _keep_bridges_apart()


def set_up_router() -> None:
    """Let the namespace route IPv4, and nothing else."""
    for key, value in _ROUTER.items():
        _SYSCTL.joinpath(key).write_text(value)
    _keep_bridges_apart()


def set_up_subnet(bridge: str) -> None:
    """Let the router answer for guests of a subnet to each other, also for those on other hosts."""
    settings = _of_bridge(bridge) | {f"ipv4/conf/{bridge}/proxy_arp": "1"}
    for key, value in settings.items():
        _SYSCTL.joinpath(key).write_text(value)


def set_up_bridge() -> None:
    """Let the gateway answer for guests to each other, as all that they send goes through it, and
    for public addresses that are behind the router of a VPC."""
    more = {
        f"ipv4/conf/{BRIDGE}/proxy_arp": "1",
        f"ipv4/conf/{BRIDGE}/arp_accept": "1",
        f"ipv4/neigh/{BRIDGE}/locktime": "0",
        f"ipv6/neigh/{BRIDGE}/proxy_delay": "0",
    }
    for key, value in (_of_bridge(BRIDGE) | more).items():
        _SYSCTL.joinpath(key).write_text(value)
    _keep_bridges_apart()


def _keep_bridges_apart() -> None:
    for key, value in _WHERE_THEY_EXIST.items():
        if _SYSCTL.joinpath(key).exists():
            _SYSCTL.joinpath(key).write_text(value)


def open_tap(name: str) -> int:
    """A descriptor that keeps a guest's network device alive for as long as it is open."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    request = struct.pack("16sH22x", name.encode(), _TAP_WITHOUT_INFO_WITH_OFFLOADS)
    try:
        fcntl.ioctl(descriptor, _TUNSETIFF, request)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def read_taps() -> set[int]:
    """The guests that have a network device."""
    lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    names = (line.partition(":")[0].strip() for line in lines)
    return {int(name[3:]) for name in names if name[:3] == "tap" and name[3:].isdecimal()}
