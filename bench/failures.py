"""What can happen to a cluster of managed databases, and who puts it right."""

import asyncio
import os
import pickle
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from roost.engines.mariadb.cluster import Cluster
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import DatabaseSpec

_CUT_SECONDS = 5.0
_LATEST_SECONDS = 1.5
"""By then a supervisor that is to die has died."""


@dataclass(frozen=True, slots=True)
class Patient:
    """A cluster that something happens to."""

    engine: MariadbDatabases
    root: Path
    spec: DatabaseSpec
    version: str

    @property
    def folder(self) -> Folder:
        return Folder.of(self.root, self.spec.id)

    @property
    def primary(self) -> Folder:
        return Cluster(self.engine._host, self.folder).primary

    @property
    def replicas(self) -> list[Folder]:
        return [node for node in self.folder.nodes() if node != self.primary]

    async def mend(self) -> None:
        """What the control plane does when it is told."""
        await self.engine.ensure(self.spec)
        await self.engine.rebuild(self.spec)

    @asynccontextmanager
    async def supervised(self) -> AsyncIterator["subprocess.Popen[bytes]"]:
        """By another process, which may be killed in the block."""
        command = [sys.executable, "-m", "bench.supervisor", str(self.root)]
        pipe = subprocess.PIPE
        process = await asyncio.to_thread(subprocess.Popen, command, stdin=pipe, stdout=pipe)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(pickle.dumps((self.spec, self.version)))
            process.stdin.close()
            await asyncio.to_thread(process.stdout.readline)
            yield process
        finally:
            process.kill()
            await asyncio.to_thread(process.wait)
            process.stdout.close()


Failure = Callable[[Patient], Awaitable[None]]
"""Returns when all is well again."""


def _signal(node: Folder, number: signal.Signals) -> None:
    process = Server(node).process()
    assert process is not None
    os.kill(process.pid, number)


async def _told(patient: Patient, happen: Callable[[], None]) -> None:
    faults = patient.engine.faults()
    told = asyncio.ensure_future(anext(faults))
    await asyncio.sleep(0)
    happen()
    await told
    await faults.aclose()
    await patient.mend()


async def _kill_primary(patient: Patient) -> None:
    await _told(patient, lambda: _signal(patient.primary, signal.SIGKILL))


async def _kill_replica(patient: Patient) -> None:
    await _told(patient, lambda: _signal(random.choice(patient.replicas), signal.SIGKILL))


async def _kill_two(patient: Patient) -> None:
    """The primary with a replica, or both replicas."""
    two = random.choice([[patient.primary, patient.replicas[0]], patient.replicas])

    def happen() -> None:
        for node in two:
            _signal(node, signal.SIGKILL)

    await _told(patient, happen)


async def _kill_supervisor(patient: Patient) -> None:
    """In the middle of a failover, which another one goes on with."""
    async with patient.supervised() as process:
        _signal(patient.primary, signal.SIGKILL)
        await asyncio.sleep(random.uniform(0.3, _LATEST_SECONDS))
        process.kill()
        await asyncio.to_thread(process.wait)
    await patient.mend()


async def _stop_primary(patient: Patient) -> None:
    await _told(patient, lambda: _signal(patient.primary, signal.SIGSTOP))


async def _cut_off_primary(patient: Patient) -> None:
    """Packets between it and its replicas are dropped for a while; clients reach it."""
    port = patient.primary.port
    table = "inet roost_bench_cut"
    rules = (
        f"add table {table}\n"
        f"add chain {table} cut {{ type filter hook input priority -20; policy accept; }}\n"
        f"add rule {table} cut tcp dport {port} ip saddr 127.0.0.1 drop\n"
        f"add rule {table} cut tcp sport {port} ip daddr 127.0.0.1 drop\n"
    )
    await _nft(rules)
    try:
        await asyncio.sleep(_CUT_SECONDS)
    finally:
        await _nft(f"delete table {table}\n")
    await patient.mend()


async def _nft(rules: str) -> None:
    command = ["nft", "-f", "-"]
    await asyncio.to_thread(subprocess.run, command, input=rules.encode(), check=True)


KILLS: dict[str, Failure] = {
    "kill -9 of the primary": _kill_primary,
    "kill -9 of a replica": _kill_replica,
    "kill -9 of two": _kill_two,
    "kill -9 of the primary, then of the supervisor": _kill_supervisor,
}
OTHERS: dict[str, Failure] = {
    "SIGSTOP of the primary": _stop_primary,
    f"partition of {_CUT_SECONDS:.0f} s": _cut_off_primary,
}
