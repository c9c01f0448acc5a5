"""python -m bench.attackers NAME PORT DNS_PORT TOKEN SECONDS: one attack, as its own process.

Prints `ready` when all is prepared, goes on until its time is over, whatever it is answered, and
then prints how often it was answered how.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from itertools import count, cycle

import aiohttp
import click

from bench.name_servers import hostile, query, silent

_ADDRESS = "127.0.0.2"
"""Others are at others: so many connections from one are the attacker's own matter."""
_LABEL = "x" * 45
_BLANKS = " \t" * 32_000
_CAA_TEXTS = (f"example.com;{'a= ; ' * 24}!", f"a.b;{_BLANKS}!", f"https://{'a.' * 30_000} ")
_IMPORTS = 12
_PATIENCE = aiohttp.ClientTimeout(total=60)
_BEHIND = 10
"""Niceness: who measures on the same core does not wait for it."""


class Attacker:
    """A client with an account of its own, and with raw connections."""

    def __init__(
        self, session: aiohttp.ClientSession, ports: Sequence[int], token: str, seconds: float
    ) -> None:
        self._session = session
        self._port, self.dns_port = ports
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._seconds = seconds
        self.answers: Counter[str] = Counter()

    async def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        """The answer; `headers` instead of those of the account that sends JSON."""
        headers = self._headers if headers is None else headers
        async with self._session.request(method, path, data=body, headers=headers) as answer:
            self.answers[str(answer.status)] += 1
            return answer.status, await answer.read()

    async def insist(self, method: str, path: str, body: object) -> None:
        """A refusal for too many uses up some of what may be tried, and is waited after."""
        status, _ = await self.send(method, path, json.dumps(body).encode())
        await asyncio.sleep(status == HTTPStatus.TOO_MANY_REQUESTS)

    async def get(self, path: str, **headers: str) -> None:
        """As the account, unless `headers` say else."""
        await self.send("GET", f"/v4{path}", headers=self._headers | headers)

    async def make(self, path: str, body: object) -> dict[str, object]:
        """What is prepared has to exist. Raises RuntimeError with the answer when it does not."""
        _, answer = await self.send("POST", f"/v4{path}", json.dumps(body).encode())
        found: dict[str, object] = json.loads(answer)
        if "id" not in found:
            raise RuntimeError(answer[:500].decode())
        return found

    async def make_zone(self, name: str, texts: int = 0) -> object:
        """The id of a zone with so many texts of 60 kB."""
        zone = {"domain": f"{name}.example", "type": "master", "soa_email": "a@example.com"}
        made = await self.make("/domains", zone)
        for number in range(texts):
            record = {"type": "TXT", "name": f"t{number}", "target": "a" * 60_000}
            await self.make(f"/domains/{made['id']}/records", record)
        return made["id"]

    async def wire(self, pieces: AsyncIterator[bytes]) -> None:
        """Send them on a connection of its own, until it is closed."""
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=(_ADDRESS, 0)
        )
        try:
            async for piece in pieces:
                writer.write(piece)
                await writer.drain()
                if reader.at_eof():
                    break
        finally:
            self.answers["connections"] += 1
            writer.close()

    async def repeat(self, at_once: int, act: Callable[[], Awaitable[object]]) -> None:
        """Say that all is prepared, then do it again and again."""
        self.answers.clear()
        click.echo("ready")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds), asyncio.TaskGroup() as tasks:
                for _ in range(at_once):
                    tasks.create_task(_repeat(act))


async def _repeat(act: Callable[[], Awaitable[object]]) -> None:
    while True:
        with contextlib.suppress(aiohttp.ClientError, OSError):
            await act()
        await asyncio.sleep(0)


async def _page_zeros(attacker: Attacker) -> None:
    """Without a token."""
    pages = cycle(
        f"/regions?{name}={'0' * zeros}x"
        for name in ("page", "page_size")
        for zeros in (7_000, 32_000)
    )
    await attacker.repeat(4, lambda: attacker.send("GET", f"/v4{next(pages)}", headers={}))


async def _giant_heads(attacker: Attacker) -> None:
    """One line that does not end, or lines without number."""
    kinds = cycle((b"a" * 20_000, b"x-a: a\r\n" * 2500))

    async def pieces() -> AsyncIterator[bytes]:
        piece = next(kinds)
        yield b"GET /v4/regions HTTP/1.1\r\nX-A: "
        for _ in range(1000):
            yield piece

    await attacker.repeat(4, lambda: attacker.wire(pieces()))


async def _contains(attacker: Attacker) -> None:
    path = f"/domains/{await attacker.make_zone('contains', 60)}/records"
    wanted = json.dumps({"target": {"+contains": "b" + "a" * 254}})
    await attacker.repeat(18, lambda: attacker.get(path, **{"X-Filter": wanted}))


