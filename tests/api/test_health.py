"""`GET /healthz` and `GET /metrics`."""

from pathlib import Path

import aiohttp

from tests.support.client import until
from tests.support.server import RunningRoost, running_roost, simulated


async def health(url: str) -> tuple[int, dict[str, object]]:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/healthz") as response:
        return response.status, await response.json()


async def test_healthy(running: RunningRoost) -> None:
    status, row = await until(lambda: health(running.url), lambda found: found[0] == 200)
    assert (status, row["status"], row["store"]) == (200, "ok", "ok")
    assert row["workers"] == 1
    planes = {"instances": "simulated", "volumes": "simulated"}
    regions = dict.fromkeys(("local", "us-lake", "br-south"), planes)
    assert row["engines"] == {**regions, "all": {"dns": "simulated"}}


async def test_without_a_worker_it_is_not(tmp_path: Path, database_url: str) -> None:
    async with running_roost(simulated(tmp_path, database_url, worker=False)) as alone:
        status, row = await health(alone.url)
    assert (status, row["status"], row["workers"]) == (503, "broken", 0)


async def test_a_worker_that_stopped_is_gone(tmp_path: Path, database_url: str) -> None:
    async with running_roost(simulated(tmp_path / "one", database_url)) as first:
        await until(lambda: health(first.url), lambda found: found[1]["workers"] == 1)
        async with running_roost(simulated(tmp_path / "two", database_url)):
            await until(lambda: health(first.url), lambda found: found[1]["workers"] == 2)
        await until(lambda: health(first.url), lambda found: found[1]["workers"] == 1)


async def test_metrics(running: RunningRoost) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{running.url}/v4/regions") as response:
            assert response.status == 200
        async with session.get(f"{running.url}/metrics") as response:
            text = await response.text()
    assert 'roost_http_requests_total{operation="list_regions",status="200"}' in text
    assert 'roost_http_request_seconds_count{operation="list_regions"}' in text
    assert "roost_jobs{" in text
