"""A thousand random edits of a zone while PowerDNS and Roost are killed: both end equal."""

import asyncio
import os
import random
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from roost.app.fsck import check_all
from roost.app.roost import open_roost
from roost.resources.domains.engine import Master
from roost.resources.domains.settings import Dns
from tests.e2e.careful import Request
from tests.e2e.cloud import Cloud, opened
from tests.support.client import Answer, Json, until

EDITS = 1000
KILLS = 20
_SERVER_KILLS = 5
"""The others hit PowerDNS."""
_LANES = 8
_NAMES = 12
"""Of each lane."""
_ZONE = "killed.example"
_SETTLE_SECONDS = 120.0


@pytest_asyncio.fixture
async def cloud(tmp_path: Path) -> AsyncIterator[Cloud]:
    if shutil.which("pdns_server") is None:
        pytest.skip("pdns_server is not installed")
    async with opened(tmp_path / "state", engines="simulated", dns_engine="powerdns") as cloud:
        await cloud.start()
        yield cloud


class Battle:
    """Edits and kills of one zone."""

    def __init__(self, cloud: Cloud, path: str) -> None:
        self._cloud = cloud
        self._path = path
        self._random = random.Random(5)
        self._alive = asyncio.Event()
        self._alive.set()
        self.left = EDITS
        self.kills = 0

    async def lane(self, number: int) -> dict[str, str]:
        """Edit names of its own, one after the other; what they must be in the end."""
        held: dict[str, Json] = {}
        while self.left > 0:
            self.left -= 1
            name = f"n{number}-{self._random.randrange(_NAMES)}"
            target = f"10.{number}.{self._random.randrange(256)}.{self._random.randrange(256)}"
            record = held.get(name)
            if record is None:
                body = {"type": "A", "name": name, "target": target}
                held[name] = await self._send("POST", self._path, body)
            elif self._random.random() < 0.6:
                path = f"{self._path}/{record['id']}"
                held[name] = await self._send("PUT", path, {"target": target})
            else:
                await self._send("DELETE", f"{self._path}/{record['id']}")
                del held[name]
        return {f"{name}.{_ZONE}.": record["target"] for name, record in held.items()}

    async def _send(self, method: str, path: str, body: Json = None) -> Json:
        """Until it was heard."""
        request, answer = Request(method, path, body), None
        while answer is None:
            await self._alive.wait()
            answer = await request.send(await self._cloud.client())
        _check(method, answer)
        return answer.body

    async def kill(self) -> None:
        """As often as is wanted, spread over the edits."""
        victims = [self._kill_server] * _SERVER_KILLS
        victims += [self._kill_powerdns] * (KILLS - _SERVER_KILLS)
        self._random.shuffle(victims)
        for number, victim in enumerate(victims, 1):
            due = EDITS - EDITS * number // (KILLS + 1)
            while self.left > due:
                await asyncio.sleep(0.002)
            await victim()
            self.kills += 1

    async def _kill_powerdns(self) -> None:
        """Wherever it is, perhaps on its way up, or down after the kill before."""
        pid_file = self._cloud.state / "powerdns" / "pid"
        await until(lambda: asyncio.to_thread(_killed, pid_file), bool, _SETTLE_SECONDS)

    async def _kill_server(self) -> None:
        assert self._cloud.server is not None
        self._alive.clear()
        await self._cloud.server.kill()
        await self._cloud.start()
        self._alive.set()


def _check(method: str, answer: Answer) -> None:
    allowed = (200, 404) if method == "DELETE" else (200,)
    assert answer.status in allowed, answer.body


def _killed(pid_file: Path) -> bool:
    """Whether a PowerDNS was there to be killed."""
    try:
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)
    except (OSError, ValueError, IndexError):
        return False
    return True


@pytest.mark.powerdns
async def test_nothing_is_lost(cloud: Cloud) -> None:
    client = await cloud.client()
    body = {"domain": _ZONE, "type": "master", "soa_email": "me@example.com"}
    domain = await client.post("/domains", body)
    battle = Battle(cloud, f"/domains/{domain['id']}/records")
    killing = asyncio.create_task(battle.kill())
    lanes = await asyncio.gather(*(battle.lane(number) for number in range(_LANES)))
    await killing
    assert battle.kills == KILLS
    wanted = {name: target for lane in lanes for name, target in lane.items()}

    client = await cloud.client()

    async def under_way() -> int:
        """Of all events the last ones are enough: jobs of one zone come one after the other."""
        page = await client.get("/account/events?page_size=500")
        return sum(event["status"] in ("scheduled", "started") for event in page["data"])

    await until(under_way, lambda count: count == 0, _SETTLE_SECONDS)
    page = await client.get(f"/domains/{domain['id']}/records?page_size=500")
    assert {f"{row['name']}.{_ZONE}.": row["target"] for row in page["data"]} == wanted
    async with open_roost(cloud.settings, beside=True) as roost:
        zone = await roost.services.get(Dns).engine.inspect(f"{_ZONE}.")
        assert zone is not None
        assert isinstance(zone.content, Master)
        found = {r.name: set(r.contents) for r in zone.content.rrsets if r.type == "A"}
        assert found == {name: {target} for name, target in wanted.items()}
        lines: list[str] = []
        await check_all(roost, False, lines.append)
        assert lines == []
