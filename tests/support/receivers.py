"""Receivers of webhooks, good ones and others."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
from aiohttp import web

from roost.ids import new_uuid
from tests.support.client import Json

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Receiver:
    url: str = ""
    secrets: tuple[str, ...] = ()
    """One of its messages' signatures has to be by one of these."""
    taken: list[Json] = field(default_factory=list)
    """Events in the order in which they came."""
    asked: int = 0
    elsewhere: int = 0
    answers: list[Answer] = field(default_factory=list)
    """To the next messages; then 200."""

    async def take(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.asked += 1
        if self.secrets:
            assert any(_signature(each, request, body) for each in self.secrets)
        if self.answers:
            return await self.answers.pop(0)(request)
        self.taken += [each["event"] for each in orjson.loads(body)["events"]]
        return web.Response()

    async def count(self, request: web.Request) -> web.Response:
        self.elsewhere += 1
        return web.Response()


def _signature(secret: str, request: web.Request, body: bytes) -> bool:
    """As the libraries of Standard Webhooks check it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    said = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode()
    wanted = base64.b64encode(hmac.digest(key, said + body, hashlib.sha256)).decode()
    return f"v1,{wanted}" in request.headers["webhook-signature"].split(" ")


async def refuse(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=503)


async def redirect(_request: web.Request) -> web.StreamResponse:
    return web.Response(status=307, headers={"Location": "/elsewhere"})


async def hang(_request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


async def flood(request: web.Request) -> web.StreamResponse:
    """A success that never ends."""
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"x" * 65536)


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    """On a port of this machine until the end of the block; by a path of its own, as somebody may
    still have something for another test's receiver, which had the port before."""
    kept, app, path = Receiver(), web.Application(), f"/{new_uuid()}"
    app.router.add_post(path, kept.take)
    app.router.add_route("*", "/{rest:.*}", kept.count)
    runner = web.AppRunner(app, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    kept.url = f"http://{host}:{port}{path}"
    try:
        yield kept
    finally:
        await runner.cleanup()
