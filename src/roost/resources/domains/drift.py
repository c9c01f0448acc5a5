"""How the zone that a name server holds differs from what it should be: pure comparison."""

from collections.abc import Iterable, Iterator

import dns.exception
import dns.rdata
import dns.rdataclass
import dns.rdatatype

from roost.resources.domains.engine import (
    Master,
    RRset,
    Slave,
    Zone,
)

_Contents = dict[tuple[str, str], tuple[int, frozenset[str]]]


def differences(wanted: Zone, found: Zone | None) -> list[str]:
    """In words, the zone's name left out; [] when there are none."""
    if found is None:
        return ["the name server does not have it"]
    return list(_differences(wanted, found))


def _differences(wanted: Zone, found: Zone) -> Iterator[str]:
    if found.owner != wanted.owner:
        yield f"it is that of {found.owner} instead of {wanted.owner}"
    if found.active != wanted.active:
        yield "it is served" if found.active else "it is not served"
    if not wanted.active:
        return
    if sorted(found.axfr_ips) != sorted(wanted.axfr_ips):
        yield "other addresses may transfer it"
    match wanted.content, found.content:
        case Master() as master, Master() as held:
            yield from _compare_masters(master, held)
        case Slave() as slave, Slave() as held_slave:
            if slave != held_slave:
                yield "it follows other masters"
        case _:
            yield "it is of another type"


def _compare_masters(wanted: Master, found: Master) -> Iterator[str]:
    if wanted.soa != found.soa:
        yield "its SOA is another"
    if wanted.dnssec != found.dnssec:
        yield "it is signed" if found.dnssec else "it is not signed"
    should, does = _contents(wanted.rrsets), _contents(found.rrsets)
    for key in sorted(should.keys() | does.keys()):
        if should.get(key) == does.get(key):
            continue
        name = " ".join(key)
        if key not in does:
            yield f"{name} is missing"
        elif key not in should:
            yield f"{name} does not belong there"
        else:
            yield f"{name} is wrong"


def _contents(rrsets: Iterable[RRset]) -> _Contents:
    return {
        (rrset.name.lower(), rrset.type): (
            rrset.ttl,
            frozenset(canonical(rrset.type, content) for content in rrset.contents),
        )
        for rrset in rrsets
    }


def canonical(kind: str, content: str) -> str:
    """The one way to write a record's content; what cannot be read stays as it is."""
    try:
        rdata = dns.rdata.from_text(
            dns.rdataclass.IN, dns.rdatatype.from_text(kind), content, relativize=False
        )
    except dns.exception.DNSException:
        return content
    return rdata.to_text() if kind in ("TXT", "CAA") else rdata.to_text().lower()
