"""What an import makes of a zone that it found: records, and the settings of its SOA."""

from datetime import datetime
from typing import Any

import dns.name
from pydantic import TypeAdapter, ValidationError

from roost.resources.domains import queries, record_queries, rules
from roost.resources.domains.bodies import SoaEmail
from roost.resources.domains.parsing import Parsed
from roost.resources.domains.queries import DomainFacts
from roost.store import Queries

_EMAIL: TypeAdapter[str] = TypeAdapter(SoaEmail)


async def keep(db: Queries, facts: DomainFacts, parsed: Parsed, now: datetime) -> None:
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
    """Of a zone that does not say one."""
    return f"hostmaster@{domain}"


def _email(rname: dns.name.Name) -> str | None:
    """An SOA's mailbox as an email address (RFC 1035, 8); None for one that is none."""
    local = rname.labels[0].decode(errors="replace")
    host = dns.name.Name(rname.labels[1:]).to_text(omit_final_dot=True)
    try:
        return _EMAIL.validate_python(f"{local}@{host}") or None
    except ValidationError:
        return None
