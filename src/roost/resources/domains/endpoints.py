"""What the API offers: domains (spec B domains)."""

from roost.errors import Problem, invalid_fields, not_found
from roost.jobs.queue import JobQueue
from roost.resources.domains import jobs, queries, record_queries, rules, service
from roost.resources.domains.bodies import (
    EMAIL_REQUIRED,
    MASTERS_REQUIRED,
    UNSIGNABLE,
    CloneDomain,
    CreateDomain,
    ImportDomain,
    UpdateDomain,
)
from roost.resources.domains.queries import DOMAIN, DOMAINS, DomainFacts
from roost.resources.domains.records import DnssecRow, DomainRow, ZoneFileRow
from roost.resources.domains.service import Found
from roost.resources.domains.settings import PRIVATE_REASON, Dns
from roost.resources.domains.zone_service import render
from roost.resources.tags.service import change_tags, hold_tags
from roost.store.paging import fetch_record
from roost.web.call import Call
from roost.web.grants import Global, Listed, Read, Write
from roost.web.registry import Page, Rate, endpoint

READ = ("domains:read_only",)
WRITE = ("domains:read_write",)
ONE = "/domains/{domainId:int}"

_SETTINGS = ("description", "group", "tags")
"""What the name server need not know."""


@endpoint(
    "GET",
    "/domains",
    scopes=READ,
    grant=Listed("domain"),
    returns=Page(DomainRow),
    filters=DOMAINS.columns,
)
async def list_domains(call: Call) -> bytes:
    """List domains.

    Those of the account; restricted users see those that are granted to them.
    """
    return await call.collection(DOMAINS, call.account_id)


@endpoint(
    "POST",
    "/domains",
    scopes=WRITE,
    grant=Global("add_domains"),
    body=CreateDomain,
    returns=DomainRow,
    events=("dns_zone_create",),
)
async def create_domain(call: Call, body: CreateDomain) -> bytes:
    """Create a domain.

    Its name must be neither taken nor within or above another account's domain. The name
    servers answer it once its event is finished.
    """
    facts = await service.create(call, body)
    return await _view(call, facts.id)


@endpoint(
    "POST",
    "/domains/import",
    scopes=WRITE,
    grant=Global("add_domains"),
    body=ImportDomain,
    prepare=service.find_import,
    returns=DomainRow,
    events=("dns_zone_import",),
    rate=Rate(30, 60),
)
async def import_domain(call: Call, found: Found) -> bytes:
    """Import a domain from another name server or a zone file.

    With all its records or not at all: each record that is refused is named. A name server that
    answers within seconds is waited for; of a slower one the event tells how it ends, and a failed
    import leaves no domain.
    """
    facts = await service.make_import(call, found)
    return await _view(call, facts.id)


@endpoint("GET", ONE, scopes=READ, grant=Read("domain"), returns=DomainRow)
async def view_domain(call: Call) -> bytes:
    """View a domain.

    A zone without its records.
    """
    return await _view(call, call.number("domainId"))


@endpoint(
    "PUT",
    ONE,
    scopes=WRITE,
    grant=Write("domain"),
    body=UpdateDomain,
    of=view_domain,
    returns=DomainRow,
    events=("dns_zone_update",),
)
async def update_domain(call: Call, body: UpdateDomain) -> bytes:
    """Update a domain.

    Fields that are omitted stay; `axfr_ips`, `master_ips` and `tags` are replaced as a whole.
    """
    body.tags = await change_tags(call, DOMAIN, call.number("domainId"), body.tags)
    before = await lock_domain(call)
    _check_together(before, body, call.get(Dns))
    if body.domain is not None or body.type is not None:
        service.check_idle(before)
    renamed = body.domain is not None and body.domain.lower() != before.zone
    if renamed and body.domain is not None:
        await service.check_length(call, before, body.domain)
        await service.claim(call, body.domain, before.id)
    serial = _serial_after(before, body, call)
    after = await queries.update(call.db, before, body.model_dump(), serial, call.clock.now())
    if renamed:
        await jobs.sync_silently(call.get(JobQueue), call.db, before)
    kind = jobs.RECORD_SYNC if serial == before.serial else jobs.ZONE_SYNC
    await jobs.start(call, kind, after, "dns_zone_update")
    return await _view(call, after.id)


