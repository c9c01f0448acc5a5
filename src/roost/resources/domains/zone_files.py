"""A zone as text (RFC 1035, 5)."""

from collections.abc import Iterable

from roost.resources.domains.dns import Dns
from roost.resources.domains.queries import DomainFacts
from roost.resources.domains.records import RecordType
from roost.resources.domains.zones import soa_of, ttl_of


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
