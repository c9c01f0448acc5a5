"""Two hosts of one region: for real guests network namespaces, with the world in a third one."""

import asyncio
import os
import signal
import sqlite3
from collections.abc import Coroutine
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Protocol, TypeVar

from roost.engines.qemu.boot.command import Accelerator
from roost.engines.qemu.guests.directory import Guest
from roost.engines.qemu.guests.monitor import connected
from roost.engines.qemu.host.kvm import accelerator
from roost.engines.qemu.images.store import ImageStore
from roost.engines.qemu.instances import QemuInstances
from roost.engines.qemu.migration import machines
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.engines import NftablesFirewalls
from roost.engines.qemu.volumes.engine import QemuVolumes
from roost.resources.compute.engine import InstanceEngine, InstanceSpec
from roost.resources.volumes.engine import VolumeEngine
from tests.engines.harness import Harness, Pools, SimulatedHarness
from tests.engines.hosts import NamedHost
from tests.engines.qemu_host import QemuHarness, processes_with
from tests.engines.segment import Segment, answer_for

_T = TypeVar("_T")


class LiveHost(Protocol):
    """One of the two. What it runs, it runs where the host is."""

    address: IPv4Address

    @property
    def harness(self) -> Harness: ...

    @property
    def engine(self) -> InstanceEngine: ...

    @property
    def volumes(self) -> VolumeEngine: ...

    def run(self, work: Coroutine[object, object, _T]) -> _T: ...

    def runs(self, compute_id: int) -> bool:
        """Whether its processors run: not that of a guest that waits, or was halted."""

    def die(self, compute_id: int) -> None:
        """Let all machines of the guest end, also one that waits for it."""

    def remains(self, compute_id: int) -> list[str]: ...

    def close(self) -> None: ...


class SimulatedHost:
    """Of which only the state file tells it from another one."""

    def __init__(self, state_dir: Path) -> None:
        self.address = IPv4Address("127.0.0.1")
        self._runner = asyncio.Runner()
        self._state = state_dir / "state.sqlite3"
        self.harness = SimulatedHarness(state_dir)
        self.engine, self.volumes = self.harness.engine, self.harness.volumes

    def run(self, work: Coroutine[object, object, _T]) -> _T:
        return self._runner.run(work)

    def runs(self, compute_id: int) -> bool:
        state = self.run(self.engine.inspect(compute_id))
        return state is not None and state.power == "running" and not self._handed(compute_id)

    def _handed(self, compute_id: int) -> bool:
        with sqlite3.connect(self._state) as connection:
            query = "select json_extract(body, '$.handed') from document where kind = 'guest'"
            rows = connection.execute(f"{query} and name = ?", (str(compute_id),)).fetchall()
        return bool(rows[0][0])

    def die(self, compute_id: int) -> None:
        self.run(self.engine.crash(compute_id))

    def remains(self, compute_id: int) -> list[str]:
        with sqlite3.connect(self._state) as connection:
            query = "select kind, name from document where name = ? or name like ?"
            names = (str(compute_id), f"{compute_id}/%")
            return [" ".join(row) for row in connection.execute(query, names)]

    def close(self) -> None:
        self.run(self.engine.close())
        self.run(self.volumes.close())
        self._runner.close()


class QemuHost:
    """A network namespace on the segment of the world."""

    def __init__(
        self,
        host: NamedHost,
        address: IPv4Address,
        state_dir: Path,
        images: ImageStore,
        pools: Pools,
    ) -> None:
        self.host = host
        self.address = address
        self.state_dir = state_dir
        self.network = NetworkConfig((pools.ipv4,), pools.ipv6, uplink="routed")
        self._images = images
        self.accelerator: Accelerator = self.run(accelerator())
        self.harness = QemuHarness(state_dir, images, pools)
        self.engine = self.reopen()
        self.volumes = QemuVolumes(state_dir)
        self.firewalls = NftablesFirewalls(state_dir, self.network)

    def reopen(self) -> QemuInstances:
        return QemuInstances(self.state_dir, self._images, self.network, self.accelerator)

    def run(self, work: Coroutine[object, object, _T]) -> _T:
        return self.host.run(work)

    def runs(self, compute_id: int) -> bool:
        guests = [Guest(self.state_dir, compute_id, arriving) for arriving in (False, True)]
        return any(each.process() and self.run(_runs(each)) for each in guests)

    def machines(self, compute_id: int) -> list[int]:
        """The processes of the guest's QEMUs on this host."""
        marker = Guest(self.state_dir, compute_id).marker
        return [pid for pid in processes_with(marker) if _is_machine(pid)]

    def die(self, compute_id: int) -> None:
        for pid in self.machines(compute_id):
            os.kill(pid, signal.SIGKILL)
        for pid in self.machines(compute_id):
            while _is_machine(pid):
                pass

    def remains(self, compute_id: int) -> list[str]:
        return self.run(self.harness.remains(compute_id))

    def answers_for(self, spec: InstanceSpec) -> None:
        for each in spec.ipv4:
            answer_for(self.host, str(each.interface.ip))

    def close(self) -> None:
        self.run(self.engine.shut_down())


@dataclass(frozen=True)
class Pair:
    """Where guests begin, and where they are to go."""

    here: LiveHost
    there: LiveHost

    def spec(self, compute_id: int) -> InstanceSpec:
        return self.here.harness.spec(compute_id)

    def close(self) -> None:
        self.here.close()
        self.there.close()


class QemuPair:
    """Both on a segment with the world."""

    def __init__(self, folder: Path, images: ImageStore, pools: Pools) -> None:
        self.pools = pools
        self._segment = Segment(f"roost-live{pools.number}", pools)
        self.world = self._segment.world
        self.here = self._host(self._segment.here, folder / "here", images)
        self.there = self._host(self._segment.there, folder / "there", images)

    def _host(self, host: NamedHost, folder: Path, images: ImageStore) -> QemuHost:
        return QemuHost(host, self._segment.addresses[host], folder, images, self.pools)

    def spec(self, compute_id: int) -> InstanceSpec:
        return self.pools.spec(compute_id)

    def close(self) -> None:
        self.here.close()
        self.there.close()
        self._segment.close()


async def _runs(guest: Guest) -> bool:
    async with connected(guest.directory) as monitor:
        return (await machines.state(monitor)).running


def _is_machine(pid: int) -> bool:
    """Neither what starts a QEMU, nor what is left of one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return "(qemu-system" in stat and stat.rpartition(")")[2].split()[0] not in "ZX"
