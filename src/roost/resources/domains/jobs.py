"""Telling the name server what the rows say.

A step reads the truth and makes the name server agree, so it may run again at any time, and what
several changes wait for is done by the first of their jobs. Jobs of one zone run one at a time.

kind               does                                            failed
dns_zone_sync      the whole zone, also one that is gone           `errors` of the domain says why
dns_record_sync    RRsets that changed                             the same; the next one does it
dns_zone_import    fetches a zone, then as dns_zone_sync           the domain is gone
"""

from datetime import datetime
from typing import Any, Final

import dns.name
import orjson
from pydantic import TypeAdapter, ValidationError

from roost.core.context import Context
from roost.core.events import log
from roost.jobs.kinds import JobArgs, JobKind, Retry, Step
from roost.jobs.model import Job
from roost.jobs.queue import JobQueue
from roost.jobs.run import Run
from roost.jobs.verdicts import Fatal, Verdict, next_step, writing
from roost.resources.domains import queries, record_queries, rules, transfer_client
from roost.resources.domains.bodies import SoaEmail
from roost.resources.domains.engine import NoZoneError, RejectedError, ZoneChange
from roost.resources.domains.name_rules import absolute
from roost.resources.domains.parsing import Parsed
from roost.resources.domains.queries import DOMAIN, DomainFacts
from roost.resources.domains.settings import Dns, parse_server, related
from roost.resources.domains.transfer_client import TransferRefusedError, TransferTimeoutError
from roost.resources.domains.zone_service import owner_of, soa_of, ttl_of, with_nameservers, zone_of
from roost.store import Queries


def resource_of(zone: str) -> str:
    """The name under which jobs of a zone run one at a time, also of two domains in turn."""
    return f"zone:{zone}"


_EMAIL: TypeAdapter[str] = TypeAdapter(SoaEmail)


async def keep_import(db: Queries, facts: DomainFacts, parsed: Parsed, now: datetime) -> None:
    """The records and the settings; the import of the domain is over."""
    await record_queries.insert_all(db, facts.id, parsed.records, now)
    soa: Any = parsed.soa
    serial = facts.serial
    if soa is not None:
        serial = max(serial, int(soa.serial))
        await queries.set_soa(
            db,
            facts.id,
            default_email=default_email(facts.domain),
            soa_email=_email(soa.rname) or facts.soa_email,
            refresh_sec=rules.round_up(soa.refresh),
            retry_sec=rules.round_up(soa.retry),
            expire_sec=rules.round_up(soa.expire),
        )
    await queries.end_import(db, facts.id, rules.next_serial(serial, now), now)


def default_email(domain: str) -> str:
    """The email of a zone that does not say one."""
    return f"hostmaster@{domain}"


def _email(rname: dns.name.Name) -> str | None:
    """An SOA's mailbox as an email address (RFC 1035, 8); None for one that is none."""
    local = rname.labels[0].decode(errors="replace")
    host = dns.name.Name(rname.labels[1:]).to_text(omit_final_dot=True)
    try:
        return _EMAIL.validate_python(f"{local}@{host}") or None
    except ValidationError:
        return None


_RETRY: Final = Retry(attempts=60, base=0.25, longest=30.0)
"""Half an hour: a name server that is restarted is waited for."""


class ZoneArgs(JobArgs):
    """A zone, and the domain whose it is or was."""

    zone: str
    domain_id: int


def _args(facts: DomainFacts) -> ZoneArgs:
    return ZoneArgs(zone=facts.zone, domain_id=facts.id)


def _on_zone(args: ZoneArgs) -> str:
    return resource_of(args.zone)


class ImportArgs(ZoneArgs):
    remote_nameserver: str


async def serve_zone(run: Run[ZoneArgs]) -> Verdict:
    """Make the name server hold the zone, or no longer hold it."""
    facts = await queries.find_zone(run.store, run.args.zone)
    if facts is not None and facts.id == run.args.domain_id:
        return await _put_zone(run, facts)
    dns, owner = run.get(Dns), owner_of(run.args.domain_id)
    # A deletion ends the job of the one before it: what that left goes too.
    is_nobodys = facts is None and not related(run.args.zone, dns.reserved)
    await dns.engine.delete_zone(absolute("", run.args.zone), None if is_nobodys else owner)
    return next_step()


async def _put_zone(run: Run[ZoneArgs], facts: DomainFacts) -> Verdict:
    dns = run.get(Dns)
    zone = await zone_of(run.store, facts, dns)
    await dns.engine.put_zone(zone)
    found = await dns.engine.ds_records(zone.name) if facts.dnssec else []
    ds_records = orjson.dumps(found).decode()

    async def write(db: Queries) -> None:
        await queries.set_ds_records(db, facts.id, ds_records)
        await record_queries.forget_changes(db, facts.id, facts.serial)

    return next_step(write)


