"""Answers to queries."""

from dns import flags, message, rcode, rdataset, rdatatype, rrset
from dns.message import QueryMessage
from dns.name import Name
from dns.rdataset import Rdataset
from dns.rdatatype import RdataType
from dns.rrset import RRset

from roost.engines.simulated.nameserver.content import Content, DelegatedError, Found
from roost.engines.simulated.nameserver.signing import Signer

_CHASED = 10
_PAYLOAD = 1232


class Answer:
    """The answer of one zone to one query, as it is put together."""

    def __init__(self, query: QueryMessage, content: Content, signer: Signer | None) -> None:
        self.message = message.make_response(query, our_payload=_PAYLOAD)
        self.message.flags |= flags.AA
        self._content = content
        self._signer = signer
        self._proves = signer is not None and bool(query.ednsflags & flags.DO)
        self._name = query.question[0].name
        self._kind = query.question[0].rdtype

    def complete(self) -> None:
        name = self._name
        for _ in range(_CHASED):
            following = self._look_up(name)
            if following is None or not following.is_subdomain(self._content.origin):
                return
            name = following

    def _look_up(self, name: Name) -> Name | None:
        """Adds what is at the name; gives where an alias leads."""
        try:
            found = self._content.find(name, self._kind)
        except DelegatedError as elsewhere:
            self._refer(elsewhere.cut)
            return None
        if found is None:
            self.message.set_rcode(rcode.NXDOMAIN)
            self._deny(name, missing=True)
            return None
        if found.owner != name:
            self._prove(name)
        return self._take(name, found)

    def _take(self, name: Name, found: Found) -> Name | None:
        if self._kind == RdataType.DNSKEY and name == self._content.origin and self._signer:
            self._add(self.message.answer, name, self._signer.keys(), found.owner)
            return None
        alias = found.sets.get(RdataType.CNAME)
        if alias is not None and self._kind not in (RdataType.CNAME, RdataType.ANY):
            self._add(self.message.answer, name, alias, found.owner)
            target: Name = alias[0].target
            return target
        asked = [s for s in found.sets.values() if self._kind in (s.rdtype, rdatatype.ANY)]
        for each in asked:
            self._add(self.message.answer, name, each, found.owner)
        if not asked:
            self._deny(name, missing=False)
        return None

    def _refer(self, cut: Name) -> None:
        self.message.flags &= ~flags.AA
        sets = self._content.nodes[cut]
        self._add(self.message.authority, cut, sets[RdataType.NS], cut)
        if self._proves and RdataType.DS in sets:
            self._add(self.message.authority, cut, sets[RdataType.DS], cut)
        elif self._proves:
            self._prove(cut)
        for server in sets[RdataType.NS]:
            glue = self._content.nodes.get(server.target, {})
            for kind in (RdataType.A, RdataType.AAAA):
                if kind in glue:
                    self.message.additional.append(_shown(server.target, glue[kind]))

    def _deny(self, name: Name, missing: bool) -> None:
        """The SOA with the time for which the absence holds (RFC 2308, 3)."""
        start = self._content.soa[0]
        soa = rdataset.from_rdata(min(self._content.soa.ttl, start.minimum), start)
        self._add(self.message.authority, self._content.origin, soa, self._content.origin)
        self._prove(name)
        if missing:
            self._prove(Name((b"*",)).concatenate(self._content.encloser(name)))

    def _prove(self, name: Name) -> None:
        if self._proves and self._signer is not None:
            owner, nsec = self._signer.denial(name)
            if not any(r.name == owner and r.rdtype == nsec.rdtype for r in self.message.authority):
                self._add(self.message.authority, owner, nsec, owner)

    def _add(self, section: list[RRset], name: Name, records: Rdataset, owner: Name) -> None:
        section.append(_shown(name, records))
        if self._proves and self._signer is not None:
            signatures = self._signer.signatures(owner, records, name)
            if signatures is not None:
                section.append(signatures)


def refusal(query: message.Message, code: rcode.Rcode) -> message.Message:
    answer = message.make_response(query, our_payload=_PAYLOAD)
    answer.set_rcode(code)
    return answer


def _shown(name: Name, records: Rdataset) -> RRset:
    return rrset.from_rdata_list(name, records.ttl, list(records))
