"""Making domains: by hand, as a clone or by an import; and who may have which name."""

from dataclasses import dataclass

from roost.core.access import give_to_creator
from roost.core.context import Context
from roost.core.limits.check import AtOnce, check_limits
from roost.errors import Problem, invalid, invalid_fields, not_found
from roost.jobs.queue import JobQueue
from roost.resources.domains import jobs, queries, record_queries, rules
from roost.resources.domains.bodies import CreateDomain, ImportDomain
from roost.resources.domains.jobs import default_email, keep_import
from roost.resources.domains.name_rules import MAX_NAME, ancestors
from roost.resources.domains.parsing import Conversion, Parsed, parse_zone_file
from roost.resources.domains.queries import DOMAIN, DomainFacts, NewDomain
from roost.resources.domains.settings import Dns, parse_server
from roost.resources.domains.transfer_client import TransferError, TransferTimeoutError, fetch
from roost.resources.tags.service import use_tags
from roost.threads import COMPUTING

TAKEN = "DNS zone already exists."
LONG = f"Must have at most {MAX_NAME} characters together with each record's name"
RESERVED = "Must not lie within or above a zone of the platform"
FOREIGN = "Must not lie within or above a zone of another account"


async def create(context: Context, body: CreateDomain) -> DomainFacts:
    await use_tags(context, body.tags)
    serial = rules.next_serial(0, context.clock.now())
    new = NewDomain(account_id=context.account_id, serial=serial, **body.model_dump())
    facts = await insert(context, new)
    await jobs.start(context, jobs.ZONE_SYNC, facts, "dns_zone_create")
    await check_limits(context, queries.LIMIT)
    return facts


async def clone(context: Context, source: DomainFacts, domain: str, held: list[str]) -> DomainFacts:
    """A domain with the settings and records of another one; its DNSSEC keys are its own.

    `held` are the tags that it may have.
    """
    check_idle(source)
    await check_length(context, source, domain)
    columns = {name: getattr(source, name) for name in _SETTINGS}
    serial = rules.next_serial(0, context.clock.now())
    columns["tags"] = [tag for tag in source.tags if tag in held]
    new = NewDomain(account_id=context.account_id, domain=domain, serial=serial, **columns)
    facts = await insert(context, new)
    await record_queries.copy_all(context.db, source.id, facts.id, context.clock.now())
    await jobs.start(context, jobs.ZONE_SYNC, facts, "dns_zone_create")
    await check_limits(context, queries.LIMIT)
    return facts


async def delete(context: Context, domain_id: int) -> None:
    """The name servers refuse to answer it from then on. Raises 404."""
    facts = await queries.lock(context.db, context.account_id, domain_id)
    if facts is None:
        raise not_found()
    queue, zone = context.get(JobQueue), jobs.resource_of(facts.zone)
    await queue.preempt(context.db, zone, "The domain was deleted.")
    await queries.delete(context.db, facts.id)
    await jobs.start(context, jobs.ZONE_SYNC, facts, "dns_zone_delete")


_SETTINGS = (
    *("type", "status", "soa_email", "description", "group", "master_ips", "axfr_ips"),
    *("refresh_sec", "retry_sec", "expire_sec", "ttl_sec", "tags", "dnssec"),
)


async def insert(context: Context, new: NewDomain) -> DomainFacts:
    await claim(context, new.domain)
    facts = await queries.insert(context.db, new, context.clock.now())
    await give_to_creator(context, DOMAIN.name, facts.id)
    return facts


async def claim(context: Context, domain: str, but: int | None = None) -> None:
    """Raises 400 unless the caller's account may have the name (spec B domain record unique).

    It stays the caller's until the end of the transaction: names that lie within each other have
    the last two labels in common.
    """
    zone = domain.lower()
    await queries.lock_names(context.db, ".".join(zone.split(".")[-2:]))
    await check_free(context, zone, but)


async def check_free(context: Context, zone: str, but: int | None = None) -> None:
    """Check that a name is free, as far as it can be said at this moment."""
    if context.get(Dns).is_reserved(zone):
        raise invalid(RESERVED, "domain")
    if await queries.is_taken(context.db, zone, but):
        raise invalid(TAKEN, "domain")
    if await queries.has_foreign_relation(context.db, context.account_id, zone, ancestors(zone)):
        raise invalid(FOREIGN, "domain")


async def check_length(context: Context, facts: DomainFacts, domain: str) -> None:
    """Raises 400 when the records of a domain would have too long names in another one."""
    longest = await record_queries.longest_owner(context.db, facts.id)
    if longest and longest + 1 + len(domain) > MAX_NAME:
        raise invalid(LONG, "domain")


def check_idle(facts: DomainFacts) -> None:
    """Raises 400 while the records are still to come."""
    if facts.importing:
        raise invalid("The domain is being imported.")


TOO_MANY = f"An account imports at most {rules.MAX_IMPORTS} domains at the same time"
TRIAL_SECONDS = 2.5

_AT_ONCE = AtOnce(rules.MAX_IMPORTS)


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a zone before its domain is made."""

    body: ImportDomain
    parsed: Parsed | None
    """None when a job has to fetch it."""


async def find_import(context: Context, body: ImportDomain) -> Found:
    """Raises 400 with what is wrong with the zone, or why it cannot be had."""
    await check_free(context, body.domain.lower())
    with _AT_ONCE.one(context.account_id):
        if body.zone_file is not None:
            return Found(body, await _read(context, body.domain, body.zone_file))
        return Found(body, await _try(context, body.domain, body.remote_nameserver or ""))


async def make_import(context: Context, found: Found) -> DomainFacts:
    """The domain, with its records where they are known already."""
    body, parsed = found.body, found.parsed
    if parsed is None:
        await queries.lock_imports(context.db, context.account_id)
        if await queries.count_imports(context.db, context.account_id) >= rules.MAX_IMPORTS:
            raise invalid(TOO_MANY)
    new = NewDomain(
        account_id=context.account_id,
        domain=body.domain,
        soa_email=default_email(body.domain),
        serial=rules.next_serial(0, context.clock.now()),
        importing=True,
    )
    facts = await insert(context, new)
    if parsed is None:
        await jobs.start_import(context, facts, body.remote_nameserver or "")
    else:
        await keep_import(context.db, facts, parsed, context.clock.now())
        await jobs.start(context, jobs.ZONE_SYNC, facts, "dns_zone_import")
    await check_limits(context, queries.LIMIT)
    return facts


async def _read(context: Context, domain: str, zone_file: str) -> Parsed:
    conversion = Conversion(domain.lower(), context.get(Dns))
    parsed = await COMPUTING.run(parse_zone_file, zone_file, conversion)
    return _accepted(parsed, "zone_file")


async def _try(context: Context, domain: str, remote: str) -> Parsed | None:
    server = parse_server(remote)
    assert server is not None
    try:
        parsed = await fetch(domain.lower(), server, context.get(Dns), TRIAL_SECONDS)
    except TransferTimeoutError:
        return None
    except TransferError as error:
        raise invalid(str(error), "remote_nameserver") from None
    return _accepted(parsed, "remote_nameserver")


def _accepted(parsed: Parsed, field: str) -> Parsed:
    if parsed.refusals:
        raise invalid_fields([Problem(reason, field) for reason in parsed.refusals])
    return parsed
