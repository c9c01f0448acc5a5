"""Listens where guests ask about themselves, as long as their region's network stands."""

import asyncio
import socket
from collections.abc import Sequence
from typing import ClassVar

import structlog
import uvicorn

from roost.app.http_server import HttpServer
from roost.app.metadata.site import MetadataSite
from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.core.planes import Engines
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.network_engine import MetadataEngine
from roost.threads import DISK
from roost.web.connections import Connections, Networks
from roost.web.protocol import BoundedProtocol

_LOOK_SECONDS = 1.0
"""Until a network that was made, or made anew, is served."""
_KEEP_ALIVE = 5
_GRACE = 2
_MOST = 1024
"""Connections of a region; the engine bounds those of each guest."""

_log = structlog.get_logger(__name__)


class _GuestProtocol(BoundedProtocol):
    """A connection whose client is the id of the guest that it comes from."""

    _engine: ClassVar[MetadataEngine]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        try:
            asker = self._engine.asker(transport.get_extra_info("socket"))
        except OSError:
            asker = 0  # It has gone already.
        self.client = (str(asker), 0)


async def serve_metadata(roost: Roost) -> None:
    """Until it is cancelled: in regions with the service, whose guests have a network."""
    engines = roost.services.get(Engines).by_region(INSTANCE_PLANE)
    async with asyncio.TaskGroup() as tasks:
        for region in roost.catalog.regions:
            engine = engines.get(region.id)
            if engine is not None and "Metadata" in region.capabilities:
                site = MetadataSite(
                    region.id, roost.requests, roost.services, roost.clock, roost.limiter
                )
                tasks.create_task(keep_listening(engine.metadata, site))


async def keep_listening(engine: MetadataEngine, site: MetadataSite) -> None:
    """Until it is cancelled, in each network that there is."""
    async with asyncio.TaskGroup() as tasks:
        serving: dict[str, asyncio.Task[None]] = {}
        while True:
            serving = {name: task for name, task in serving.items() if not task.done()}
            for name in await DISK.run(engine.networks):
                if name not in serving:
                    serving[name] = tasks.create_task(_keep_listening(engine, site, name))
            await asyncio.sleep(_LOOK_SECONDS)


async def _keep_listening(engine: MetadataEngine, site: MetadataSite, name: str) -> None:
    """While there is such a network. Where another process listens, this one takes over from it."""
    failed: str | None = None
    while (network := engine.identity(name)) is not None:
        try:
            if listeners := await engine.listen(name):
                await _answer(engine, site, listeners, name, network)
            failed = None
        except Exception as error:
            if failed != (failed := str(error)):  # Once, until it is well again.
                known = isinstance(error, EngineError)
                _log.warning(
                    "metadata_not_served", region=site.region, reason=failed, exc_info=not known
                )
        await asyncio.sleep(_LOOK_SECONDS)


async def _answer(
    engine: MetadataEngine,
    site: MetadataSite,
    listeners: Sequence[socket.socket],
    name: str,
    network: str,
) -> None:
    """As long as the network is this one."""
    connections = Connections(_MOST, _MOST, Networks(""))
    bounds = {"_bounds": connections, "_engine": engine}
    protocol = type("RegionProtocol", (_GuestProtocol,), bounds)
    server = HttpServer(_configure(site, protocol), protocol, None, lambda: None)
    serving = asyncio.create_task(server.serve(sockets=list(listeners)))
    try:
        while engine.identity(name) == network and not serving.done():
            await asyncio.wait([serving], timeout=_LOOK_SECONDS)
    finally:
        server.should_exit = True
        await serving


def _configure(site: MetadataSite, protocol: type[BoundedProtocol]) -> uvicorn.Config:
    return uvicorn.Config(
        site.app(),
        http=protocol,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
    )
