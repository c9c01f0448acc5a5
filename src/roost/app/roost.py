"""A Roost process put together: store, catalogue, engines, jobs and the API."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import structlog
from prometheus_client import CollectorRegistry

from roost.app.adoption import adopt_images
from roost.app.dns import put_together
from roost.app.engine_calls import EngineCalls
from roost.app.engines import bind_engines
from roost.app.engines_in_use import keep_to_engines
from roost.app.first_start import ensure_admin
from roost.app.groups import GROUPS
from roost.app.host import join
from roost.app.images import LocalImages
from roost.app.lab.clock import LabClock
from roost.app.letters import bind_letters, letters_of
from roost.app.messages import open_messages
from roost.app.name_server import NameServer, bind_dns, start_dns, with_addresses
from roost.app.payments import open_gateway
from roost.app.state import open_store
from roost.app.support import bind_support, support_rules
from roost.app.traces import keeping_traces
from roost.app.webhooks import open_receivers
from roost.clock import Clock
from roost.core.billing.ledger import Billables
from roost.core.billing.metered import AllMetered
from roost.core.catalog import Catalog, CatalogError, load, sync
from roost.core.conditions import Watches
from roost.core.endings import Endings
from roost.core.entities.registry import Entities
from roost.core.events.log import EventListener
from roost.core.hosts.holdings import Holdings
from roost.core.hosts.identity import Identity
from roost.core.hosts.links import Links
from roost.core.limits.capacity import Promises
from roost.core.losses import Losses
from roost.core.neighbours import Neighbours
from roost.core.notices import Causes
from roost.core.planes import EVERYWHERE, Binding, Engine, Engines
from roost.core.spool import Spool
from roost.core.suspensions import Suspensions
from roost.engines.qemu.images.store import UPLOADS, ImageStore
from roost.jobs.environment import Environment, WorkerSettings
from roost.jobs.faults import Faults
from roost.jobs.metrics import Metrics
from roost.jobs.queue import JobQueue
from roost.jobs.schedules import of_host
from roost.jobs.worker import Worker
from roost.resources.compute import queries as compute
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.compute.power_service import ComputeMetrics
from roost.resources.domains import holder_queries
from roost.resources.domains.name_rules import public_suffixes
from roost.resources.images.imported_service import ImportedImages
from roost.resources.regions.rules import served
from roost.resources.tokens.service import StoredTokens, TokenUsage
from roost.secrets import Box
from roost.services import Services
from roost.settings import MAIN_HOST, Settings
from roost.store import Share, Store
from roost.threads import COMPUTING, DISK
from roost.tracing import UNTRACED, Tracer
from roost.web.access_log import AccessLog
from roost.web.auth import Authenticator
from roost.web.edge import Edge
from roost.web.metrics import EdgeMetrics
from roost.web.rates import RateLimiter
from roost.web.registry import Registry
from roost.web.revisions.released import RELEASED
from roost.web.revisions.revisions import Revisions
from roost.web.revocation import Revocations
from roost.web.turns import Turns

_log = structlog.get_logger(__name__)

_CLOSE_SECONDS = 1.0
_WAIT_SECONDS = 3.0
"""How long a request waits for a connection, before it is answered 503."""


_BESIDE = Share(connections=4, statement=5.0, idle=5.0, wait=_WAIT_SECONDS)


@dataclass(frozen=True, slots=True)
class Roost:
    """What all commands and both kinds of process work with."""

    settings: Settings
    clock: Clock
    store: Store
    """For jobs and commands."""
    requests: Store
    """For what somebody waits for."""
    catalog: Catalog
    engines: Engines
    name_server: Binding[NameServer]
    images: LocalImages
    services: Services
    queue: JobQueue
    faults: Faults
    metrics: CollectorRegistry
    job_metrics: Metrics
    limiter: RateLimiter
    usage: TokenUsage
    tracer: Tracer | None
    """Who keeps traces, if somebody does."""
    first_start: bool

    @property
    def table(self) -> list[Binding[Engine]]:
        """What this host serves, for people, who look for the addresses at which DNS is answered.
        What is of no region is the main host's affair."""
        server, bindings = self.name_server, self.engines.bindings
        if self.settings.host != MAIN_HOST:
            return [each for each in bindings if each.place != EVERYWHERE]
        return [*(each for each in bindings if each is not server), with_addresses(server)]

    def worker(self) -> Worker:
        settings = WorkerSettings(
            slots=self.settings.job_slots, lease=self.settings.job_lease, host=self.settings.host
        )
        environment = Environment(
            store=self.store,
            queue=self.queue,
            services=self.services,
            settings=settings,
            faults=self.faults,
            metrics=self.job_metrics,
            tracer=self.tracer or UNTRACED,
        )
        return Worker(environment, GROUPS.schedules)

    async def enqueue_first_jobs(self) -> None:
        """What a worker that starts does first. Raises HostError."""
        host = self.settings.host
        await join(self.store, self.settings)
        async with self.store.transaction() as db:
            for schedule in of_host(GROUPS.at_start, host):
                await schedule.enqueue(self.queue, db, self.clock.now(), host)

    @asynccontextmanager
    async def revocations(self) -> AsyncIterator[Revocations]:
        """Who knows the tokens, and forgets them as soon as any process changes one."""
        authenticator = Authenticator(StoredTokens(self.requests), self.clock)
        revocations = Revocations(self.store.reserved, authenticator)
        async with revocations.following():
            yield revocations

    async def edge(self, revocations: Revocations) -> Edge:
        """What the API of this process is made of; it follows what others import as images."""
        await ImportedImages(self.store, self.catalog).follow()
        await COMPUTING.run(public_suffixes)
        return Edge(
            registry=self.services.get(Registry),
            revisions=self.services.get(Revisions),
            store=self.requests,
            beside=self.requests.share(_BESIDE),
            services=self.services,
            clock=self.clock,
            authenticator=revocations.authenticator,
            revocations=revocations,
            limiter=self.limiter,
            turns=Turns(self.settings.database_connections),
            metrics=EdgeMetrics(self.metrics),
            access_log=AccessLog(sys.stderr.buffer) if self.settings.access_log else None,
            usage=self.usage,
            max_body=self.settings.max_body,
        )


