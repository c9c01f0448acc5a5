"""What an operator sees of a running Roost in `/metrics`."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from roost.app.monitoring import HealthFigures
from roost.core.engine import Health
from roost.engines.simulated.domains import SimulatedDomains
from roost.jobs.metrics import Metrics
from roost.jobs.upkeep_queries import Count
from tests.support.client import until
from tests.support.figures import busy_lab, scrape

ENGINE = {"plane": "instances", "engine": "simulated", "operation": "start"}


async def test_what_everything_stands_on(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(engine: SimulatedDomains) -> Health:
        return Health(False, "The name server does not answer")

    monkeypatch.setattr(SimulatedDomains, "health", fail)
    async with busy_lab(tmp_path, database_url, monkeypatch) as lab:
        found = await until(
            lambda: scrape(lab.running),
            lambda it: it.value("roost_jobs_failed_last_hour", kind="compute_create") == 1,
        )
    assert found.value("roost_workers") == 1
    assert found.value("roost_database_up") == 1
    for name in ("size_bytes", "answer_seconds", "server_connections", "server_connections_limit"):
        (value,) = found.values(f"roost_database_{name}")
        assert value > 0, name
    for share, limit in (("jobs", 16), ("requests", 16), ("reserved", 6)):
        assert found.value("roost_database_connections_limit", share=share) == limit
        assert found.value("roost_database_connections", share=share) in range(limit + 1)
    dns = {"region": "all", "plane": "dns", "engine": "simulated"}
    assert found.value("roost_engine_up", **dns) == 0
    assert found.value("roost_engine_up", **{**dns, "region": "local", "plane": "volumes"}) == 1


async def test_calls_of_engines_and_refusals(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with busy_lab(tmp_path, database_url, monkeypatch) as lab:
        found = await scrape(lab.running)
    assert found.value("roost_engine_call_seconds_count", **ENGINE) == 2
    assert found.value("roost_engine_faults_total", **ENGINE, fault="EngineError") == 1
    assert found.value("roost_rate_limit_refusals_total", limit="anonymous") == 1
    assert found.value("roost_jobs_failed_total", kind="volume_create") == 0
    reboots = {"region": "us-lake", "action": "host_reboot"}
    assert found.value("roost_guest_reboots_total", **reboots) == 0


def test_a_database_that_does_not_answer() -> None:
    registry = CollectorRegistry()
    HealthFigures(registry).show_store("ConnectionRefusedError", 0, 2.0)
    assert registry.get_sample_value("roost_database_up") == 0
    assert registry.get_sample_value("roost_workers") == 0


def test_the_age_of_the_oldest_job() -> None:
    """Of those that wait for their turn, and of those that have begun, between attempts or not."""
    registry, now = CollectorRegistry(), datetime(2026, 12, 1, 12)
    metrics = Metrics(registry)

    def ago(minutes: int) -> datetime:
        return now - timedelta(minutes=minutes)

    counts = (
        Count("boot", "queued", 2, ago(3), None),
        Count("boot", "running", 1, ago(9), ago(5)),
        Count("boot", "waiting", 1, ago(9), ago(8)),
    )
    metrics.show(("boot", "resize"), counts, now)

    def age(name: str, kind: str) -> float | None:
        return registry.get_sample_value(f"roost_job_{name}_age_seconds", {"kind": kind})

    assert (age("queue", "boot"), age("running", "boot")) == (180, 480)
    metrics.show(("boot", "resize"), (), now)
    assert (age("running", "boot"), age("running", "resize")) == (0, 0)
