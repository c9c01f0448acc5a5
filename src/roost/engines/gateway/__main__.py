"""The process: `python -m roost.engines.gateway MARKER` with its settings in a file."""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
import uvloop
from aiohttp import web

from roost.engines.gateway import admin, moves, service
from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.register import Register
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Upstream

_MOST_LINE = 32 * 1024
_BACKLOG = 1024
_READ_BYTES = 256 << 10
"""Of a body, until reading waits for the server behind."""
_KEEP_SECONDS = 75.0
_CLOSE_SECONDS = 0.4
"""For requests to end in, and again for those that were told to."""
_WAIT_SECONDS = 0.05

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the gateway is started with."""

    folder: str
    """Where its register and its socket are."""
    port: int
    upstream_port: int
    upstream_secret: str
    domain: str | None


async def _run(settings: Settings) -> None:
    folder = Path(settings.folder)
    register = Register(folder / "register.db")
    upstream = Upstream("127.0.0.1", settings.upstream_port, settings.upstream_secret)
    gateway = Gateway(register, upstream, settings.domain)
    if register.is_new:
        await _find_legacy(gateway)
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    clients = _serving(partial(service.answer, gateway))
    control = _serving(partial(admin.answer, gateway))
    path = folder / "admin.sock"
    path.unlink(missing_ok=True)
    listening = socket.create_server(("127.0.0.1", settings.port), backlog=_BACKLOG)
    servers = [
        await loop.create_server(clients, sock=listening),
        await loop.create_unix_server(control, str(path)),
    ]
    work = asyncio.create_task(moves.work(gateway))
    await ended.wait()
    for server in servers:
        server.close()
    work.cancel()
    await asyncio.gather(*(each.shutdown(_CLOSE_SECONDS) for each in (clients, control)))
    register.close()


async def _find_legacy(gateway: Gateway) -> None:
    """The server behind may still be starting."""
    while True:
        try:
            await moves.find_legacy(gateway)
        except S3Error:
            await asyncio.sleep(_WAIT_SECONDS)
        else:
            return


def _serving(answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> web.Server:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await answer(request)
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception:
            _log.exception("request_failed", method=request.method)
            return web.Response(status=500)

    return web.Server(
        handle,
        access_log=None,
        auto_decompress=False,
        max_line_size=_MOST_LINE,
        max_field_size=_MOST_LINE,
        read_bufsize=_READ_BYTES,
        keepalive_timeout=_KEEP_SECONDS,
        handler_cancellation=True,
    )


def main() -> None:
    os.umask(0o077)
    logging.basicConfig(level=logging.WARNING)
    settings = Settings(**json.loads(Path(sys.argv[1].partition("=")[2]).read_text()))
    uvloop.run(_run(settings))


if __name__ == "__main__":
    main()
