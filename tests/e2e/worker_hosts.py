"""Two hosts of a region of real guests: network namespaces with a worker process each."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

from roost.core.hosts import queries
from roost.engines.qemu.images.mini import MINI
from roost.store.pool import connect
from tests.e2e.cloud import COMMAND_SECONDS, Cloud, opened
from tests.e2e.host import Host
from tests.e2e.local_catalog import REGION, write_catalog
from tests.e2e.program import ROOST, Program
from tests.engines.harness import claim_pools
from tests.engines.hosts import NamedHost
from tests.engines.segment import Segment
from tests.support.client import until
from tests.support.database import DatabaseServer
from tests.support.images import ensure_mini, image_root


@dataclass
class WorkerHost:
    """A host of the region, and the worker that serves it."""

    cloud: Cloud
    name: str
    network: NamedHost
    address: IPv4Address
    held: Host
    worker: Program | None = None

    @property
    def environment(self) -> dict[str, str]:
        return self.cloud.environment | {
            "ROOST_HOST": self.name,
            "ROOST_HOST_LISTEN": f"{self.address}:7420",
            "ROOST_KEY_FILE": str(self.cloud.settings.sealing_key),
            "ROOST_STATE": str(self.held.state),
        }

    @property
    def log(self) -> Path:
        return self.held.state.with_suffix(".log")

    def _command(self, *arguments: str) -> tuple[str | Path, ...]:
        """In its namespace, but with the machine's view of files."""
        return ("nsenter", f"--net=/run/netns/{self.network.name}", ROOST, *arguments)

    async def start(self) -> None:
        self.worker = await Program.start(self._command("worker"), self.environment, self.log)
        await self.worker.said("roost worker ready")

    async def kill(self) -> None:
        if self.worker is not None:
            await self.worker.kill()

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            self._command(*arguments),
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout


def guests_of(host: WorkerHost) -> Callable[[], Awaitable[tuple[list[int], list[int]]]]:
    """Ids of the guests that run there, and of those that have files there."""

    async def held() -> tuple[list[int], list[int]]:
        found = await asyncio.to_thread(host.held.held)
        return found.processes, found.folders

    return held


@asynccontextmanager
async def two_workers(
    folder: Path, server: DatabaseServer
) -> AsyncIterator[tuple[Cloud, Segment, tuple[WorkerHost, WorkerHost]]]:
    """`a` and `b`, on a segment with the world, both with room; the server itself has no guests."""
    await asyncio.to_thread(ensure_mini)
    pools = claim_pools()
    segment = Segment(f"roost-hosts{pools.number}", pools)
    catalog = write_catalog(folder / "catalog.toml", pools, MINI, uplink="routed")
    options = {"engines": "local", "catalog": catalog, "images": image_root()}
    async with (
        server.database() as url,
        opened(folder / "main", database_url=url, **options) as cloud,
    ):
        await cloud.start()
        assert cloud.command("host", "drain", "main", "--stay").returncode == 0
        here, there = (
            WorkerHost(cloud, name, network, segment.addresses[network], Host(folder / name, pools))
            for name, network in (("a", segment.here), ("b", segment.there))
        )
        try:
            for each in (here, there):
                await each.start()
            await until(partial(_serving, url), {here.name, there.name}.issubset)
            yield cloud, segment, (here, there)
        finally:
            for each in (here, there):
                await each.kill()
                each.run("down")
            segment.close()


async def _serving(database_url: str) -> set[str]:
    """Hosts on which guests can be placed: their first job has said how much room there is."""
    connection = await connect(database_url)
    try:
        return {room.host for room in await queries.serving(connection, REGION)}
    finally:
        await connection.close()
