"""`roost serve` and `roost worker`: answering requests and running jobs until told to stop."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn

from roost.app.health import check_health
from roost.app.roost import Roost
from roost.jobs.worker import Worker
from roost.web.openapi import build_document
from roost.web.site import Server, build_site

_GRACE = 5
"""Seconds that requests have to end in."""


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
    server = _Uvicorn(await _configure(roost), on_ready)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve(sockets=[listening]))
        worker = roost.worker() if roost.settings.worker else None
        if worker is not None:
            tasks.create_task(worker.run())
        await stop.wait()
        server.should_exit = True
        if worker is not None:
            worker.stop()


async def work(worker: Worker, stop: asyncio.Event) -> None:
    """Run jobs until `stop` is set."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.run())
        await stop.wait()
        worker.stop()


async def _configure(roost: Roost) -> uvicorn.Config:
    registry, api = await roost.api()
    document = build_document(registry)
    site = build_site(registry, document, roost.metrics, lambda: check_health(roost), ())
    return uvicorn.Config(
        Server(api, site),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
