"""Browsers of the operator's pages."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from roost.app.serve import plain_server
from roost.dashboard.desk import Desk
from roost.dashboard.entry import Entry
from roost.dashboard.site import Dashboard

PORT = 8090
ADDRESS = f"http://127.0.0.1:{PORT}"


@asynccontextmanager
async def outside_of(desk: Desk) -> AsyncIterator[tuple[httpx.AsyncClient, Entry]]:
    """A browser that has not entered, and the link."""
    entry = Entry(PORT)
    app = Dashboard(desk, entry, frozenset({f"127.0.0.1:{PORT}"}), lambda: None).app()
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url=ADDRESS) as browser:
        yield browser, entry


async def do(operator: httpx.AsyncClient, path: str, act: str, **form: str) -> httpx.Response:
    page = await operator.get(path)
    csrf = re.search('name="csrf" value="([0-9a-f]+)"', page.text)
    assert csrf is not None
    return await operator.post(f"{path}?do={act}", data={"csrf": csrf[1], **form})


@asynccontextmanager
async def served(desk: Desk) -> AsyncIterator[tuple[str, Entry]]:
    """The pages' address, where a browser of the machine reaches them, and the link."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        entry, ready = Entry(port), asyncio.Event()
        app = Dashboard(desk, entry, frozenset({f"127.0.0.1:{port}"}), lambda: None).app()
        server = plain_server(desk.settings, app, ready.set)
        task = asyncio.create_task(server.serve(sockets=[listening]))
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        try:
            yield f"http://127.0.0.1:{port}", entry
        finally:
            server.should_exit = True
            waiting.cancel()
            await task
            await desk.close()