async def serve_records(run: Run[ZoneArgs]) -> Verdict:
    """Tell the name server what changed; a zone that it does not have it is given whole."""
    await record_queries.settle(run.store, run.args.domain_id)
    pending = await record_queries.pending(run.store, run.args.domain_id, rules.DEFAULT_TTL)
    if pending is None or pending.facts.zone != run.args.zone:
        return next_step()
    facts, dns = pending.facts, run.get(Dns)
    if facts.served and pending.keys:
        try:
            await dns.engine.put_rrsets(_change(pending, dns))
        except NoZoneError:
            return await _put_zone(run, facts)
    return next_step(writing(record_queries.forget_changes, facts.id, facts.serial))


def _change(pending: record_queries.Pending, dns: Dns) -> ZoneChange:
    facts, put = pending.facts, pending.rrsets
    name = absolute("", facts.zone)
    if (name, "NS") in pending.keys:
        put = with_nameservers(put, facts.zone, dns.nameservers, ttl_of(facts))
    drop = frozenset(pending.keys) - {rrset.key for rrset in put}
    # Jobs of one zone come one after the other: without an error the one before has put it.
    return ZoneChange(name, soa_of(facts, dns), tuple(put), drop, known=not facts.errors)


async def fetch_zone(run: Run[ImportArgs]) -> Verdict:
    """Ask the other name server for the zone, and keep its records."""
    facts = await queries.find_any(run.store, run.args.domain_id)
    if facts is None:
        raise Fatal("The domain is gone.")
    server = parse_server(run.args.remote_nameserver)
    if server is None:
        raise Fatal("The name server is not valid.")
    parsed = await transfer_client.fetch(facts.zone, server, run.get(Dns), transfer_client.SECONDS)
    await run.progress(60)
    if parsed.refusals:
        raise Fatal("Not imported: " + "; ".join(parsed.refusals))
    return next_step(writing(keep_import, facts, parsed, run.clock.now()))


async def withdraw(run: Run[ZoneArgs]) -> Verdict:
    """Take back a zone whose import has failed."""
    owner = owner_of(run.args.domain_id)
    await run.get(Dns).engine.delete_zone(absolute("", run.args.zone), owner)
    return next_step()


async def _set_errors(db: Queries, job: Job, args: ZoneArgs) -> None:
    await queries.set_errors(db, args.zone, job.error or "The name server was not told.")


async def _forget(db: Queries, job: Job, args: ZoneArgs) -> None:
    await queries.delete(db, args.domain_id)


ZONE_SYNC = JobKind(
    "dns_zone_sync",
    ZoneArgs,
    resource=_on_zone,
    steps=(Step("serve", serve_zone, timeout=120),),
    retry=_RETRY,
    permanent=(RejectedError,),
    on_failed=_set_errors,
)

RECORD_SYNC = JobKind(
    "dns_record_sync",
    ZoneArgs,
    resource=_on_zone,
    joined=True,
    steps=(Step("serve", serve_records, timeout=120),),
    retry=_RETRY,
    permanent=(RejectedError,),
    on_failed=_set_errors,
)

IMPORT = JobKind(
    "dns_zone_import",
    ImportArgs,
    resource=_on_zone,
    steps=(
        Step("fetch", fetch_zone, timeout=180, retry=Retry(attempts=3, base=0.25)),
        Step("serve", serve_zone, undo=withdraw, timeout=120),
    ),
    retry=_RETRY,
    permanent=(RejectedError, TransferRefusedError, TransferTimeoutError),
    on_failed=_forget,
    per_account=2,
)

KINDS = (ZONE_SYNC, RECORD_SYNC, IMPORT)


async def start(
    by: Context | log.Starter, kind: JobKind[ZoneArgs], facts: DomainFacts, action: str
) -> None:
    """Start ZONE_SYNC or RECORD_SYNC of a domain, which is locked."""
    await log.start(by, kind, _args(facts), DOMAIN.entity(facts.id, facts.domain), action=action)


async def start_import(by: Context | log.Starter, facts: DomainFacts, remote: str) -> None:
    args = ImportArgs(zone=facts.zone, domain_id=facts.id, remote_nameserver=remote)
    await log.start(by, IMPORT, args, DOMAIN.entity(facts.id, facts.domain))


async def sync_silently(queue: JobQueue, db: Queries, facts: DomainFacts) -> None:
    """Make the name server agree, without an event; also on a name that the domain has no more."""
    await queue.enqueue(db, ZONE_SYNC, _args(facts), account_id=facts.account_id)
