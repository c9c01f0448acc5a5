"""`roost serve` and `roost worker`: answering requests and running jobs until told to stop."""

import asyncio
import resource
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import uvicorn
from starlette.types import ASGIApp

from roost.app.applications import Applications
from roost.app.door import Door
from roost.app.fault_watch import listen
from roost.app.health import Health
from roost.app.host import HostError, end_guests, fenced
from roost.app.host_links import take_in
from roost.app.http_server import HttpServer
from roost.app.metadata.listener import serve_metadata
from roost.app.monitoring import keep_figures
from roost.app.object_tls import serve_buckets
from roost.app.overlays import keep_overlays
from roost.app.restarting_worker import RestartingWorker
from roost.app.roost import Roost
from roost.app.tls import ServerCertificate
from roost.core.events.feed import keep_in_order
from roost.resources.events.stream_service import Streams
from roost.resources.tokens.service import StoredTokens
from roost.resources.webhooks.delivery_service import Deliveries
from roost.resources.webhooks.engine import Outside
from roost.secrets import Box
from roost.settings import Settings
from roost.threads import COMPUTING
from roost.web.connections import Connections, Networks
from roost.web.protocol import bounded
from roost.web.revisions.revisions import Revisions
from roost.web.site import build_monitoring
from roost.web.tls import Handshakes

_KEEP_ALIVE = 75
"""Seconds of an idle connection; longer than clients keep theirs, so that they close first."""
_MESSAGE = 64 * 1024
"""Bytes of what a client of a WebSocket says at once."""
_GRACE = 4
"""Seconds that requests have to end in."""
_FENCED_SECONDS = 30.0
"""In which all else of a worker may end whose host is fenced, before its guests are ended."""
_MOST_FILES = 65536
"""Some programs that Roost starts close as many files as they may have, open or not."""


async def serve(
    roost: Roost,
    doors: Sequence[Door],
    on_ready: Callable[[], None],
    stop: asyncio.Event,
    certificate: ServerCertificate | None = None,
) -> None:
    """Answer requests and, unless the settings say otherwise, run jobs until `stop` is set.

    With a certificate all doors speak TLS. At the end requests and steps that run are given a few
    seconds; nothing is lost.
    """
    for door in doors:
        # Connections inherit it. Not every event loop sets it itself, and then small answers are
        # held back for 40 ms.
        door.listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    worker = RestartingWorker(roost.worker) if roost.settings.worker else None
    async with roost.revocations() as revocations:
        applications = await Applications.open(roost, worker, revocations)
        streams, tokens = roost.services.get(Streams), StoredTokens(roost.requests)
        connections = _count_connections(roost.settings)
        protocol = bounded(connections)
        handshakes = None if certificate is None else Handshakes(connections, certificate)
        ready = _after(len(doors), on_ready)
        servers: dict[socket.socket, uvicorn.Server] = {}
        for door in doors:
            app = await COMPUTING.run(applications.of, door.dialect)
            config = _configure(roost.settings, app, protocol)
            servers[door.listening] = HttpServer(config, protocol, handshakes, ready)
        try:
            async with (
                roost.usage.writing(),
                streams.open(roost.requests, roost.clock, tokens, revocations.authenticator),
                serve_buckets(roost.settings, roost.store, roost.services),
                asyncio.TaskGroup() as tasks,
            ):
                for listening, server in servers.items():
                    tasks.create_task(server.serve(sockets=[listening]))
                figures = tasks.create_task(keep_figures(roost))
                working = await _start_work(roost, worker, tasks) if worker is not None else None
                await stop.wait()
                for server in servers.values():
                    server.should_exit = True
                streams.end_all()
                figures.cancel()
                if working is not None:
                    working.stop()
        finally:
            applications.close()


