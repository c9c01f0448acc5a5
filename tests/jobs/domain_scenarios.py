"""Jobs on domains for the harness: the name server is told what rows say."""

from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from roost.app.roost import Roost
from roost.clock import Clock
from roost.core.events import log
from roost.core.group import Group
from roost.engines.simulated.domains import SimulatedDomains
from roost.jobs import Environment, JobKind
from roost.resources.domains import jobs, queries, record_queries, rules
from roost.resources.domains.engine import (
    Master,
    RRset,
    Soa,
    Zone,
)
from roost.resources.domains.group import GROUP as DOMAINS
from roost.resources.domains.queries import DomainFacts, NewDomain
from roost.resources.domains.record_rules import Draft
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_rules import place
from roost.resources.reverse_dns import jobs as reverse
from roost.resources.reverse_dns import queries as reverse_queries
from roost.resources.reverse_dns.group import GROUP as REVERSE_DNS
from roost.resources.reverse_dns.service import OWNER
from tests.jobs.compute_scenarios import finish_jobs
from tests.jobs.harness import Scenario, ended, work_until
from tests.support.drift import differences
from tests.support.stage import Stage

_NUMBERS = count()
_JOB = "select max(id) from job where resource = $1"
_EVENT = "select e.status from event e join job j on j.event_id = e.id where j.id = $1"
_FORMER = "former.example"
"""A zone of reverse DNS that no pool has any more."""


async def add_domain(roost: Roost, importing: bool = False, name: str | None = None) -> DomainFacts:
    """A row; no job tells the name server of it."""
    now = roost.clock.seconds()
    new = NewDomain(
        account_id=await roost.store.fetchval("select min(id) from account"),
        domain=name or f"job{next(_NUMBERS)}.example",
        type="master",
        status="active",
        soa_email="me@example.com",
        description="",
        group="",
        master_ips=[],
        axfr_ips=[],
        refresh_sec=0,
        retry_sec=0,
        expire_sec=0,
        ttl_sec=0,
        tags=[],
        dnssec=True,
        serial=rules.next_serial(0, now),
        importing=importing,
    )
    return await queries.insert(roost.store, new, now)


async def add_record(roost: Roost, facts: DomainFacts, target: str = "192.0.2.1") -> None:
    new = place(Draft("A", "www", target=target), facts.zone)
    now = roost.clock.seconds()
    await record_queries.insert(roost.store, facts.id, new, facts.serial + 1, now)


async def drift(roost: Roost, group: Group, text: str) -> list[str]:
    """What is not as it should be."""
    return [line for line in await differences(roost, group) if text in line]


@dataclass(frozen=True)
class DomainCase:
    """One job of one zone."""

    stage: Stage
    facts: DomainFacts
    job_id: int
    records: list[str] | None
    """Of `www`, when all is done; None: there is no zone."""

    async def check_done(self) -> None:
        assert await self._event() == "finished"
        assert await self._records() == self.records
        assert await drift(self.stage.roost, DOMAINS, self.facts.zone) == []
        changes = "select count(*) from domain_change where domain_id = $1"
        assert await self.stage.roost.store.fetchval(changes, self.facts.id) == 0

    async def check_failed(self) -> None:
        """The domain says so, and a later job makes good for this one."""
        assert await self._event() == "failed"
        roost = self.stage.roost
        found = await queries.find_any(roost.store, self.facts.id)
        if found is not None:
            assert found.errors == "planned by the harness"
        await differences(roost, DOMAINS, repair=True)
        await finish_jobs(self.stage)
        assert await drift(roost, DOMAINS, self.facts.zone) == []

    async def _event(self) -> str | None:
        status: str | None = await self.stage.roost.store.fetchval(_EVENT, self.job_id)
        return status

    async def _records(self) -> list[str] | None:
        zone = await self.stage.roost.services.get(Dns).engine.inspect(f"{self.facts.zone}.")
        if zone is None:
            return None
        assert isinstance(zone.content, Master)
        name = f"www.{self.facts.zone}."
        rrsets = [rrset for rrset in zone.content.rrsets if rrset.name == name]
        return sorted(content for rrset in rrsets for content in rrset.contents)


@dataclass(frozen=True)
class ImportCase(DomainCase):
    """A job that makes a domain of another server's zone."""

    foreign: SimulatedDomains
    directory: "TemporaryDirectory[str]"

    async def check_done(self) -> None:
        await super().check_done()
        await self._end()

    async def check_failed(self) -> None:
        """Nothing is left of it."""
        assert await self._event() == "failed"
        assert await queries.find_any(self.stage.roost.store, self.facts.id) is None
        assert await self._records() is None
        await self._end()

    async def _end(self) -> None:
        await self.foreign.close()
        self.directory.cleanup()


async def _enqueued(stage: Stage, facts: DomainFacts) -> int:
    job_id: int = await stage.roost.store.fetchval(_JOB, f"zone:{facts.zone}")
    return job_id


async def begin_create(environment: Environment) -> DomainCase:
    stage = environment.services.get(Stage)
    facts = await add_domain(stage.roost)
    await add_record(stage.roost, facts)
    await _enqueue(stage, jobs.ZONE_SYNC, facts)
    return DomainCase(stage, facts, await _enqueued(stage, facts), ["192.0.2.1"])


async def begin_delete(environment: Environment, former: bool) -> DomainCase:
    """`former`: the zone is that of another domain, whose own job was ended by this deletion."""
    stage = environment.services.get(Stage)
    facts = await _served(stage)
    await queries.delete(stage.roost.store, facts.id)
    if former:
        facts = await add_domain(stage.roost, name=facts.domain)
        await queries.delete(stage.roost.store, facts.id)
    await _enqueue(stage, jobs.ZONE_SYNC, facts)
    return DomainCase(stage, facts, await _enqueued(stage, facts), None)


