"""`roost serve`: the API and, unless told otherwise, a worker in one process."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from roost.app.health import check_health
from roost.app.roost import Roost
from roost.web.openapi import build_document
from roost.web.site import Server, build_site

_GRACE = 5


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


async def serve(roost: Roost, listening: socket.socket) -> None:
    """Answer until SIGTERM or SIGINT; then stop within 10 s with nothing lost."""
    registry, api = await roost.api()
    site = build_site(
        registry,
        build_document(registry),
        roost.metrics,
        lambda: check_health(roost),
        (),
    )
    config = uvicorn.Config(
        Server(api, site),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    host, port = listening.getsockname()[:2]
    server = _Uvicorn(config, lambda: _say(f"roost ready http://{host}:{port}"))
    worker = roost.worker() if roost.settings.worker else None

    def stop() -> None:
        server.should_exit = True
        if worker is not None:
            worker.stop()

    on_signals(stop)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve(sockets=[listening]))
        if worker is not None:
            tasks.create_task(worker.run())


async def work(roost: Roost) -> None:
    """`roost worker`: run jobs until SIGTERM or SIGINT."""
    worker = roost.worker()
    on_signals(worker.stop)
    _say("roost worker ready")
    await worker.run()


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def on_signals(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
