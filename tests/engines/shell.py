"""Logging in to real guests. No packet for a guest may take another way than to the guest."""

import asyncio
import json
import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from tests.engines.harness import until

_OPTIONS = (
    *(
        "-o",
        "BatchMode=yes",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
    ),
    # A guest on a busy machine takes its time for the exchange of keys; where there is none, or
    # nobody listens in it, that is told within three seconds.
    *("-o", "ConnectTimeout=30", "-o", "LogLevel=ERROR"),
    # A guest that is rebooted in the middle of a session says nothing more.
    *("-o", "ServerAliveInterval=2", "-o", "ServerAliveCountMax=5"),
)
_BOOT_SECONDS = 150.0


@dataclass(frozen=True)
class Shell:
    """Root's shell in guests that are reached through the host's network device `device`."""

    key: Path
    device: str

    @property
    def public_key(self) -> str:
        return self.key.with_suffix(".pub").read_text().strip()

    async def run(self, address: IPv4Address | IPv6Address, command: str) -> str | None:
        """What the command prints in the guest; None when it fails or nobody answers."""
        return await asyncio.to_thread(self._run, address, command)

    async def booted(self, address: IPv4Address | IPv6Address) -> None:
        """Returns when the guest answers."""
        await until(lambda: self.run(address, "echo up"), bool, _BOOT_SECONDS)

    def _run(self, address: IPv4Address | IPv6Address, command: str) -> str | None:
        route = subprocess.run(
            ["ip", "-json", "route", "get", str(address)], stdout=subprocess.PIPE, check=True
        )
        assert json.loads(route.stdout)[0]["dev"] == self.device
        ssh = ["ssh", "-i", str(self.key), *_OPTIONS, f"root@{address}", command]
        try:
            done = subprocess.run(ssh, capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return None
        return done.stdout if done.returncode == 0 else None


def make_shell(directory: Path, device: str) -> Shell:
    key = directory / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    return Shell(key, device)
