"""DNSSEC: one key a zone, which signs answers as they are given (RFC 4034, RFC 4035)."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from dns import dnssec, rdataset, rdatatype, rrset
from dns.dnssectypes import Algorithm, DSDigest
from dns.name import Name
from dns.rdataset import Rdataset
from dns.rdatatype import RdataType
from dns.rdtypes.ANY.DNSKEY import DNSKEY
from dns.rrset import RRset

from roost.engines.simulated.nameserver.content import Content, Sets
from roost.resources.domains.engine import DsRecord

_ALGORITHM = Algorithm.ECDSAP256SHA256
_FLAGS = 257
_AGE, _LIFE = timedelta(hours=1), timedelta(days=14)
_DIGESTS = (DSDigest.SHA256, DSDigest.SHA384)


@dataclass(frozen=True, slots=True)
class Key:
    private: EllipticCurvePrivateKey
    public: DNSKEY


def new_key() -> str:
    """PEM."""
    private = generate_private_key(SECP256R1())
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def load_key(pem: str) -> Key:
    private = load_pem_private_key(pem.encode(), None)
    assert isinstance(private, EllipticCurvePrivateKey)
    return Key(private, dnssec.make_dnskey(private.public_key(), _ALGORITHM, flags=_FLAGS))


def ds_records(origin: Name, key: Key) -> list[DsRecord]:
    found = []
    for digest in _DIGESTS:
        ds = dnssec.make_ds(origin, key.public, digest)
        found.append(
            DsRecord(
                key_tag=ds.key_tag,
                algorithm=int(ds.algorithm),
                digest_type=int(ds.digest_type),
                digest=ds.digest.hex(),
                dnskey=key.public.to_text(),
            )
        )
    return found


class Signer:
    """What signs the answers of one zone."""

    def __init__(self, content: Content, key: Key) -> None:
        self._content = content
        self._key = key

    def keys(self) -> Rdataset:
        return rdataset.from_rdata(self._content.soa.ttl, self._key.public)

    def signatures(self, owner: Name, signed: Rdataset, shown: Name) -> RRset | None:
        """Over records of `owner`, which may be a wildcard; None where others' servers sign.

        `shown` is the name that was asked for.
        """
        is_delegation = self._content.is_cut(owner) and signed.rdtype == RdataType.NS
        cut = self._content.cut_above(owner)
        if is_delegation or cut not in (None, owner):
            return None
        records = rrset.from_rdata_list(owner, signed.ttl, list(signed))
        now = datetime.now(UTC)
        signature = dnssec.sign(
            records,
            self._key.private,
            self._content.origin,
            self._key.public,
            inception=now - _AGE,
            expiration=now + _LIFE,
        )
        return rrset.from_rdata(shown, signed.ttl, signature)

    def denial(self, name: Name) -> tuple[Name, Rdataset]:
        """The NSEC record at a name or, where it has none, before it."""
        owner = self._content.owner_before(name)
        kinds = self._kinds(self._content.nodes[owner], owner)
        following = self._content.owner_after(owner)
        text = f"{following} {' '.join(map(rdatatype.to_text, kinds))}"
        return owner, rdataset.from_text("IN", "NSEC", self._content.soa.ttl, text)

    def _kinds(self, sets: Sets, owner: Name) -> list[RdataType]:
        kept = (RdataType.NS, RdataType.DS) if self._content.is_cut(owner) else tuple(sets)
        own = [RdataType.DNSKEY] if owner == self._content.origin else []
        present = [kind for kind in sets if kind in kept]
        return [*present, *own, RdataType.RRSIG, RdataType.NSEC]
