"""Router advertisements for the region's /64, from dnsmasq inside the namespace."""

import signal
from ipaddress import IPv6Network
from pathlib import Path

from roost.engines.processes import Process, find_process, search_process
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import BRIDGE
from roost.engines.qemu.network.namespace import namespace_path
from roost.threads import DISK

_PID_FILE = "dnsmasq.pid"
_STOP_SECONDS = 5.0


async def ensure_advertiser(directory: Path, name: str, prefix: IPv6Network) -> None:
    """Start dnsmasq for the namespace `name` unless it runs; its pid file is in `directory`."""
    if await DISK.run(find_advertiser, directory) is not None:
        return
    await run(
        "Router advertisements could not be started",
        "nsenter",
        f"--net={namespace_path(name)}",
        "dnsmasq",
        "--conf-file=/dev/null",
        "--port=0",
        "--bind-interfaces",
        f"--interface={BRIDGE}",
        "--except-interface=lo",
        "--leasefile-ro",
        "--enable-ra",
        f"--dhcp-range={prefix.network_address},ra-only,off-link,{prefix.prefixlen},1h",
        _marker(directory),
    )


async def stop_advertiser(directory: Path) -> None:
    process = await DISK.run(find_advertiser, directory)
    if process is not None:
        process.kill(signal.SIGTERM)
        if not await process.gone(_STOP_SECONDS):
            process.kill(signal.SIGKILL)
    (directory / _PID_FILE).unlink(missing_ok=True)


def find_advertiser(directory: Path) -> Process | None:
    """Also one whose pid file is lost."""
    marker = _marker(directory)
    return find_process(directory / _PID_FILE, marker) or search_process(marker)


def _marker(directory: Path) -> str:
    return f"--pid-file={directory.resolve() / _PID_FILE}"
