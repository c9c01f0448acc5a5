"""The process: `python -m roost.engines.gateway MARKER` with its settings in a file."""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import time
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop

from roost.engines.gateway import admin, handover, moves, service
from roost.engines.gateway.connections import Connections
from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.register import Register
from roost.engines.gateway.room import Room
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Upstream
from roost.engines.listeners import LOOPBACK
from roost.sockets import short_name

_BACKLOG = 1024
_CLOSE_SECONDS = 0.4
"""For requests to end in, and again for those that were told to."""
_WAIT_SECONDS = 0.05
_PORT_SECONDS = 10.0
"""In which the port must be had, when nobody passes it on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the gateway is started with."""

    folder: str
    """Where its register and its socket are."""
    port: int
    upstream_port: int
    upstream_secret: str
    domain: str | None
    min_free: int
    """Bytes of the disk."""


async def _run(settings: Settings) -> None:
    folder = Path(settings.folder)
    register = Register(folder / "register.db")
    upstream = Upstream(LOOPBACK, settings.upstream_port, settings.upstream_secret)
    room = Room(folder, settings.min_free)
    gateway = Gateway(register, upstream, settings.domain, room)
    if register.is_new:
        await _find_legacy(gateway)
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    clients = Connections(partial(service.answer, gateway))
    control = Connections(partial(admin.answer, gateway))
    (folder / "admin.sock").unlink(missing_ok=True)
    with short_name(folder, "admin.sock") as name:
        servers = [await loop.create_unix_server(control, name)]
    work = [
        asyncio.create_task(each)
        for each in (moves.work(gateway), clients.sweep(), upstream.sweep(), room.keep())
    ]
    opening = asyncio.create_task(_open(gateway, settings, clients))
    ending = asyncio.create_task(ended.wait())
    await asyncio.wait((opening, ending), return_when=asyncio.FIRST_COMPLETED)
    if opening.done():
        servers.append(opening.result())
        await ending
    opening.cancel()
    for server in servers:
        server.close()
    for each in work:
        each.cancel()
    await asyncio.gather(*(each.shut_down(_CLOSE_SECONDS) for each in (clients, control)))
    await room.save()
    register.close()


async def _open(gateway: Gateway, settings: Settings, clients: Connections) -> asyncio.Server:
    """Serve clients at the port, which is passed on by whoever waits there, or taken. Raises
    OSError when somebody else has it."""
    loop, deadline = asyncio.get_running_loop(), time.monotonic() + _PORT_SECONDS
    while True:
        server: asyncio.Server | None = None
        async with aclosing(handover.taken(Path(settings.folder))) as given:
            async for each in given:
                if each is None:
                    gateway.in_reach = True
                elif server is not None:
                    with suppress(OSError):
                        await loop.connect_accepted_socket(clients, each)
                elif each.getsockname()[1] == settings.port:
                    server = await loop.create_server(clients, sock=each, backlog=_BACKLOG)
                else:
                    each.close()
                    break
        if server is not None:
            return server
        try:
            own = socket.create_server((LOOPBACK, settings.port), backlog=_BACKLOG)
        except OSError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(_WAIT_SECONDS)
            continue
        server = await loop.create_server(clients, sock=own, backlog=_BACKLOG)
        gateway.in_reach = True
        return server


async def _find_legacy(gateway: Gateway) -> None:
    """The server behind may still be starting."""
    while True:
        try:
            await moves.find_legacy(gateway)
        except S3Error:
            await asyncio.sleep(_WAIT_SECONDS)
        else:
            return


def main() -> None:
    os.umask(0o077)
    logging.basicConfig(level=logging.WARNING)
    settings = Settings(**json.loads(Path(sys.argv[1].partition("=")[2]).read_text()))
    uvloop.run(_run(settings))


if __name__ == "__main__":
    main()
