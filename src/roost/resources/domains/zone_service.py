"""Zones as the name server is to hold them, and as text, made of rows."""

import hashlib
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

from roost.resources.domains import record_queries, rules
from roost.resources.domains.engine import (
    Master,
    RRset,
    Slave,
    Soa,
    Zone,
)
from roost.resources.domains.name_rules import absolute
from roost.resources.domains.queries import DomainFacts
from roost.resources.domains.records import RecordType
from roost.resources.domains.settings import Dns
from roost.store import Queries

PLATFORM_TTL = 300
"""Seconds, of records in the platform's own zones."""


def owner_of(domain_id: int) -> str:
    """How the name server remembers whose a zone is."""
    return f"domain-{domain_id}"


def ttl_of(facts: DomainFacts) -> int:
    """Seconds for which a record is remembered that does not say itself."""
    return facts.ttl_sec or rules.DEFAULT_TTL


def soa_of(facts: DomainFacts, dns: Dns) -> Soa:
    ttl = ttl_of(facts)
    return Soa(
        primary=f"{dns.nameservers[0]}.",
        mailbox=mailbox(facts.soa_email),
        serial=facts.serial,
        refresh=facts.refresh_sec or rules.DEFAULT_REFRESH,
        retry=facts.retry_sec or rules.DEFAULT_RETRY,
        expire=facts.expire_sec or rules.DEFAULT_EXPIRE,
        minimum=min(ttl, rules.MAX_NEGATIVE),
        ttl=ttl,
    )


def mailbox(email: str) -> str:
    """An email address as a domain name (RFC 1035, 8)."""
    local, _, host = email.partition("@")
    escaped = "".join(f"\\{c}" if c in ".;$" else c for c in local.lower())
    return f"{escaped}.{host.lower()}."


async def zone_of(db: Queries, facts: DomainFacts, dns: Dns) -> Zone:
    """The whole zone, all as of one moment when `db` is one statement's or a snapshot's."""
    content: Master | Slave
    if facts.type == "slave":
        content = Slave(_addresses(facts.master_ips))
    else:
        found = await record_queries.rrsets(db, facts, ttl_of(facts))
        rrsets = with_nameservers(found, facts.zone, dns.nameservers, ttl_of(facts))
        content = Master(soa_of(facts, dns), tuple(rrsets), facts.dnssec)
    return Zone(
        name=absolute("", facts.zone),
        owner=owner_of(facts.id),
        content=content,
        axfr_ips=_addresses(facts.axfr_ips),
        active=facts.status == "active",
    )


def platform_zone(
    name: str,
    owner: str,
    rrsets: Iterable[RRset],
    mail_domain: str,
    nameservers: Sequence[str],
    serial: int,
) -> Zone:
    """A zone of the platform's own, without the final period; its mailbox is hostmaster's."""
    soa = Soa(
        primary=f"{nameservers[0]}.",
        mailbox=f"hostmaster.{mail_domain}.",
        serial=serial,
        refresh=rules.DEFAULT_REFRESH,
        retry=rules.DEFAULT_RETRY,
        expire=rules.DEFAULT_EXPIRE,
        minimum=PLATFORM_TTL,
        ttl=PLATFORM_TTL,
    )
    content = Master(soa, tuple(with_nameservers(rrsets, name, nameservers, PLATFORM_TTL)))
    return Zone(f"{name}.", owner, content)


def digest(zone: Zone) -> str:
    """A digest of a platform's zone: it differs when anything but the serial does."""
    content = zone.content
    assert isinstance(content, Master)
    rows = sorted((*rrset.key, rrset.ttl, *sorted(rrset.contents)) for rrset in content.rrsets)
    return hashlib.sha256(
        repr((content.soa.primary, content.soa.mailbox, rows)).encode()
    ).hexdigest()


def _addresses(texts: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the one way to write it."""
    return tuple(dict.fromkeys(str(ip_address(text)) for text in texts))


def with_nameservers(
    rrsets: Iterable[RRset], zone: str, nameservers: Sequence[str], ttl: int
) -> list[RRset]:
    """Beside those that users name, the deployment's own are those of every zone."""
    apex = absolute("", zone)
    own = RRset(apex, "NS", ttl, frozenset(f"{name}.".lower() for name in nameservers))
    rest = []
    for rrset in rrsets:
        if rrset.key == own.key:
            own = RRset(apex, "NS", min(ttl, rrset.ttl), own.contents | rrset.contents)
        else:
            rest.append(rrset)
    return [own, *rest]


def render(
    facts: DomainFacts, records: Iterable[tuple[str, RecordType, int, str]], dns: Dns
) -> list[str]:
    """Lines; that of a slave is what its masters say, of which nothing is kept here."""
    if facts.type == "slave":
        return []
    soa, ttl = soa_of(facts, dns), ttl_of(facts)
    lines = [
        f"; {facts.domain} [{facts.id}]",
        f"$ORIGIN {facts.zone}.",
        f"$TTL {ttl}",
        f"@ IN SOA {soa.content}",
    ]
    lines += [f"@ IN NS {name}." for name in dns.nameservers]
    lines += [
        f"{owner or '@'} {own_ttl or ttl} IN {kind} {content}"
        for owner, kind, own_ttl, content in records
    ]
    return lines
