"""`GET /healthz` and `GET /metrics`."""

from pathlib import Path

import aiohttp
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from roost.app.figures import Figures
from roost.app.health import check_health
from roost.app.roost import open_roost
from roost.core.engine import Folder, Health, Host, room_of
from roost.engines.simulated.addresses import SimulatedAddresses
from roost.engines.simulated.domains import SimulatedDomains
from roost.engines.simulated.instances import SimulatedInstances
from roost.settings import MAIN_HOST
from tests.support.client import until
from tests.support.server import RunningRoost, running_roost, simulated
from tests.support.stage import Stage
from tests.support.volume_stage import VolumeStage


async def health(url: str) -> tuple[int, dict[str, object]]:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/healthz") as response:
        return response.status, await response.json()


async def test_healthy(running: RunningRoost) -> None:
    status, row = await until(lambda: health(running.url), lambda found: found[1]["status"] == "ok")
    assert (status, row["status"], row["problems"], row["store"]) == (200, "ok", [], "ok")
    assert row["workers"] == 1
    planes = dict.fromkeys(
        (
            *("instances", "firewalls", "volumes", "nodebalancers", "databases", "postgresql"),
            "objects",
        ),
        "simulated",
    )
    regions = dict.fromkeys(("local", "us-lake", "br-south"), planes)
    assert row["engines"] == {**regions, "all": {"dns": "simulated", "attachments": "files"}}


async def test_without_a_worker_it_is_degraded(tmp_path: Path, database_url: str) -> None:
    async with running_roost(simulated(tmp_path, database_url, worker=False)) as alone:
        status, row = await health(alone.url)
    assert (status, row["status"], row["workers"]) == (200, "degraded", 0)
    assert row["problems"] == ["no worker runs jobs"]


async def test_a_host_that_is_nearly_full_is_degraded(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which folder, and how much is left; an engine that is broken is named as well."""

    async def host(engine: SimulatedInstances) -> Host:
        return Host((Folder("/srv/qemu", 68 << 20, 600 << 20),), 1 << 30, 4 << 30)

    async def fail(engine: SimulatedDomains) -> Health:
        return Health(False, "The name server does not answer")

    async def dropped(engine: SimulatedAddresses) -> dict[str, int]:
        return {"arp": 3}

    monkeypatch.setattr(SimulatedAddresses, "dropped", dropped)
    monkeypatch.setattr(SimulatedInstances, "host", host)
    monkeypatch.setattr(SimulatedDomains, "health", fail)
    async with running_roost(simulated(tmp_path, database_url)) as running:
        status, row = await until(
            lambda: health(running.url), lambda found: found[1]["workers"] == 1
        )
        assert (status, row["status"]) == (200, "degraded")
        regions = ("local", "us-lake", "br-south")
        assert row["problems"] == [
            "all, dns: The name server does not answer",
            *(f"{region}: /srv/qemu has 68 MiB of 600 left" for region in regions),
        ]
        text = await until(
            lambda: metrics(running.url), lambda text: "roost_host_disk_free_bytes{" in text
        )
    assert 'roost_host_disk_free_bytes{folder="/srv/qemu",region="local"} 7.1303168e+07' in text
    assert 'roost_host_memory_free_bytes{region="local"} 1.073741824e+09' in text
    assert 'roost_guest_frames_dropped{reason="arp",region="local"} 3.0' in text


async def test_without_its_database_it_is_broken(
    running: RunningRoost, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_arguments: object) -> int:
        raise ConnectionRefusedError

    monkeypatch.setattr("roost.app.health.count_alive", refuse)
    row = await check_health(running.roost)
    assert (row["status"], row["store"]) == ("broken", "ConnectionRefusedError")


async def test_figures_of_instances(tmp_path: Path, database_url: str) -> None:
    registry = CollectorRegistry()
    figures = Figures(registry)
    async with open_roost(simulated(tmp_path, database_url)) as roost:
        stage = Stage(roost)
        for status in ("running", "running", "offline"):
            await stage.instance(status)
        await VolumeStage(stage).volume(size=20)
        await figures.show_promises(roost.store)
    where = {"region": "us-lake"}
    of_running = {**where, "host": MAIN_HOST, "status": "running"}
    assert registry.get_sample_value("roost_instances", of_running) == 2
    running = registry.get_sample_value("roost_promised_memory_bytes", of_running)
    assert running == 2 * (1024 << 20)
    disks = registry.get_sample_value("roost_promised_disk_bytes", {**where, "plane": "instances"})
    assert disks == 3 * (25600 << 20)
    volumes = registry.get_sample_value("roost_promised_disk_bytes", {**where, "plane": "volumes"})
    assert volumes == 20 << 30


def test_room_is_warned_of_once_at_each_threshold() -> None:
    figures = Figures(CollectorRegistry())
    with capture_logs() as logs:
        for free in (500, 15, 14, 3, 2, 15, 500):
            folder = Folder("/srv/qemu", free << 30, 1000 << 30)
            figures.show_host("local", Host((folder,), 1, 2))
    told = [(line["log_level"], line["room"], line["free_mib"]) for line in logs]
    assert told == [
        ("warning", "low", 15 << 10),
        ("error", "nearly full", 3 << 10),
        ("warning", "low", 15 << 10),
        ("info", "enough", 500 << 10),
    ]
    assert {(line["region"], line["folder"]) for line in logs} == {("local", "/srv/qemu")}


@pytest.mark.parametrize(
    ("free", "size", "room"),
    [
        (255, 600, "nearly full"),
        (257, 600, "low"),
        (1023, 10_000, "low"),
        (1025, 10_000, "enough"),
        (1999, 100_000, "nearly full"),
        (9_999, 100_000, "low"),
        (21 << 10, 100 << 20, "enough"),
    ],
)
def test_how_much_room_is_little(free: int, size: int, room: str) -> None:
    assert room_of(Folder("/", free << 20, size << 20)) == room


async def test_a_worker_that_stopped_is_gone(tmp_path: Path, database_url: str) -> None:
    async with running_roost(simulated(tmp_path / "one", database_url)) as first:
        await until(lambda: health(first.url), lambda found: found[1]["workers"] == 1)
        async with running_roost(simulated(tmp_path / "two", database_url)):
            await until(lambda: health(first.url), lambda found: found[1]["workers"] == 2)
        await until(lambda: health(first.url), lambda found: found[1]["workers"] == 1)


async def metrics(url: str) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as response:
        return await response.text()


async def test_metrics(running: RunningRoost) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{running.url}/v4/regions") as response,
    ):
        assert response.status == 200
    text = await until(lambda: metrics(running.url), lambda text: "roost_jobs{" in text)
    assert 'roost_http_requests_total{operation="list_regions",status="200"}' in text
    assert 'roost_http_request_seconds_count{operation="list_regions"}' in text
