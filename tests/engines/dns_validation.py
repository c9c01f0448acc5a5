"""A validating resolver's view of one signed zone, from the DS records down."""

from collections.abc import Iterable

import dns.dnssec
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rrset
from dns.dnssec import nsec3_hash
from dns.dnssectypes import DSDigest
from dns.message import Message
from dns.node import Node
from dns.rdataset import Rdataset
from dns.rdatatype import RdataType
from dns.rrset import RRset

from roost.resources.domains.engine import DomainEngine, DsRecord
from tests.engines.dns_harness import ask

_DENIALS = (RdataType.NSEC, RdataType.NSEC3)


async def validate(
    engine: DomainEngine, zone: str, trusted: Iterable[DsRecord], name: str, kind: str
) -> None:
    """Everything in the answer that is the zone's own is signed by the trusted keys.

    Of a name or type that is not there the answer has the signed denial. Raises
    dns.dnssec.ValidationFailure, or AssertionError.
    """
    origin = dns.name.from_text(zone)
    keys: dict[dns.name.Name, Node | Rdataset] = {
        origin: await _trusted_keys(engine, origin, list(trusted))
    }
    answer = await ask(engine, name, kind, dnssec=True)
    checked = 0
    for section in (answer.answer, answer.authority):
        for each in section:
            if each.rdtype != RdataType.RRSIG and not _is_delegation(each, origin):
                dns.dnssec.validate(each, _signatures(section, each), keys)
                checked += 1
    assert checked
    if not answer.answer:
        assert any(each.rdtype in _DENIALS for each in answer.authority)
        _refuse_wrong_denial(answer, dns.name.from_text(name), origin)


async def _trusted_keys(
    engine: DomainEngine, origin: dns.name.Name, trusted: list[DsRecord]
) -> RRset:
    answer = await ask(engine, origin.to_text(), "DNSKEY", dnssec=True)
    keys = answer.get_rrset(answer.answer, origin, dns.rdataclass.IN, RdataType.DNSKEY)
    assert keys is not None
    for record in trusted:
        made = (dns.dnssec.make_ds(origin, key, DSDigest(record.digest_type)) for key in keys)
        assert any(
            (ds.key_tag, ds.algorithm, ds.digest.hex())
            == (record.key_tag, record.algorithm, record.digest)
            for ds in made
        )
        assert record.dnskey.replace(" ", "") in [key.to_text().replace(" ", "") for key in keys]
    dns.dnssec.validate(keys, _signatures(answer.answer, keys), {origin: keys})
    return keys


def _signatures(section: list[RRset], signed: RRset) -> RRset:
    found = [
        each
        for each in section
        if (each.name, each.rdtype, each.covers) == (signed.name, RdataType.RRSIG, signed.rdtype)
    ]
    assert found, f"{signed.name} {signed.rdtype.name} is not signed"
    return found[0]


def _is_delegation(each: RRset, origin: dns.name.Name) -> bool:
    return each.rdtype == RdataType.NS and each.name != origin


def _refuse_wrong_denial(answer: Message, name: dns.name.Name, origin: dns.name.Name) -> None:
    """Whether the denials speak of the name (RFC 4035, 5.4; RFC 5155, 8)."""
    denials = [each for each in answer.authority if each.rdtype in _DENIALS]
    assert any(_concerns(each, name, origin) for each in denials)


def _concerns(denial: RRset, name: dns.name.Name, origin: dns.name.Name) -> bool:
    if denial.rdtype == RdataType.NSEC:
        following = denial[0].next
        covered = denial.name < name and (name < following or following == origin)
        return bool(denial.name == name or covered)
    first, last = denial.name.labels[0].decode().upper(), denial[0].to_text().split()[4].upper()
    above = [name]
    while above[-1] != origin:
        above.append(above[-1].parent())
    hashes = [nsec3_hash(each, denial[0].salt, denial[0].iterations, 1) for each in above]
    return any(each == first or _between(first, each, last) for each in hashes)


def _between(first: str, each: str, last: str) -> bool:
    return first < each < last if first < last else each > first or each < last
