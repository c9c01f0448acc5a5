"""A web server that keeps the messages it is sent, and answers as it is told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
from aiohttp import web

from roost.engines.webhook.sender import DELIVERY, SIGNATURE, sign
from tests.support.client import Json

SECRET = b"a secret of more than sixteen bytes"
PATH = "/hook-4711"


@dataclass
class WebhookServer:
    url: str = ""
    messages: list[Json] = field(default_factory=list)
    """Those that it took."""
    refused: int = 0
    statuses: list[int] = field(default_factory=list)
    """With which it answers the next ones; then 200."""
    elsewhere: int = 0
    """Requests for other paths."""

    def of(self, kind: str) -> list[tuple[str, str]]:
        """Event and subject of the messages of one kind."""
        return [(m["event"], m["subject"]) for m in self.messages if m["kind"] == kind]

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        assert request.headers[SIGNATURE] == sign(SECRET, body)
        if self.statuses and (status := self.statuses.pop(0)) != 200:
            self.refused += 1
            return web.Response(status=status, headers={"Location": f"{self.url}/elsewhere"})
        message = orjson.loads(body)
        assert request.headers[DELIVERY] == message["id"]
        self.messages.append(message)
        return web.Response()

    async def count(self, request: web.Request) -> web.Response:
        self.elsewhere += 1
        return web.Response()


@asynccontextmanager
async def webhook_server() -> AsyncIterator[WebhookServer]:
    """On a port of this machine until the end of the block."""
    kept, app = WebhookServer(), web.Application()
    app.router.add_post(PATH, kept.take)
    app.router.add_route("*", "/{rest:.*}", kept.count)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    kept.url = f"http://{host}:{port}{PATH}"
    try:
        yield kept
    finally:
        await runner.cleanup()
