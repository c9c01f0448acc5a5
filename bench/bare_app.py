"""The least that a server can do: bare ASGI on uvicorn, with one statement for each request.

A write's statement makes the rows that Roost makes too, and leaves the job to nobody.

python -m bench.bare_app DSN
"""

import asyncio
import sys
from socket import create_server

import asyncpg
import click
import orjson
import uvicorn
import uvloop
from asyncpg import Record
from starlette.types import Receive, Scope, Send

from bench.statements import MAKE_RECORD, MAKE_VOLUME, ONE, PAGE, VOLUME_PAGE

_CONNECTIONS = 16
_PAGES = {"list": PAGE, "volumes": VOLUME_PAGE}
_WRITES = {"volume": (MAKE_VOLUME, "label"), "record": (MAKE_RECORD, "name")}
"""Statements and the fields of their bodies."""


class BareApp:
    """`/one/ID`, `/list/ACCOUNT`, `/volumes/ACCOUNT`, `POST /volume/ACCOUNT`, `/record/DOMAIN`.

    They are answered with JSON that PostgreSQL made.
    """

    def __init__(self, pool: "asyncpg.Pool[Record]") -> None:
        self._pool = pool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        _, kind, number = scope["path"].split("/")
        if kind == "one":
            body = (await self._pool.fetchval(ONE, int(number))).encode()
        elif kind in _WRITES:
            statement, field = _WRITES[kind]
            sent = orjson.loads((await receive())["body"])
            body = (await self._pool.fetchval(statement, int(number), sent[field])).encode()
        else:
            row = await self._pool.fetchrow(_PAGES[kind], int(number))
            assert row is not None
            body = f'{{"data":[{row["data"]}],"results":{row["results"]}}}'.encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _serve(dsn: str) -> None:
    listening = create_server(("127.0.0.1", 0), backlog=1024)
    async with asyncpg.create_pool(dsn, min_size=1, max_size=_CONNECTIONS) as pool:
        config = uvicorn.Config(
            BareApp(pool), log_config=None, access_log=False, lifespan="off", server_header=False
        )
        serving = asyncio.create_task(uvicorn.Server(config).serve([listening]))
        click.echo(f"bare ready http://127.0.0.1:{listening.getsockname()[1]}")
        await serving


if __name__ == "__main__":
    uvloop.run(_serve(sys.argv[1]))