async def _zone_files(attacker: Attacker) -> None:
    """Parsed for long; every line of the second is refused."""
    lines = ("w{} 300 IN A 192.0.2.1\n", f"w{{}} 300 IN CAA 0 issue a.b;{'a=;' * 40}!\n")
    files = cycle("".join(map(line.format, range(900_000 // (len(line) + 4)))) for line in lines)
    await attacker.make_zone("files")

    async def order() -> None:
        body = {"domain": "file.example", "zone_file": next(files)}
        await attacker.insist("POST", "/v4/domains/import", body)

    await attacker.repeat(6, order)


async def _slow_names(attacker: Attacker) -> None:
    """Reverse names, for which a resolver is asked that does not answer."""
    made = await attacker.make("/compute/instances", {"region": "us-lake", "type": "g1-nano-1"})
    addresses = made["ipv4"]
    assert isinstance(addresses, list)
    path, body = f"/v4/networking/ips/{addresses[0]}", {"rdns": "nobody.example"}
    await attacker.repeat(18, lambda: attacker.insist("PUT", path, body))


async def _caa_texts(attacker: Attacker) -> None:
    path = f"/v4/domains/{await attacker.make_zone('caa')}/records"
    bodies = cycle(
        json.dumps({"type": "CAA", "name": "x", "tag": tag, "target": text}).encode()
        for text in _CAA_TEXTS
        for tag in ("issue", "iodef")
    )
    await attacker.repeat(2, lambda: attacker.send("POST", path, next(bodies)))


async def _many_problems(attacker: Attacker) -> None:
    listed: tuple[tuple[str, list[object]], ...] = (
        ("tags", [1] * 300_000),
        ("interfaces", [{}] * 240_000),
        ("interfaces", [1] * 300_000),
    )
    bodies = cycle(
        json.dumps(
            {"label": "x", "region": "us-lake", "type": "g1-nano-1", name: problems}
        ).encode()
        for name, problems in listed
    )
    await attacker.repeat(4, lambda: attacker.send("POST", "/v4/compute/instances", next(bodies)))


async def _many_tags(attacker: Attacker) -> None:
    """As many as an object may have, on objects that are listed together."""
    for number in range(20):
        for tags in (15_000, 100):
            labels = [f"{_LABEL}{tag:05}" for tag in range(tags)]
            body = {"label": f"tagged{number}", "region": "us-lake", "tags": labels}
            with contextlib.suppress(RuntimeError):
                await attacker.make("/volumes", body)
                break
    await attacker.repeat(8, lambda: attacker.get("/volumes?page_size=500"))


async def _slow_connections(attacker: Attacker) -> None:
    """Heads, and forms, that come byte by byte."""
    form = b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n"
    form += b"Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    heads = cycle((b"GET /v4/regions HTTP/1.1\r\nX-A: ", form))

    async def dribble() -> AsyncIterator[bytes]:
        yield next(heads)
        while True:
            yield b"a"
            await asyncio.sleep(1)

    await attacker.repeat(1000, lambda: attacker.wire(dribble()))


async def _many_tokens(attacker: Attacker) -> None:
    async def use() -> None:
        _, answer = await attacker.send("POST", "/v4/profile/tokens", b'{"label": "one of many"}')
        token = json.loads(answer).get("token", "none")
        await attacker.get("/volumes", Authorization=f"Bearer {token}")

    await attacker.repeat(16, use)


async def _site(attacker: Attacker) -> None:
    """What answers without a token."""
    form = b"grant_type=authorization_code&code=x&client_id=x&client_secret=x"
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    calls = cycle((("POST", "/oauth/token"), ("POST", "/login"), ("GET", "/v4/openapi.json")))

    async def ask() -> None:
        method, path = next(calls)
        await attacker.send(method, path, form if method == "POST" else b"", kind)

    await attacker.repeat(16, ask)


async def _datagrams(attacker: Attacker) -> None:
    """1,500 a second, for a zone of 3.6 MB."""
    await attacker.make_zone("large", 60)
    sent = query("t1.large.example")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect(("127.0.0.1", attacker.dns_port))
        asking.setblocking(False)

        async def ask() -> None:
            for _ in range(150):
                asking.send(sent)
            attacker.answers["datagrams"] += 150
            await asyncio.sleep(0.1)

        await attacker.repeat(1, ask)


async def _imports(attacker: Attacker, server: asyncio.Server) -> None:
    port, numbers = server.sockets[0].getsockname()[1], count()
    await attacker.make_zone(f"imports{port}")

    async def order() -> None:
        zone = f"import{next(numbers)}.example"
        body = {"domain": zone, "remote_nameserver": f"127.0.0.1:{port}"}
        await attacker.insist("POST", "/v4/domains/import", body)

    async with server:
        await attacker.repeat(_IMPORTS, order)


async def _hostile_imports(attacker: Attacker) -> None:
    """16 MB of records each, of which none is taken."""
    await _imports(attacker, await hostile(_CAA_TEXTS))


async def _silent_imports(attacker: Attacker) -> None:
    await _imports(attacker, await silent())


ATTACKS: dict[str, Callable[[Attacker], Awaitable[None]]] = {
    "page of zeros": _page_zeros,
    "giant heads": _giant_heads,
    "+contains in long texts": _contains,
    "zone files of 1 MB": _zone_files,
    "names that nobody resolves": _slow_names,
    "CAA texts": _caa_texts,
    "many problems": _many_problems,
    "many tags": _many_tags,
    "slow connections": _slow_connections,
    "many tokens": _many_tokens,
    "pages without a token": _site,
    "datagrams for a large zone": _datagrams,
    "imports of CAA texts": _hostile_imports,
    "imports from a silent server": _silent_imports,
}


async def _attack(name: str, ports: Sequence[str], token: str, seconds: float) -> None:
    numbers = [int(port) for port in ports]
    url = f"http://127.0.0.1:{numbers[0]}"
    connector = aiohttp.TCPConnector(local_addr=(_ADDRESS, 0))
    async with aiohttp.ClientSession(url, timeout=_PATIENCE, connector=connector) as session:
        attacker = Attacker(session, numbers, token, seconds)
        await ATTACKS[name](attacker)
    counted = (f"{times} x {answer}" for answer, times in attacker.answers.most_common())
    click.echo(", ".join(counted) or "no answer")


if __name__ == "__main__":
    os.nice(_BEHIND)
    asyncio.run(_attack(sys.argv[1], sys.argv[2:4], sys.argv[4], float(sys.argv[5])))
