"""The content of a zone, and what it says of a name (RFC 1034, 4.3.2; RFC 4592)."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dns import rdataset, rdatatype
from dns.name import Name, from_text
from dns.rdataset import Rdataset
from dns.rdatatype import RdataType
from dns.zone import Zone as DnsZone
from dns.zone import from_text as read_zone

from roost.resources.domains.engine import Master

_WILDCARD = from_text("*", None)

Sets = dict[RdataType, Rdataset]


@dataclass(frozen=True, slots=True)
class Found:
    """`owner`: the name whose records answer; a wildcard for others than itself."""

    owner: Name
    sets: Sets


class DelegatedError(Exception):
    """The name belongs to another server's zone; `cut` is where that begins."""

    def __init__(self, cut: Name) -> None:
        super().__init__(str(cut))
        self.cut = cut


class Content:
    """All RRsets of a zone, the SOA among them."""

    def __init__(self, origin: Name, nodes: dict[Name, Sets]) -> None:
        self.origin = origin
        self.nodes = nodes
        self._names = _with_ancestors(origin, nodes)
        self._ordered: list[Name] | None = None

    @classmethod
    def of_master(cls, name: str, master: Master) -> "Content":
        origin = from_text(name)
        soa = rdataset.from_text("IN", "SOA", master.soa.ttl, master.soa.content)
        nodes: dict[Name, Sets] = {origin: {RdataType.SOA: soa}}
        for each in master.rrsets:
            found = rdataset.from_text_list("IN", each.type, each.ttl, sorted(each.contents))
            nodes.setdefault(from_text(each.name), {})[found.rdtype] = found
        return cls(origin, nodes)

    @classmethod
    def of_text(cls, name: str, text: str) -> "Content":
        """Read a zone's content from what `to_text` gave."""
        zone = read_zone(text, from_text(name), relativize=False, check_origin=False)
        return cls.of_transfer(zone)

    @classmethod
    def of_transfer(cls, zone: DnsZone) -> "Content":
        """Read content from a zone whose names are absolute."""
        nodes: dict[Name, Sets] = {}
        for name, each in zone.iterate_rdatasets():
            nodes.setdefault(name, {})[each.rdtype] = each
        assert zone.origin is not None
        return cls(zone.origin, nodes)

    def to_text(self) -> str:
        return "\n".join(each.to_text(name) for name, each in self.rdatasets())

    @property
    def soa(self) -> Rdataset:
        return self.nodes[self.origin][RdataType.SOA]

    def rdatasets(self) -> Iterator[tuple[Name, Rdataset]]:
        """The SOA comes first."""
        yield self.origin, self.soa
        for name, sets in self.nodes.items():
            for each in sets.values():
                if each.rdtype != RdataType.SOA:
                    yield name, each

    def find(self, name: Name, kind: RdataType) -> Found | None:
        """What there is at a name of the zone, perhaps nothing of the kind; None: no such name.

        Raises DelegatedError.
        """
        self._refuse_delegated(name, kind)
        if name in self._names:
            return Found(name, self.nodes.get(name, {}))
        wildcard = _WILDCARD.concatenate(self.encloser(name))
        if wildcard in self.nodes:
            return Found(wildcard, self.nodes[wildcard])
        return None

    def encloser(self, name: Name) -> Name:
        """The closest name above this one that exists."""
        return next(above for above in _ancestors(self.origin, name) if above in self._names)

    def owner_before(self, name: Name) -> Name:
        """The last name up to this one, in the order of DNSSEC, that has an NSEC record."""
        owners = self.signed_owners()
        return owners[bisect_right(owners, name) - 1]

    def owner_after(self, name: Name) -> Name:
        owners = self.signed_owners()
        return owners[bisect_right(owners, name) % len(owners)]

    def is_cut(self, name: Name) -> bool:
        return name != self.origin and RdataType.NS in self.nodes.get(name, {})

    def cut_above(self, name: Name) -> Name | None:
        """The highest delegation at or above the name."""
        above = [each for each in (name, *_ancestors(self.origin, name)) if self.is_cut(each)]
        return above[-1] if above else None

    def _refuse_delegated(self, name: Name, kind: RdataType) -> None:
        cut = self.cut_above(name)
        if cut is not None and not (cut == name and kind == rdatatype.DS):
            raise DelegatedError(cut)

    def signed_owners(self) -> list[Name]:
        if self._ordered is None:
            cuts = ((name, self.cut_above(name)) for name in self.nodes)
            self._ordered = sorted(name for name, cut in cuts if cut in (None, name))
        return self._ordered


def _with_ancestors(origin: Name, names: Iterable[Name]) -> set[Name]:
    found = set(names)
    for name in names:
        found.update(_ancestors(origin, name))
    return found


def _ancestors(origin: Name, name: Name) -> Iterator[Name]:
    """From the parent up to the origin."""
    while name != origin:
        name = name.parent()
        yield name