async def _close(bindings: Iterable[Binding[Engine]]) -> None:
    """Let go of the engines, also of one that does not answer."""
    closing = [asyncio.create_task(binding.engine.close()) for binding in bindings]
    done, _ = await asyncio.wait(closing, timeout=_CLOSE_SECONDS)
    for task in done:
        task.result()


def _share_of_requests(settings: Settings) -> Share:
    seconds = settings.database_timeout
    return Share(settings.database_connections, seconds, idle=seconds, wait=_WAIT_SECONDS)


def _check_limits(catalog: Catalog) -> None:
    """Raises CatalogError for a limit of what no group counts."""
    if unknown := sorted(catalog.entries.limits.keys() - GROUPS.limit_kinds.keys()):
        known = ", ".join(sorted(GROUPS.limit_kinds))
        raise CatalogError(
            "catalogue", [f"limits.{each}: must be one of {known}" for each in unknown]
        )


@asynccontextmanager
async def open_roost(
    settings: Settings, *, beside: bool = False, store: Store | None = None
) -> AsyncIterator[Roost]:
    """Everything but the API and the worker; closed again at the end, guests go on running.

    `beside` a server, whether that runs or not, neither account nor catalogue are written. A
    `store` that is open already stays so.
    """
    async with AsyncExitStack() as stack:
        if store is None:
            store = await stack.enter_async_context(open_store(settings))
        clock = await LabClock.open(store) if settings.lab else Clock()
        registry = Registry(GROUPS.endpoints)
        catalog = (await DISK.run(load, settings.catalog)).offering(served(registry.shapes()))
        _check_limits(catalog)
        if not beside:
            await sync(store, catalog)
        metrics = CollectorRegistry()
        tracer = (
            None
            if beside
            else await stack.enter_async_context(keeping_traces(settings, os.environ))
        )
        calls = EngineCalls(metrics, tracer or UNTRACED)
        box = await DISK.run(Box.from_file, settings.sealing_key)
        of_regions = await bind_engines(settings, catalog, clock)
        name_server = calls.measured(await bind_dns(settings, clock, store))
        bindings = (*of_regions, *bind_support(settings), *bind_letters(settings))
        engines = Engines((*map(calls.measured, bindings), name_server), settings.host)
        stack.push_async_callback(_close, engines.bindings)
        dns, reverse_dns = put_together(settings, catalog, name_server.engine)
        kept = await DISK.run(ImageStore.of, settings)
        images = LocalImages(kept)
        instances = engines.bindings_of(INSTANCE_PLANE)
        for binding in instances:
            if binding.real:
                catalog.limit_images(binding.place, images.has, images.awaits)
        await keep_to_engines(store, engines)
        if not beside:
            for binding in instances:
                await compute.set_engine(store, binding.place, binding.engine.name)
            if settings.host == MAIN_HOST:
                await start_dns(name_server)
                await holder_queries.set_holder(store, name_server.engine.name)
        if settings.worker and not beside:
            real = {each.engine.name for each in instances if each.real}
            await adopt_images(kept, store, real, shared=settings.images is not None)
        if settings.worker and not beside and any(each.real for each in instances):
            images.expect(lambda image_id: catalog.find_image(image_id) is not None)
        queue = JobQueue(GROUPS.jobs, clock, EventListener(clock))
        yield Roost(
            settings=settings,
            clock=clock,
            store=store,
            requests=store.share(_share_of_requests(settings)),
            catalog=catalog,
            engines=engines,
            name_server=name_server,
            images=images,
            services=Services(
                catalog,
                engines,
                dns,
                reverse_dns,
                Neighbours(GROUPS.neighbours),
                *GROUPS.neighbours,
                ComputeMetrics(metrics, [region.id for region in catalog.regions]),
                Losses(metrics, [region.id for region in catalog.regions]),
                queue,
                box,
                Billables(*GROUPS.billables),
                AllMetered(*GROUPS.metered),
                Causes(*GROUPS.causes),
                Watches(*GROUPS.watches),
                letters_of(settings),
                Endings(*GROUPS.endings),
                Suspensions(*GROUPS.suspensions),
                Promises(*GROUPS.promises),
                Holdings(*GROUPS.holdings),
                Entities(GROUPS.entities),
                support_rules(settings),
                open_messages(settings),
                open_receivers(settings, catalog),
                open_gateway(settings),
                registry,
                Revisions(registry, RELEASED),
                *await DISK.run(GROUPS.services, settings),
                Links(await DISK.run(Identity, settings.sealing_key)),
                Spool(kept.private / UPLOADS),
            ),
            queue=queue,
            faults=Faults(),
            metrics=metrics,
            job_metrics=Metrics(metrics, queue.kinds.by_name),
            limiter=RateLimiter(settings.rate_limit_scale, metrics),
            usage=TokenUsage(store, clock),
            tracer=tracer,
            first_start=not beside
            and await ensure_admin(store, clock, settings.state, settings.admin_email),
        )
