"""`roost serve` and `roost worker`: answering requests and running jobs until told to stop."""

import asyncio
import contextlib
import resource
import socket
from collections.abc import Callable, Iterator

import uvicorn

from roost.app.figures import keep_figures
from roost.app.health import Health
from roost.app.image_uploads import ImageUploads
from roost.app.lab.lab import open_lab
from roost.app.lab.routes import mount
from roost.app.object_tls import serve_buckets
from roost.app.power_watch import listen
from roost.app.restarting_worker import RestartingWorker
from roost.app.roost import Roost
from roost.core.spool import Spool
from roost.oauth.passwords import PasswordChecker
from roost.oauth.routes import build_routes
from roost.oauth.site import Site
from roost.secrets import Box
from roost.settings import Settings
from roost.web.api import Api
from roost.web.connections import Connections, Networks
from roost.web.protocol import bounded
from roost.web.revocation import Revocations
from roost.web.site import Server, build_site

_KEEP_ALIVE = 75
"""Seconds of an idle connection; longer than clients keep theirs, so that they close first."""
_GRACE = 4
"""Seconds that requests have to end in."""
_MOST_FILES = 65536
"""Some programs that Roost starts close as many files as they may have, open or not."""


class _Uvicorn(uvicorn.Server):
    """Uvicorn that says when it answers, and leaves signals to us: it would end the process."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    roost: Roost, listening: socket.socket, on_ready: Callable[[], None], stop: asyncio.Event
) -> None:
    """Answer requests and, unless the settings say otherwise, run jobs until `stop` is set.

    Then requests and steps that run are given a few seconds to end; nothing is lost.
    """
    # Connections inherit it. Not every event loop sets it itself, and then small answers are
    # held back for 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    worker = RestartingWorker(roost.worker) if roost.settings.worker else None
    async with roost.revocations() as revocations:
        config, api = await _configure(roost, worker, revocations)
        server = _Uvicorn(config, on_ready)
        try:
            async with (
                roost.usage.writing(),
                serve_buckets(roost.settings, roost.store, roost.services),
                asyncio.TaskGroup() as tasks,
            ):
                tasks.create_task(server.serve(sockets=[listening]))
                figures = tasks.create_task(keep_figures(roost))
                stop_work = await _start_work(roost, worker, tasks) if worker is not None else None
                await stop.wait()
                server.should_exit = True
                figures.cancel()
                if stop_work is not None:
                    stop_work()
        finally:
            api.close()


async def work(roost: Roost, stop: asyncio.Event) -> None:
    """Run jobs until `stop` is set."""
    async with asyncio.TaskGroup() as tasks:
        stop_work = await _start_work(roost, RestartingWorker(roost.worker), tasks)
        await stop.wait()
        stop_work()


async def _start_work(
    roost: Roost, worker: RestartingWorker, tasks: asyncio.TaskGroup
) -> Callable[[], None]:
    """Run jobs, listen to guests, build images that are missing; returns what ends that."""
    await roost.enqueue_first_jobs()
    tasks.create_task(worker.run())
    helpers = [tasks.create_task(work) for work in (roost.images.build(), listen(roost))]

    def stop() -> None:
        worker.stop()
        for helper in helpers:
            helper.cancel()

    return stop


async def _configure(
    roost: Roost, worker: RestartingWorker | None, revocations: Revocations
) -> tuple[uvicorn.Config, Api]:
    registry, api = await roost.api(revocations)
    lab = await open_lab(roost, api, revocations, worker)
    oauth = Site(
        roost.requests,
        roost.clock,
        roost.services.get(Box),
        PasswordChecker(),
        revocations,
        roost.settings.public_url,
    )
    uploads = ImageUploads(roost.requests, roost.queue, roost.clock, roost.services.get(Spool))
    more = [*build_routes(oauth), uploads.route(), *([] if lab is None else [mount(lab)])]
    monitors = Networks(roost.settings.monitors)
    site = build_site(registry, roost.metrics, Health(roost).check, monitors, more)
    config = uvicorn.Config(
        Server(api if lab is None else lab.gate, site, roost.limiter),
        http=bounded(_count_connections(roost.settings)),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=roost.settings.trusted_proxies is not None,
        forwarded_allow_ips=roost.settings.trusted_proxies,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GRACE,
    )
    return config, api


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
