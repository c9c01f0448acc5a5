"""What this machine holds of a Roost's guests, without asking Roost."""

import re
from dataclasses import dataclass
from pathlib import Path

from roost.engines.qemu.network.config import network_name
from tests.e2e.local_catalog import REGION
from tests.engines.harness import Pools
from tests.engines.qemu_host import output, processes_with


@dataclass(frozen=True, slots=True)
class Held:
    """Of guests, by their instances' ids."""

    processes: list[int]
    """An id for each QEMU."""
    taps: list[int]
    folders: list[int]
    filtered: list[int]
    """Guests that the packet filter knows; it may know those that are off."""


@dataclass(frozen=True)
class Host:
    """The part of this machine that belongs to one state folder."""

    state: Path
    pools: Pools
    region: str = REGION

    @property
    def directory(self) -> Path:
        return self.state / "qemu" / self.region

    @property
    def network(self) -> str:
        """The namespace, and the device by which the host reaches it."""
        return network_name(self.directory)

    def pids(self, compute_id: int) -> list[int]:
        """Of its QEMU; more than one would be a disaster."""
        marker = f"{self.network}.compute-{compute_id}\0"
        return processes_with(marker)

    def held(self) -> Held:
        commands = [_arguments(pid) for pid in processes_with(f"{self.network}.compute-")]
        namespace = Path("/run/netns", self.network)
        links = rules = ""
        if namespace.exists():
            links = output("ip", "-n", self.network, "-brief", "link")
            rules = output("nsenter", f"--net={namespace}", "nft", "list", "ruleset")
        folders = " ".join(path.name for path in self.directory.glob("compute-*"))
        return Held(
            processes=_numbers(r"\.compute-(\d+)$", "\n".join(commands)),
            taps=_numbers(r"\btap(\d+)", links),
            folders=_numbers(r"compute-(\d+)", folders),
            filtered=_numbers(r"chain guest_(\d+)", rules),
        )

    def remains(self) -> list[str]:
        """Processes, namespaces, devices and routes, of guests or not."""
        found = [_arguments(pid) for pid in processes_with(str(self.state))]
        found += [_arguments(pid) for pid in processes_with(self.network)]
        pools = (str(self.pools.ipv4.network), str(self.pools.ipv6.network))
        for command in ("netns", "link", "address", "-4 route", "-6 route"):
            lines = output("ip", *command.split()).splitlines()
            names = (self.network, *pools)
            found += [line for line in lines if any(name in line for name in names)]
        return found


def _arguments(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", "\n")
    except OSError:
        return ""


def _numbers(pattern: str, text: str) -> list[int]:
    return sorted(int(number) for number in re.findall(pattern, text, re.MULTILINE))
