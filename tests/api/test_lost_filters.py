"""Filters and firewalls that somebody removed from a host: back within one round of their watch,
and operators know."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from roost.app.roost import Roost
from roost.core.engine import EngineError
from roost.engines.simulated.addresses import SimulatedAddresses
from roost.jobs.kinds import JobArgs, JobKind
from roost.resources.compute import filter_watch_jobs
from roost.resources.compute.network_engine import GuestAddresses
from roost.resources.conditions.jobs import WATCH as CONDITIONS
from roost.resources.firewalls import watch_jobs as firewall_watch_jobs
from tests.jobs.firewall_scenarios import firewalls, in_force, placed
from tests.support.client import until
from tests.support.server import running_roost, simulated
from tests.support.stage import Stage

GUESTS = 5


@asynccontextmanager
async def served(database_url: str, tmp_path: Path) -> AsyncIterator[Stage]:
    async with running_roost(simulated(tmp_path, database_url)) as running:
        yield Stage(running.roost)


async def look(roost: Roost, kind: JobKind[JobArgs]) -> None:
    """As the schedule does each minute, when it is not looking."""
    resource = f"schedule:{kind.name}"
    job = await roost.queue.enqueue(roost.store, kind, JobArgs(), resource=resource)

    async def ended() -> str:
        return str(await roost.store.fetchval("select status from job where id = $1", job.id))

    assert await until(ended, lambda status: status in ("done", "failed")) == "done"


def counted(roost: Roost, kind: str) -> float:
    labels = {"region": "us-lake", "kind": kind}
    found = roost.metrics.get_sample_value("roost_lost_total", labels)
    assert found is not None
    return found


async def conditions(roost: Roost) -> list[tuple[str, str]]:
    await look(roost, CONDITIONS)
    rows = await roost.store.fetch("select kind, subject from operator_condition order by kind")
    return [(row["kind"], row["subject"]) for row in rows]


def of(logs: list[Any], event: str) -> int:
    """How much was lost, by all warnings; the schedule may look at the same time."""
    lines = [line for line in logs if line["event"] == event]
    assert {line["log_level"] for line in lines} <= {"warning"}
    return sum(line["count"] for line in lines)


async def test_one_round_brings_all_guests_their_filters(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those after one that the host cannot be brought."""
    async with served(database_url, tmp_path) as stage:
        roost, addresses = stage.roost, stage.engine().addresses
        assert counted(roost, "filters_lost") == 0
        ids = [await stage.instance("running", "running") for _ in range(GUESTS)]
        await look(roost, filter_watch_jobs.WATCH)
        usual = SimulatedAddresses.set

        async def set_most(engine: SimulatedAddresses, guest: GuestAddresses) -> None:
            if guest.id == ids[0]:
                raise EngineError("The filter could not be set")
            await usual(engine, guest)

        with monkeypatch.context() as patch, capture_logs() as logs:
            patch.setattr(SimulatedAddresses, "set", set_most)
            for compute_id in ids:
                await addresses.lose(compute_id)
            await look(roost, filter_watch_jobs.WATCH)
            held = await addresses.list()
            assert [key for key in ids if held[key] is None] == ids[:1]
        assert of(logs, "filters_lost") >= GUESTS
        await look(roost, filter_watch_jobs.WATCH)
        assert None not in (await addresses.list()).values()
        assert counted(roost, "filters_lost") > GUESTS
        assert ("filters_lost", "us-lake") in await conditions(roost)


async def test_one_round_brings_all_firewalls_back(database_url: str, tmp_path: Path) -> None:
    async with served(database_url, tmp_path) as stage:
        roost = stage.roost
        found = [await placed(stage) for _ in range(GUESTS)]
        for firewall_id, compute_id in found:
            await in_force(stage, firewall_id, compute_id)
        await look(roost, firewall_watch_jobs.WATCH)
        with capture_logs() as logs:
            for firewall_id, _ in found:
                await firewalls(stage).lose(firewall_id)
            await look(roost, firewall_watch_jobs.WATCH)
            await look(roost, firewall_watch_jobs.WATCH)
        assert of(logs, "firewalls_lost") == GUESTS
        assert {each.id for each in await firewalls(stage).list()} == {key for key, _ in found}
        assert counted(roost, "firewalls_lost") == GUESTS
        assert ("firewalls_lost", "us-lake") in await conditions(roost)


async def test_a_host_that_was_down_has_lost_nothing(database_url: str, tmp_path: Path) -> None:
    """Its first round brings everything, and nobody removed anything."""
    async with served(database_url, tmp_path) as stage:
        firewall_id, compute_id = await placed(stage)
        await in_force(stage, firewall_id, compute_id)
        await firewalls(stage).lose(firewall_id)
    async with served(database_url, tmp_path) as stage:
        with capture_logs() as logs:
            await look(stage.roost, firewall_watch_jobs.WATCH)
        assert of(logs, "firewalls_lost") == 0
        assert [each.id for each in await firewalls(stage).list()] == [firewall_id]
        assert await conditions(stage.roost) == []
