"""A Roost inside the test's own event loop: real HTTP, real PostgreSQL, simulated engines."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from roost.app.door import Door
from roost.app.first_start import TOKEN_FILE
from roost.app.roost import Roost, open_roost
from roost.app.serve import serve
from roost.app.tls import ServerCertificate
from roost.dialect.linode import LINODE
from roost.settings import Settings


@dataclass(frozen=True, slots=True)
class RunningRoost:
    roost: Roost
    url: str
    token: str
    """Of the user admin; empty when the database had one before."""
    linode: str
    """Where it speaks that dialect."""


@asynccontextmanager
async def running_roost(settings: Settings) -> AsyncIterator[RunningRoost]:
    """Serve until the end of the block, on a free port."""
    async with open_roost(settings) as roost:
        doors = [Door(_listen()), Door(_listen(), LINODE)]
        ready, stop = asyncio.Event(), asyncio.Event()
        certificate = ServerCertificate.of(settings)
        serving = serve(roost, doors, ready.set, stop, certificate)
        task = asyncio.create_task(serving)
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        token = settings.state / TOKEN_FILE
        try:
            yield RunningRoost(
                roost,
                _url(doors[0], certificate),
                token.read_text().strip() if token.exists() else "",
                _url(doors[1], certificate),
            )
        finally:
            waiting.cancel()
            stop.set()
            await task


def _listen() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def _url(door: Door, certificate: ServerCertificate | None) -> str:
    scheme = "http" if certificate is None else "https"
    return f"{scheme}://127.0.0.1:{door.listening.getsockname()[1]}"


def simulated(state: Path, database_url: str, **more: object) -> Settings:
    """Settings for a quick, quiet Roost without real engines."""
    return Settings.model_validate(
        {
            "state": state,
            "DATABASE_URL": database_url,
            "engines": "simulated",
            "simulated_latency": 0,
            "objects_engine": "simulated",
            "rate_limit_scale": 0,
            "access_log": False,
            "job_lease": 2,
            "database_timeout": 30,
            **more,
        }
    )