async def work(
    roost: Roost,
    on_ready: Callable[[], None],
    stop: asyncio.Event,
    monitored: socket.socket | None = None,
) -> None:
    """Run jobs until `stop` is set; show `/metrics` and `/healthz` at `monitored`.

    Raises HostError when the host is fenced meanwhile, after its guests have ended; it says where
    one could not be ended.
    """
    left: list[str] | None = None
    async with asyncio.TaskGroup() as tasks:
        working = await _start_work(roost, RestartingWorker(roost.worker), tasks)
        watching = tasks.create_task(_stop_when_fenced(roost, stop))
        if monitored is None:
            on_ready()
            await stop.wait()
        else:
            await _be_monitored(roost, on_ready, stop, monitored, tasks)
        is_fenced = watching.done()
        watching.cancel()
        working.stop()
        if is_fenced:
            await asyncio.wait(working.tasks, timeout=_FENCED_SECONDS)
            left = await end_guests(roost.engines)
    if left is not None:
        where = ", ".join(left)
        guests = f"guests in {where} may still run" if left else "its guests have been ended"
        raise HostError(f"host {roost.settings.host} is fenced: {guests}")


async def _stop_when_fenced(roost: Roost, stop: asyncio.Event) -> None:
    await fenced(roost.store, roost.settings.host)
    stop.set()


async def _be_monitored(
    roost: Roost,
    on_ready: Callable[[], None],
    stop: asyncio.Event,
    listening: socket.socket,
    tasks: asyncio.TaskGroup,
) -> None:
    """Until `stop` is set."""
    settings = roost.settings
    app = build_monitoring(roost.metrics, Health(roost).check, Networks(settings.monitors))
    server = plain_server(settings, app, on_ready)
    tasks.create_task(server.serve(sockets=[listening]))
    figures = tasks.create_task(keep_figures(roost))
    await stop.wait()
    server.should_exit = True
    figures.cancel()


def plain_server(settings: Settings, app: ASGIApp, on_ready: Callable[[], None]) -> HttpServer:
    """Without TLS, with the bounds of the API's."""
    protocol = bounded(_count_connections(settings))
    return HttpServer(_configure(settings, app, protocol), protocol, None, on_ready)


@dataclass(frozen=True, slots=True)
class _Working:
    """Jobs that are run, and what goes on beside them."""

    worker: RestartingWorker
    running: asyncio.Task[None]
    beside: Sequence[asyncio.Task[None]]

    @property
    def tasks(self) -> Sequence[asyncio.Task[None]]:
        return (self.running, *self.beside)

    def stop(self) -> None:
        self.worker.stop()
        for each in self.beside:
            each.cancel()


async def _start_work(roost: Roost, worker: RestartingWorker, tasks: asyncio.TaskGroup) -> _Working:
    """Run jobs, listen to guests and answer them, build missing images, keep networks together."""
    await roost.enqueue_first_jobs()
    running = tasks.create_task(worker.run())
    box, outside = roost.services.get(Box), roost.services.get(Outside)
    revisions = roost.services.get(Revisions)
    deliveries = Deliveries(
        roost.store, roost.clock, roost.queue, box, outside.receivers, revisions
    )
    beside = (
        roost.images.build(),
        listen(roost),
        serve_metadata(roost),
        take_in(roost),
        keep_overlays(roost),
        keep_in_order(roost.store),
        deliveries.run(),
    )
    return _Working(worker, running, [tasks.create_task(work) for work in beside])


def _after(calls: int, last: Callable[[], None]) -> Callable[[], None]:
    """Calls `last` when it has been called so often."""
    left = iter(range(calls - 1, -1, -1))

    def count() -> None:
        if next(left) == 0:
            last()

    return count


def _configure(
    settings: Settings, app: ASGIApp, protocol: type[asyncio.Protocol]
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=protocol,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        ws_max_size=_MESSAGE,
        ws_per_message_deflate=False,
        server_header=False,
        proxy_headers=settings.trusted_proxies is not None,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
    )


def _count_connections(settings: Settings) -> Connections:
    """Half of the files that may be open are left to the database, guests and everything else."""
    most = min(settings.max_connections, max(1, raise_file_limit() // 2))
    proxies = Networks(settings.trusted_proxies or "")
    return Connections(most, settings.connections_per_address, proxies)


def raise_file_limit() -> int:
    """The number of files that this process may have open, from now on as many as it is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or hard > _MOST_FILES:
        wanted = max(soft, _MOST_FILES)
    else:
        wanted = hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
