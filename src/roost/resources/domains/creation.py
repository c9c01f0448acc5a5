"""Making domains, by hand or as a clone; and who may have which name."""

from roost.core.events import log
from roost.core.limits.check import check_limits
from roost.errors import invalid
from roost.jobs.queue import JobQueue
from roost.resources.domains import jobs, queries, record_queries, rules
from roost.resources.domains.bodies import CreateDomain
from roost.resources.domains.dns import Dns
from roost.resources.domains.entity import DOMAIN
from roost.resources.domains.names import MAX_NAME, ancestors
from roost.resources.domains.queries import DomainFacts, NewDomain
from roost.resources.tags.labels import use_tags
from roost.web.call import Call
from roost.web.grants import give_to_creator

TAKEN = "DNS zone already exists."
LONG = f"Must have at most {MAX_NAME} characters together with each record's name"
RESERVED = "Must not lie within or above a zone of the platform"
FOREIGN = "Must not lie within or above a zone of another account"


async def create(call: Call, body: CreateDomain) -> DomainFacts:
    await use_tags(call, body.tags)
    serial = rules.next_serial(0, call.clock.now())
    new = NewDomain(account_id=call.account_id, serial=serial, **body.model_dump())
    facts = await insert(call, new)
    await enqueue_sync(call, facts, "dns_zone_create")
    await check_limits(call, queries.LIMIT)
    return facts


async def clone(call: Call, source: DomainFacts, domain: str, held: list[str]) -> DomainFacts:
    """A domain with the settings and records of another one; its DNSSEC keys are its own.

    `held` are the tags that it may have.
    """
    check_idle(source)
    await check_length(call, source, domain)
    columns = {name: getattr(source, name) for name in _SETTINGS}
    serial = rules.next_serial(0, call.clock.now())
    columns["tags"] = [tag for tag in source.tags if tag in held]
    new = NewDomain(account_id=call.account_id, domain=domain, serial=serial, **columns)
    facts = await insert(call, new)
    await record_queries.copy_all(call.db, source.id, facts.id, call.clock.now())
    await enqueue_sync(call, facts, "dns_zone_create")
    await check_limits(call, queries.LIMIT)
    return facts


_SETTINGS = (
    *("type", "status", "soa_email", "description", "group", "master_ips", "axfr_ips"),
    *("refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "tags", "dnssec"),
)


async def insert(call: Call, new: NewDomain) -> DomainFacts:
    await claim(call, new.domain)
    facts = await queries.insert(call.db, new, call.clock.now())
    await give_to_creator(call, DOMAIN.name, facts.id)
    return facts


async def claim(call: Call, domain: str, but: int | None = None) -> None:
    """Raises 400 unless the caller's account may have the name (spec B, Domain).

    It stays the caller's until the end of the transaction: names that lie within each other have
    the last two labels in common.
    """
    zone = domain.lower()
    await queries.lock_names(call.db, ".".join(zone.split(".")[-2:]))
    await check_free(call, zone, but)


async def check_free(call: Call, zone: str, but: int | None = None) -> None:
    """The same as far as it can be said at this moment."""
    if call.get(Dns).is_reserved(zone):
        raise invalid(RESERVED, "domain")
    if await queries.is_taken(call.db, zone, but):
        raise invalid(TAKEN, "domain")
    if await queries.has_foreign_relation(call.db, call.account_id, zone, ancestors(zone)):
        raise invalid(FOREIGN, "domain")


async def check_length(call: Call, facts: DomainFacts, domain: str) -> None:
    """Raises 400 when the records of a domain would have too long names in another one."""
    longest = await record_queries.longest_owner(call.db, facts.id)
    if longest and longest + 1 + len(domain) > MAX_NAME:
        raise invalid(LONG, "domain")


def check_idle(facts: DomainFacts) -> None:
    """Raises 400 while the records are still to come."""
    if facts.importing:
        raise invalid("The domain is being imported.")


async def enqueue_sync(call: Call, facts: DomainFacts, action: str) -> None:
    queue, actor = call.get(JobQueue), log.Actor.of(call)
    await jobs.enqueue(queue, call.db, jobs.ZONE_SYNC, facts, actor, action)