@endpoint("DELETE", ONE, scopes=WRITE, grant=Write("domain"), events=("dns_zone_delete",))
async def delete_domain(call: Call) -> None:
    """Delete a domain and its records.

    The name servers refuse to answer it from then on.
    """
    await service.delete(call, call.number("domainId"))


@endpoint(
    "POST",
    f"{ONE}/clone",
    scopes=WRITE,
    grant=Write("domain"),
    body=CloneDomain,
    of=view_domain,
    returns=DomainRow,
    events=("dns_zone_create",),
)
async def clone_domain(call: Call, body: CloneDomain) -> bytes:
    """Clone a domain with its records.

    A new zone under another name, with the settings and the records of this one as they are; its
    keys for DNSSEC are its own.
    """
    held = (await find_domain(call)).tags
    await hold_tags(call, held)
    facts = await service.clone(call, await lock_domain(call), body.domain, held)
    return await _view(call, facts.id)


@endpoint("GET", f"{ONE}/zone-file", scopes=READ, grant=Read("domain"), returns=ZoneFileRow)
async def view_zone_file(call: Call) -> ZoneFileRow:
    """View a domain as a zone file.

    As the name servers have it, `$TTL` and SOA first; empty until they have it.
    """
    facts = await find_domain(call)
    records = await record_queries.all_of(call.db, facts.id)
    return {"zone_file": render(facts, records, call.get(Dns))}


@endpoint("GET", f"{ONE}/dnssec", scopes=READ, grant=Read("domain"), returns=DnssecRow)
async def view_dnssec(call: Call) -> str:
    """View what a signed domain's registrar must be told.

    The DS records that join the zone to the chain of trust; the registrar of the domain takes
    them.
    """
    facts = await find_domain(call)
    return await queries.dnssec(call.db, facts.id)


async def find_domain(call: Call) -> DomainFacts:
    """The domain that the path names; 404 when it is not the caller's."""
    facts = await queries.find(call.db, call.account_id, call.number("domainId"))
    if facts is None:
        raise not_found()
    return facts


async def lock_domain(call: Call) -> DomainFacts:
    """The domain, which nobody else changes until the end of the transaction."""
    facts = await queries.lock(call.db, call.account_id, call.number("domainId"))
    if facts is None:
        raise not_found()
    return facts


async def _view(call: Call, domain_id: int) -> bytes:
    return await fetch_record(call.db, DOMAINS, (call.account_id,), domain_id)


def _check_together(before: DomainFacts, body: UpdateDomain, dns: Dns) -> None:
    """What a type demands of what the domain will be."""

    def after(name: str) -> object:
        sent = getattr(body, name)
        return getattr(before, name) if sent is None else sent

    problems = []
    if after("type") == "master" and not after("soa_email"):
        problems.append(Problem(EMAIL_REQUIRED, "soa_email"))
    if after("type") == "slave" and not after("master_ips"):
        problems.append(Problem(MASTERS_REQUIRED, "master_ips"))
    elif after("type") == "slave" and not dns.are_public(body.master_ips or before.master_ips):
        problems.append(Problem(PRIVATE_REASON, "master_ips"))
    if after("type") == "slave" and after("dnssec"):
        problems.append(Problem(UNSIGNABLE, "dnssec"))
    if problems:
        raise invalid_fields(problems)


def _serial_after(before: DomainFacts, body: UpdateDomain, call: Call) -> int:
    """It grows with what the name server must know."""
    sent = body.model_dump(exclude_none=True, exclude=set(_SETTINGS))
    if all(getattr(before, name) == value for name, value in sent.items()):
        return before.serial
    jump = rules.UNSIGNED_JUMP if before.dnssec and body.dnssec is False else 0
    return rules.next_serial(before.serial + jump, call.clock.now())
