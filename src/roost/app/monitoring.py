"""Looking at everything once a minute, for Prometheus: database, workers, engines, hosts.

A scrape only reads what was found, so that it asks nobody and costs nothing, however often it is.
"""

import asyncio
import time
from datetime import timedelta

import structlog
from prometheus_client import CollectorRegistry, Gauge

from roost.app.figures import Figures
from roost.app.health import check_engines, check_store
from roost.app.roost import Roost
from roost.core.engine import Health
from roost.core.planes import Binding, Engine
from roost.errors import ShownError
from roost.jobs.upkeep_queries import count_failed
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.conditions.queries import count_open
from roost.store import FAULTS, Queries, Store, health_queries

_SECONDS = 60.0
_LATELY = timedelta(hours=1)

_log = structlog.get_logger(__name__)


class HealthFigures:
    """Gauges of what everything stands on."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"roost_{name}", text, labels, registry=registry)

        self._engine = gauge(
            "engine_up", "Whether an engine can serve (1) or not (0)", "region", "plane", "engine"
        )
        self._workers = gauge("workers", "Processes that run jobs")
        self._failed = gauge("jobs_failed_last_hour", "Of all processes", "kind")
        self._conditions = gauge("conditions", "What operators are told of, and holds", "kind")
        self._up = gauge("database_up", "Whether PostgreSQL answers (1) or not (0)")
        self._seconds = gauge("database_answer_seconds", "Time that it took to answer")
        self._size = gauge("database_size_bytes", "Of the database")
        self._clients = gauge("database_server_connections", "Of all who use the PostgreSQL")
        self._most = gauge("database_server_connections_limit", "That it allows")
        self._transaction = gauge(
            "database_transaction_age_seconds", "Since the longest transaction began"
        )
        self._used = gauge("database_connections", "In use by this process", "share")
        self._share = gauge("database_connections_limit", "That it may use at once", "share")

    def follow_connections(self, share: str, store: Store) -> None:
        """Let each scrape see how many connections are in use."""
        self._used.labels(share).set_function(lambda: store.pool.used)
        self._share.labels(share).set(store.pool.size)

    def show_store(self, state: str, workers: int, seconds: float) -> None:
        self._up.set(state == "ok")
        self._workers.set(workers)
        self._seconds.set(seconds)

    async def show_server(self, db: Queries) -> None:
        found = await health_queries.look(db)
        self._size.set(found.size)
        self._clients.set(found.connections)
        self._most.set(found.most_connections)
        self._transaction.set(found.transaction)

    def show_engine(self, binding: Binding[Engine], health: Health) -> None:
        place = (binding.place, binding.plane, binding.engine.name)
        self._engine.labels(*place).set(health.ok)

    def show_failed(self, by_kind: dict[str, int]) -> None:
        self._failed.clear()
        for kind, jobs in by_kind.items():
            self._failed.labels(kind).set(jobs)

    def show_conditions(self, by_kind: dict[str, int]) -> None:
        self._conditions.clear()
        for kind, conditions in by_kind.items():
            self._conditions.labels(kind).set(conditions)


async def keep_figures(roost: Roost) -> None:
    """Look once a minute, until it is cancelled."""
    figures, health = Figures(roost.metrics), HealthFigures(roost.metrics)
    shares = {"jobs": roost.store, "requests": roost.requests, "reserved": roost.store.reserved}
    for share, store in shares.items():
        health.follow_connections(share, store)
    while True:
        try:
            await _look(roost, figures, health)
        except FAULTS as error:
            _log.warning("figures_failed", error=repr(error))
        except Exception:
            _log.exception("figures_failed")
        await asyncio.sleep(_SECONDS)


async def _look(roost: Roost, figures: Figures, health: HealthFigures) -> None:
    figures.show_restarts(roost.name_server.engine.restarts)
    started = time.perf_counter()
    state, workers = await check_store(roost)
    health.show_store(state, workers, time.perf_counter() - started)
    for binding, found in await check_engines(roost):
        health.show_engine(binding, found)
    await _look_at_hosts(roost, figures)
    db = roost.store.reserved
    await health.show_server(db)
    health.show_failed(await count_failed(db, roost.clock.now() - _LATELY))
    health.show_conditions(await count_open(db))
    await figures.show_promises(roost.store)


async def _look_at_hosts(roost: Roost, figures: Figures) -> None:
    for region, engine in roost.engines.by_region(INSTANCE_PLANE).items():
        try:
            host, dropped = await engine.host(), await engine.addresses.dropped()
        except ShownError as error:
            _log.warning("host_unseen", region=region, reason=str(error))
        else:
            figures.show_dropped(region, dropped)
            if host is not None:
                figures.show_host(region, host)
