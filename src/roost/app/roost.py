"""A Roost process put together: store, catalogue, engines, jobs and the API."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from roost.app.engines import Binding, bind_engines
from roost.app.first_start import ensure_admin
from roost.app.groups import ENDPOINT_MODULES, JOB_KINDS, SCHEDULES
from roost.clock import Clock
from roost.jobs.environment import Environment, WorkerSettings
from roost.jobs.faults import Faults
from roost.jobs.metrics import Metrics
from roost.jobs.queue import JobQueue
from roost.jobs.worker import Worker
from roost.resources.catalog import Catalog, load, sync
from roost.resources.compute.guest import InstanceEngines
from roost.resources.events.log import EventListener
from roost.resources.profile.queries import TOKEN_CHANNEL
from roost.resources.profile.tokens import StoredTokens
from roost.secrets import Box
from roost.services import Services
from roost.settings import Settings
from roost.store import Store, migrate
from roost.web.access_log import AccessLog
from roost.web.api import Api, Edge
from roost.web.auth import Authenticator
from roost.web.metrics import EdgeMetrics
from roost.web.rates import RateLimiter
from roost.web.registry import Registry


@dataclass(frozen=True, slots=True)
class Roost:
    """What all commands and both kinds of process work with."""

    settings: Settings
    clock: Clock
    store: Store
    catalog: Catalog
    bindings: tuple[Binding, ...]
    services: Services
    queue: JobQueue
    faults: Faults
    metrics: CollectorRegistry
    first_start: bool

    def worker(self) -> Worker:
        settings = WorkerSettings(slots=self.settings.job_slots, lease=self.settings.job_lease)
        environment = Environment(
            store=self.store,
            queue=self.queue,
            services=self.services,
            settings=settings,
            faults=self.faults,
            metrics=Metrics(self.metrics),
        )
        return Worker(environment, SCHEDULES)

    async def api(self) -> tuple[Registry, Api]:
        """The API of this process; it forgets tokens as soon as any process changes one."""
        registry = Registry(ENDPOINT_MODULES)
        authenticator = Authenticator(StoredTokens(self.store), self.clock)
        await self.store.listen(TOKEN_CHANNEL, lambda _payload: authenticator.forget())
        edge = Edge(
            registry=registry,
            store=self.store,
            services=self.services,
            clock=self.clock,
            authenticator=authenticator,
            limiter=RateLimiter(self.settings.rate_limit_scale),
            metrics=EdgeMetrics(self.metrics),
            access_log=AccessLog(sys.stderr.buffer) if self.settings.access_log else None,
            max_body=self.settings.max_body,
        )
        return registry, Api(edge)


@asynccontextmanager
async def open_roost(settings: Settings) -> AsyncIterator[Roost]:
    """Everything but the API and the worker; closed again at the end, guests go on running."""
    settings.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        store = await Store.open(settings)
        stack.push_async_callback(store.close)
        await migrate.upgrade(store.dsn)
        clock = Clock()
        catalog = await asyncio.to_thread(load, settings.catalog)
        await sync(store, catalog)
        bindings = await bind_engines(settings, catalog, clock)
        for binding in bindings:
            stack.push_async_callback(binding.engine.close)
        queue = JobQueue(JOB_KINDS, clock, EventListener(clock))
        engines = InstanceEngines({b.region: b.engine for b in bindings})
        box = Box.from_file(settings.key_file or settings.state / "secret.key")
        yield Roost(
            settings=settings,
            clock=clock,
            store=store,
            catalog=catalog,
            bindings=tuple(bindings),
            services=Services(catalog, engines, queue, box),
            queue=queue,
            faults=Faults(),
            metrics=CollectorRegistry(),
            first_start=await ensure_admin(store, clock, settings.state),
        )
