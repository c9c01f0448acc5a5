"""Making domains, by hand, as a clone or by an import; and who may have which name."""

from roost.errors import Problem, invalid, invalid_fields
from roost.jobs.queue import JobQueue
from roost.resources.domains import importing, jobs, queries, record_queries, rules
from roost.resources.domains.bodies import CreateDomain, ImportDomain
from roost.resources.domains.dns import Dns
from roost.resources.domains.entity import DOMAIN
from roost.resources.domains.names import MAX_NAME, ancestors
from roost.resources.domains.parsing import Parsed, parse_zone_file
from roost.resources.domains.queries import DomainFacts, NewDomain
from roost.resources.events import log
from roost.resources.limits.check import check_limits
from roost.resources.tags.labels import use_tags
from roost.threads import COMPUTING
from roost.web.call import Call
from roost.web.grants import give_to_creator

TAKEN = "DNS zone already exists."
LONG = f"Must have at most {MAX_NAME} characters together with each record's name"
FOREIGN = "Must not lie within or above a zone of another account"


async def create(call: Call, body: CreateDomain) -> DomainFacts:
    await use_tags(call, body.tags)
    serial = rules.next_serial(0, call.clock.now())
    new = NewDomain(account_id=call.account_id, serial=serial, **body.model_dump())
    facts = await _insert(call, new)
    await _enqueue(call, facts, "dns_zone_create")
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
    facts = await _insert(call, new)
    await record_queries.copy_all(call.db, source.id, facts.id, call.clock.now())
    await _enqueue(call, facts, "dns_zone_create")
    await check_limits(call, queries.LIMIT)
    return facts


async def import_zone(call: Call, body: ImportDomain) -> DomainFacts:
    """From a zone file at once; from another name server by a job."""
    parsed = await _parse(call, body)
    facts = await _insert(call, _imported(call, body))
    if parsed is None:
        remote = body.remote_nameserver or ""
        queue, actor = call.get(JobQueue), log.Actor.of(call)
        await jobs.enqueue_import(queue, call.db, facts, actor, remote)
    else:
        await importing.keep(call.db, facts, parsed, call.clock.now())
        await _enqueue(call, facts, "dns_zone_import")
    await check_limits(call, queries.LIMIT)
    return facts


async def _parse(call: Call, body: ImportDomain) -> Parsed | None:
    if body.zone_file is None:
        return None
    nameservers = call.get(Dns).nameservers
    parsed = await COMPUTING.run(parse_zone_file, body.zone_file, body.domain.lower(), nameservers)
    if parsed.refusals:
        raise invalid_fields([Problem(reason, "zone_file") for reason in parsed.refusals])
    return parsed


_SETTINGS = (
    *("type", "status", "soa_email", "description", "group", "master_ips", "axfr_ips"),
    *("refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "tags", "dnssec"),
)


def _imported(call: Call, body: ImportDomain) -> NewDomain:
    return NewDomain(
        account_id=call.account_id,
        domain=body.domain,
        type="master",
        status="active",
        soa_email=importing.default_email(body.domain),
        description="",
        group="",
        master_ips=[],
        axfr_ips=[],
        refresh_sec=0,
        retry_sec=0,
        expire_sec=0,
        ttl_sec=0,
        tags=[],
        dnssec=False,
        serial=rules.next_serial(0, call.clock.now()),
        importing=True,
    )


async def _insert(call: Call, new: NewDomain) -> DomainFacts:
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
    if call.get(Dns).is_reserved(zone):
        raise invalid(FOREIGN, "domain")
    await queries.lock_names(call.db, ".".join(zone.split(".")[-2:]))
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


async def _enqueue(call: Call, facts: DomainFacts, action: str) -> None:
    queue, actor = call.get(JobQueue), log.Actor.of(call)
    await jobs.enqueue(queue, call.db, jobs.ZONE_SYNC, facts, actor, action)
