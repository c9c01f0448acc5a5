"""How soon a change of a zone is answered and how long imports take, against PowerDNS's own API."""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from statistics import median

import aiohttp
import dns.asyncquery
import dns.message

from bench import machine
from bench.foreign import foreign_server, make_lines
from bench.results import Result
from roost.engines.powerdns.api import Place
from roost.engines.powerdns.backends import SqliteBackend
from roost.engines.powerdns.folder import Folder

_EDITS = 150
_RECORDS = 12_000
_IMPORTS = 3
_PAUSE = 0.03
_SETTLING = 3.0
_TRIES = 20
_NUMBERS = count()

Put = Callable[[str, str], Awaitable[None]]
"""Give a name of the zone an address."""


async def measure() -> AsyncIterator[Result]:
    """PowerDNS with its own SQLite file, Roost with its own PostgreSQL; nothing where it lacks."""
    if shutil.which("pdns_server") is None:
        return
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        state = Path(directory)
        command = [machine.program("roost"), "serve", "--engines", "simulated"]
        command += ["--state", str(state), "--listen", "127.0.0.1:0"]
        environment = {
            "ROOST_DNS_ENGINE": "powerdns",
            "ROOST_DNS_PRIVATE_NETWORKS": "127.0.0.0/8",
            "ROOST_RATE_LIMIT_SCALE": "0",
        }
        try:
            with machine.running(command, "roost ready", None, environment) as (_, line):
                async for result in _measure(state, f"{line.partition('ready ')[2]}/v4/"):
                    yield result
        finally:
            await asyncio.to_thread(_down, state)


async def _measure(state: Path, base: str) -> AsyncIterator[Result]:
    folder = Folder(state / "powerdns", SqliteBackend(), None)
    headers = {"Authorization": f"Bearer {(state / 'admin.token').read_text().strip()}"}
    async with (
        aiohttp.ClientSession(base, headers=headers) as roost,
        aiohttp.ClientSession(headers={"X-API-Key": folder.place().key}) as direct,
    ):
        contest = _Contest(roost, direct, folder.place(), folder.listeners[0].port)
        yield await contest.edits()
        yield await contest.imports()


def _down(state: Path) -> None:
    command = [machine.program("roost"), "down", "--state", str(state)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class _Contest:
    def __init__(
        self, roost: aiohttp.ClientSession, direct: aiohttp.ClientSession, place: Place, port: int
    ) -> None:
        self._roost = roost
        self._direct = direct
        self._zones = f"{place.url}/api/v1/servers/localhost/zones"
        self._port = port

    async def edits(self) -> Result:
        """By turns, each from the request to the moment when a query is answered."""
        await asyncio.sleep(_SETTLING)
        domain_id, own = await self._make_domain()
        zone = await self._make_zone([])

        async def by_roost(name: str, address: str) -> None:
            body = {"type": "A", "name": name, "target": address}
            await self._post(f"domains/{domain_id}/records", body)

        async def directly(name: str, address: str) -> None:
            rrset = _rrset(f"{name}.{zone}.", address) | {"changetype": "REPLACE"}
            await self._patch(zone, rrset)

        pairs = [
            (await self._edit(directly, zone), await self._edit(by_roost, own))
            for _ in range(_EDITS)
        ]
        direct, roost = (sorted(pair[i] * 1000 for pair in pairs) for i in (0, 1))
        note = f"ms: direct {median(direct):.1f}, roost {median(roost):.1f}"
        note += f" (95 %: {roost[_EDITS * 95 // 100]:.1f})"
        ratio = median(roost) / median(direct)
        return Result("record to answer: of direct", ratio, "x", 3, note=note)

    async def imports(self) -> Result:
        """12,000 records from another name server, against one call with all of them."""
        direct, roost = [], []
        for _ in range(_IMPORTS):
            began = time.monotonic()
            zone = await self._make_zone(make_lines(_RECORDS))
            await self._seen(f"h{_RECORDS - 1}.{zone}", "10.0.46.223")
            direct.append(time.monotonic() - began)
            zone = f"import{next(_NUMBERS)}.example"
            async with foreign_server(zone, _RECORDS) as port:
                began = time.monotonic()
                body = {"domain": zone, "remote_nameserver": f"127.0.0.1:{port}"}
                await self._post("domains/import", body)
                await self._seen(f"h{_RECORDS - 1}.{zone}", "10.0.46.223")
                roost.append(time.monotonic() - began)
        note = f"s: direct {median(direct):.2f}, roost {median(roost):.2f}"
        ratio = median(roost) / median(direct)
        return Result("import of 12,000: of direct", ratio, "x", 2, note=note)

    async def _edit(self, put: Put, zone: str) -> float:
        # What answers already may still be on its way into the file, which one at a time writes.
        await asyncio.sleep(_PAUSE)
        number = next(_NUMBERS)
        name, address = f"n{number}", f"10.1.{number >> 8 & 255}.{number & 255}"
        began = time.perf_counter()
        await put(name, address)
        await self._seen(f"{name}.{zone}", address)
        return time.perf_counter() - began

    async def _seen(self, name: str, address: str) -> None:
        query = dns.message.make_query(name, "A")
        while True:
            answer = await dns.asyncquery.udp(query, "127.0.0.1", port=self._port, timeout=10)
            if answer.answer and address in answer.answer[0].to_text():
                return
            await asyncio.sleep(0.0005)

    async def _make_domain(self) -> tuple[int, str]:
        zone = f"own{next(_NUMBERS)}.example"
        body = {"domain": zone, "type": "master", "soa_email": "me@example.com"}
        return await self._post("domains", body), zone

    async def _post(self, path: str, body: dict[str, str]) -> int:
        async with self._roost.post(path, json=body) as answer:
            assert answer.status == 200, await answer.text()
            return int((await answer.json())["id"])

    async def _patch(self, zone: str, rrset: dict[str, object]) -> None:
        """The file is locked at times while PowerDNS writes whom it has notified."""
        url, body = f"{self._zones}/{zone}.", {"rrsets": [rrset]}
        for _ in range(_TRIES):
            async with self._direct.patch(url, json=body) as answer:
                if answer.status == 204:
                    return
            await asyncio.sleep(_PAUSE)
        raise RuntimeError(await answer.text())

    async def _make_zone(self, lines: list[tuple[str, str]]) -> str:
        zone = f"direct{next(_NUMBERS)}.example"
        body = {
            "name": f"{zone}.",
            "kind": "Master",
            "nameservers": ["ns1.roost.internal."],
            "rrsets": [_rrset(f"{name}.{zone}.", address) for name, address in lines],
        }
        async with self._direct.post(self._zones, json=body) as answer:
            assert answer.status == 201, await answer.text()
        return zone


def _rrset(name: str, address: str) -> dict[str, object]:
    records = [{"content": address, "disabled": False}]
    return {"name": name, "type": "A", "ttl": 300, "records": records}
