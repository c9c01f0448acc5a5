"""python -m bench.attackers NAME PORT TOKEN SECONDS: one attack on a server, as its own process.

Prints `ready` when all is prepared, and goes on until its time is over, whatever it is answered.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count

import aiohttp
import click

_ROUNDS = count()


class Attacker:
    """A client with an account of its own, and with raw connections."""

    def __init__(self, session: aiohttp.ClientSession, port: int, seconds: float) -> None:
        self._session = session
        self._port = port
        self._seconds = seconds

    async def post(self, path: str, body: object) -> dict[str, object]:
        async with self._session.post(f"/v4{path}", json=body) as answer:
            found: dict[str, object] = await answer.json()
            return found

    async def get(self, path: str, **headers: str) -> None:
        async with self._session.get(f"/v4{path}", headers=headers) as answer:
            await answer.read()

    @asynccontextmanager
    async def wire(self) -> AsyncIterator[asyncio.StreamWriter]:
        _, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            yield writer
        finally:
            writer.close()

    async def go_on(self, at_once: int, act: Callable[[], Awaitable[object]]) -> None:
        """Say that all is prepared, then do it again and again."""
        click.echo("ready")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds), asyncio.TaskGroup() as tasks:
                for _ in range(at_once):
                    tasks.create_task(_repeat(act))


async def _repeat(act: Callable[[], Awaitable[object]]) -> None:
    while True:
        with contextlib.suppress(aiohttp.ClientError, OSError, json.JSONDecodeError):
            await act()
        await asyncio.sleep(0)


async def _page_zeros(attacker: Attacker) -> None:
    lengths = (7_000, 32_000)
    await attacker.go_on(
        4, lambda: attacker.get(f"/regions?page={'0' * lengths[next(_ROUNDS) % 2]}x")
    )


async def _giant_headers(attacker: Attacker) -> None:
    async def send() -> None:
        async with attacker.wire() as writer:
            writer.write(b"GET /v4/regions HTTP/1.1\r\nX-A: ")
            for _ in range(1000):
                writer.write(b"a" * 20_000)
                await writer.drain()

    await attacker.go_on(4, send)


async def _contains(attacker: Attacker) -> None:
    domain = await attacker.post("/domains", _domain("contains"))
    path = f"/domains/{domain['id']}/records"
    for number in range(60):
        record = {"type": "TXT", "name": f"t{number}", "target": "a" * 60_000}
        await attacker.post(path, record)
    wanted = json.dumps({"target": {"+contains": "b" + "a" * 254}})
    await attacker.go_on(18, lambda: attacker.get(path, **{"X-Filter": wanted}))


async def _many_problems(attacker: Attacker) -> None:
    body = {"label": "x", "region": "us-lake", "tags": [1] * 300_000}
    await attacker.go_on(4, lambda: attacker.post("/volumes", body))


async def _slow_connections(attacker: Attacker) -> None:
    async def dribble() -> None:
        async with attacker.wire() as writer:
            writer.write(b"GET /v4/regions HTTP/1.1\r\nX-A: ")
            while not writer.is_closing():
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(1)

    await attacker.go_on(1000, dribble)


async def _caa_texts(attacker: Attacker) -> None:
    domain = await attacker.post("/domains", _domain("caa"))
    texts = ("example.com;" + "a= ; " * 24 + "!", "a.b;" + " \t" * 32_000 + "!")

    async def send() -> None:
        target = texts[next(_ROUNDS) % 2]
        record = {"type": "CAA", "name": "x", "tag": "issue", "target": target}
        await attacker.post(f"/domains/{domain['id']}/records", record)

    await attacker.go_on(2, send)


async def _silent_imports(attacker: Attacker) -> None:
    """From a name server that takes connections and says nothing."""

    async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(keep, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def order() -> None:
        zone = f"silent{next(_ROUNDS)}.example"
        body = {"domain": zone, "remote_nameserver": f"127.0.0.1:{port}"}
        await attacker.post("/domains/import", body)

    async with server:
        await attacker.go_on(12, order)


async def _token_flood(attacker: Attacker) -> None:
    async def use() -> None:
        made = await attacker.post("/profile/tokens", {"label": "one of many"})
        bearer = {"Authorization": f"Bearer {made.get('token', 'none')}"}
        await attacker.get("/volumes", **bearer)

    await attacker.go_on(16, use)


def _domain(name: str) -> dict[str, str]:
    return {"domain": f"{name}.example", "type": "master", "soa_email": "a@example.com"}


ATTACKS: dict[str, Callable[[Attacker], Awaitable[None]]] = {
    "page of zeros": _page_zeros,
    "giant headers": _giant_headers,
    "+contains in long texts": _contains,
    "many problems": _many_problems,
    "slow connections": _slow_connections,
    "CAA texts": _caa_texts,
    "imports from a silent server": _silent_imports,
    "token flood": _token_flood,
}


async def _attack(name: str, port: int, token: str, seconds: float) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    limit = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(
        f"http://127.0.0.1:{port}", headers=headers, timeout=limit
    ) as session:
        await ATTACKS[name](Attacker(session, port, seconds))


if __name__ == "__main__":
    asyncio.run(_attack(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])))
