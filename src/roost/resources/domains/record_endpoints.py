"""What the API offers: the records of domains (spec B domain records)."""

from dataclasses import replace
from ipaddress import ip_address

from roost.errors import invalid, not_found
from roost.resources.domains import jobs, record_queries, rules
from roost.resources.domains.endpoints import ONE, READ, WRITE, find_domain, lock_domain
from roost.resources.domains.name_rules import HOST_REASON
from roost.resources.domains.queries import DomainFacts
from roost.resources.domains.record_bodies import CreateRecord, UpdateRecord
from roost.resources.domains.record_queries import RECORDS
from roost.resources.domains.record_rules import (
    IPV4_REASON,
    IPV6_REASON,
    REMOTE_ADDRESS,
    Draft,
    Placed,
)
from roost.resources.domains.records import RecordRow
from roost.resources.domains.service import check_idle
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_rules import CNAME_REASON, check_all, conflict, place
from roost.web.call import Call
from roost.web.grants import Read, Write
from roost.web.registry import Page, endpoint

_ALL = f"{ONE}/records"
_RECORD = f"{_ALL}/{{recordId:int}}"

TYPE_REASON = "Must stay {}: delete the record and create one of the other type"
SLAVE = "The records of a slave domain come from its master servers."


@endpoint(
    "GET",
    _ALL,
    scopes=READ,
    grant=Read("domain"),
    returns=Page(RecordRow),
    filters=RECORDS.columns,
)
async def list_records(call: Call) -> bytes:
    """List the records of a domain.

    A domain has 12,000 at most.
    """
    return await call.collection(RECORDS, (await find_domain(call)).id)


@endpoint("GET", _RECORD, scopes=READ, grant=Read("domain"), returns=RecordRow)
async def view_record(call: Call) -> bytes:
    """View a record.

    One record of a domain.
    """
    return await call.record(call.number("recordId"), RECORDS, (await find_domain(call)).id)


@endpoint(
    "POST",
    _ALL,
    scopes=WRITE,
    grant=Write("domain"),
    body=CreateRecord,
    of=list_records,
    returns=RecordRow,
    events=("dns_record_create",),
)
async def create_record(call: Call, body: CreateRecord) -> str:
    """Create a record.

    What `name`, `target` and the other fields may be depends on `type`; those that are not of
    the type must be omitted, 0 or empty. The name servers answer it once its event is
    finished.
    """
    facts = await _lock_master(call)
    if facts.records >= rules.MAX_RECORDS:
        raise invalid(rules.FULL)
    new = await _place(call, facts, body.draft)
    _check_size(facts, new.size)
    serial = rules.next_serial(facts.serial, call.clock.now())
    record = await record_queries.insert(call.db, facts.id, new, serial, call.clock.now())
    await jobs.start(call, jobs.RECORD_SYNC, facts, "dns_record_create")
    return record


@endpoint(
    "PUT",
    _RECORD,
    scopes=WRITE,
    grant=Write("domain"),
    body=UpdateRecord,
    of=view_record,
    returns=RecordRow,
    events=("dns_record_update",),
)
async def update_record(call: Call, body: UpdateRecord) -> str:
    """Update a record.

    Fields that are omitted stay. The type never changes: another one is refused.
    """
    facts = await _lock_master(call)
    before = await _find(call, facts)
    if body.type is not None and body.type != before.type:
        raise invalid(TYPE_REASON.format(before.type), "type")
    draft = _merged(before, body)
    check_all(draft)
    record_id = call.number("recordId")
    new = await _place(call, facts, draft, record_id)
    grown = new.size - before.size
    _check_size(facts, grown)
    record = await record_queries.update(call.db, record_id, new, call.clock.now())
    await _change(call, facts, [before, new], (0, grown))
    await jobs.start(call, jobs.RECORD_SYNC, facts, "dns_record_update")
    return record


@endpoint("DELETE", _RECORD, scopes=WRITE, grant=Write("domain"), events=("dns_record_delete",))
async def delete_record(call: Call) -> None:
    """Delete a record.

    The name servers forget it once its event is finished.
    """
    facts = await _lock_master(call)
    before = await _find(call, facts)
    await record_queries.delete(call.db, call.number("recordId"))
    await _change(call, facts, [before], (-1, -before.size))
    await jobs.start(call, jobs.RECORD_SYNC, facts, "dns_record_delete")


async def _lock_master(call: Call) -> DomainFacts:
    """The domain, whose records nobody else changes; 400 when they are not made here."""
    facts = await lock_domain(call)
    if facts.type == "slave":
        raise invalid(SLAVE)
    check_idle(facts)
    return facts


async def _find(call: Call, facts: DomainFacts) -> Placed:
    found = await record_queries.find(call.db, facts.id, call.number("recordId"))
    if found is None:
        raise not_found()
    return found


def _merged(before: Placed, body: UpdateRecord) -> Draft:
    """The record as it was, with what was sent."""
    sent = body.model_dump(exclude_none=True)
    # What only other types have is held empty in rows, and may be sent back so.
    return Draft(
        type=before.type,
        name=sent.get("name", before.name),
        tag=sent.get("tag", before.tag) or None,
        target=sent.get("target", before.target),
        priority=sent.get("priority", before.priority),
        weight=sent.get("weight", before.weight),
        port=sent.get("port", before.port),
        service=sent.get("service", before.service),
        protocol=sent.get("protocol", before.protocol),
        ttl_sec=sent.get("ttl_sec", before.ttl_sec),
        critical=before.critical,
    )


async def _place(call: Call, facts: DomainFacts, draft: Draft, but: int | None = None) -> Placed:
    """The row of a draft; 400 when the zone has no place for it."""
    if draft.target == REMOTE_ADDRESS and draft.type in ("A", "AAAA"):
        draft = replace(draft, target=_address_of(call, draft))
    new = place(draft, facts.domain)
    if "_" in new.target and new.type == "SRV" and not call.get(Dns).engine.underscored_hosts:
        raise invalid(HOST_REASON, "target")
    others = await record_queries.neighbours(call.db, facts.id, new.owner, but)
    reason = conflict(new, others, facts.zone)
    if reason is not None:
        raise invalid(reason, "name" if reason == CNAME_REASON else "target")
    return new


def _address_of(call: Call, draft: Draft) -> str:
    """The caller's address, of the family that the type wants."""
    address = ip_address(call.client)
    mapped = getattr(address, "ipv4_mapped", None)
    known = mapped or address
    if known.version != (4 if draft.type == "A" else 6):
        raise invalid(IPV4_REASON if draft.type == "A" else IPV6_REASON, "target")
    return str(known)


def _check_size(facts: DomainFacts, grown: int) -> None:
    if grown > 0 and facts.size + grown > rules.MAX_BYTES:
        raise invalid(rules.TOO_LARGE, "target")


async def _change(
    call: Call, facts: DomainFacts, changed: list[Placed], added: tuple[int, int]
) -> None:
    keys = [(record.owner, record.type) for record in changed]
    now = call.clock.now()
    serial = rules.next_serial(facts.serial, now)
    await record_queries.set_changed(call.db, facts.id, keys, added, serial, now)