async def begin_edit(environment: Environment, lost: bool) -> DomainCase:
    """`lost`: the name server does not have the zone any more."""
    stage = environment.services.get(Stage)
    facts = await _served(stage)
    await add_record(stage.roost, facts, "192.0.2.2")
    if lost:
        await stage.roost.services.get(Dns).engine.delete_zone(f"{facts.zone}.")
    await _enqueue(stage, jobs.RECORD_SYNC, facts)
    records = ["192.0.2.1", "192.0.2.2"]
    return DomainCase(stage, facts, await _enqueued(stage, facts), records)


async def _served(stage: Stage) -> DomainFacts:
    """A domain that the name server holds."""
    facts = await add_domain(stage.roost)
    await add_record(stage.roost, facts)
    await differences(stage.roost, DOMAINS, repair=True)
    await finish_jobs(stage)
    found = await queries.find_any(stage.roost.store, facts.id)
    assert found is not None
    return found


async def _enqueue(stage: Stage, kind: JobKind[jobs.ZoneArgs], facts: DomainFacts) -> None:
    async with stage.roost.store.transaction() as db:
        by = log.Starter(stage.roost.queue, db, facts.account_id, "somebody")
        await jobs.start(by, kind, facts, "dns_zone_update")


async def begin_import(environment: Environment) -> ImportCase:
    stage = environment.services.get(Stage)
    facts = await add_domain(stage.roost, importing=True)
    directory = TemporaryDirectory()
    foreign = SimulatedDomains(Path(directory.name), 0, Clock(), None)
    await foreign.start()
    soa = Soa("ns.example.", "me.example.com.", 7, 300, 300, 300, 300, 300)
    rrsets = (
        RRset(f"{facts.zone}.", "NS", 300, frozenset(["ns.example.net."])),
        RRset(f"www.{facts.zone}.", "A", 300, frozenset(["192.0.2.7"])),
    )
    await foreign.put_zone(Zone(f"{facts.zone}.", "x", Master(soa, rrsets), ("127.0.0.1",)))
    host, port = foreign.listening[0]
    async with stage.roost.store.transaction() as db:
        by = log.Starter(stage.roost.queue, db, facts.account_id, "somebody")
        await jobs.start_import(by, facts, f"{host}:{port}")
    job_id = await _enqueued(stage, facts)
    return ImportCase(stage, facts, job_id, ["192.0.2.7"], foreign, directory)


@dataclass(frozen=True)
class ReverseCase:
    """Zones of reverse DNS from nothing."""

    stage: Stage
    job_id: int

    async def check_done(self) -> None:
        roost = self.stage.roost
        held = {h.name for h in await self._engine.zones() if h.owner == OWNER}
        assert "100.51.198.in-addr.arpa." in held
        assert "ip.roost.internal." in held
        assert {f"{zone}." for zone in await reverse_queries.zones(roost.store)} == held
        assert await drift(roost, REVERSE_DNS, "reverse DNS") == []

    async def check_failed(self) -> None:
        """The next minute's job does what this one could not."""
        await differences(self.stage.roost, REVERSE_DNS, repair=True)
        assert await drift(self.stage.roost, REVERSE_DNS, "reverse DNS") == []

    @property
    def _engine(self) -> SimulatedDomains:
        engine = self.stage.roost.services.get(Dns).engine
        assert isinstance(engine, SimulatedDomains)
        return engine


async def begin_names(environment: Environment) -> ReverseCase:
    """One zone is put where others have never been: they are not looked at."""
    stage = environment.services.get(Stage)
    store = stage.roost.store
    args = reverse.ReverseArgs()
    every = await environment.queue.enqueue(store, reverse.SYNC, args, resource=reverse.RESOURCE)
    await work_until(environment, partial(ended, environment, every.id))
    await store.execute("delete from reverse_zone where zone = $1", _FORMER)
    await reverse_queries.set_changed(store, "100.51.198.in-addr.arpa")
    await store.execute("update reverse_zone set digest = '' where zone like '100.%'")
    job = await environment.queue.enqueue(store, reverse.NAMES, args, resource=reverse.RESOURCE)
    return ReverseCase(stage, job.id)


async def begin_reverse(environment: Environment) -> ReverseCase:
    stage = environment.services.get(Stage)
    store = stage.roost.store
    await store.execute("delete from reverse_zone")
    await store.execute("insert into reverse_zone values ($1, '', 1)", _FORMER)
    args = reverse.ReverseArgs()
    job = await environment.queue.enqueue(store, reverse.SYNC, args, resource=reverse.RESOURCE)
    return ReverseCase(stage, job.id)


SCENARIOS = (
    Scenario(jobs.ZONE_SYNC, begin_create, "serve a zone"),
    Scenario(jobs.ZONE_SYNC, partial(begin_delete, former=False), "stop serving a zone"),
    Scenario(jobs.ZONE_SYNC, partial(begin_delete, former=True), "stop serving a former zone"),
    Scenario(jobs.RECORD_SYNC, partial(begin_edit, lost=False), "serve a record"),
    Scenario(jobs.RECORD_SYNC, partial(begin_edit, lost=True), "serve a record of a lost zone"),
    Scenario(jobs.IMPORT, begin_import, "import a zone"),
    Scenario(reverse.SYNC, begin_reverse, "serve reverse DNS"),
    Scenario(reverse.NAMES, begin_names, "serve a name of an address"),
)
