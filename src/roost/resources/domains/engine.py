"""What domains need from a data plane that answers DNS queries and serves zone transfers.

PostgreSQL holds the truth: every call that makes something carries the whole of it, every method
is idempotent, and a change that returned is seen by the next query (no cache of the engine's own
may hide it, not even for a name that was asked before its zone existed). Calls for one zone come
one at a time; calls for different zones come at once. DNSSEC keys are the one thing that only the
engine holds.

Zone and record names are absolute, lower-case and end in a period; characters that a zone file
quotes are quoted as there (RFC 1035, 5.1). Content is presentation format, its names absolute too.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from roost.core.engine import EngineError, Health


class NoZoneError(EngineError):
    """The engine does not hold the zone, or not as the kind that the call needs."""


class RejectedError(EngineError):
    """The engine will never take this content; another attempt is useless."""


class RRKey(NamedTuple):
    """Which RRset of a zone."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class RRset:
    """All records of one name and type. Never the SOA, which has a place of its own."""

    name: str
    type: str
    ttl: int
    """Seconds."""
    contents: frozenset[str]
    """One text a record, such as `10 mail.example.com.` or `"v=spf1 " "-all"`; at least one."""

    @property
    def key(self) -> RRKey:
        return RRKey(self.name, self.type)


@dataclass(frozen=True, slots=True)
class Soa:
    """The start of authority; times in seconds.

    An engine serves this serial, or a larger one where renewed signatures must reach secondaries,
    but never one that falls while `serial` grows.
    """

    primary: str
    mailbox: str
    serial: int
    refresh: int
    retry: int
    expire: int
    minimum: int
    ttl: int

    @property
    def content(self) -> str:
        return (
            f"{self.primary} {self.mailbox} {self.serial} {self.refresh} {self.retry}"
            f" {self.expire} {self.minimum}"
        )


@dataclass(frozen=True, slots=True)
class Master:
    """A zone whose content Roost holds."""

    soa: Soa
    rrsets: tuple[RRset, ...]
    """Everything but the SOA and what DNSSEC adds; the name servers of the apex are among it."""
    dnssec: bool = False


@dataclass(frozen=True, slots=True)
class Slave:
    """A zone that follows other servers."""

    masters: tuple[str, ...]
    """Addresses to transfer from, tried in this order; NOTIFY is heeded from these only."""


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone as it should be, or as the engine holds it."""

    name: str
    owner: str
    """Whom the zone was made for, such as `domain-100001`; told apart from zones of others that a
    shared server may hold, and one zone from another that had its name before."""
    content: Master | Slave
    axfr_ips: tuple[str, ...] = ()
    """Addresses and networks that may transfer the zone; nobody else may. A master sends NOTIFY of
    each change to those that are addresses, beside the zone's other name servers."""
    active: bool = True
    """An inactive zone answers no query (REFUSED) and no transfer, but keeps its keys."""


@dataclass(frozen=True, slots=True)
class ZoneChange:
    """An edit of some RRsets of a master."""

    zone: str
    soa: Soa
    """The SOA from now on."""
    put: tuple[RRset, ...] = ()
    """These RRsets become exactly this."""
    drop: frozenset[RRKey] = field(default_factory=frozenset)
    """These become none; they may have been none before."""
    known: bool = False
    """The zone was put as an active master, and nothing has failed since: where the engine holds
    a zone of this name, it need not look first what kind of zone it is."""


class ZoneHead(NamedTuple):
    """A zone in the list of all."""

    name: str
    owner: str


@dataclass(frozen=True, slots=True)
class DsRecord:
    """What a registrar is told of one key that signs the zone's keys (RFC 4034, 5.1)."""

    key_tag: int
    algorithm: int
    digest_type: int
    digest: str
    """Lower-case hexadecimal."""
    dnskey: str
    """The key itself in presentation format: `257 3 13 mdsswUyr3DPW132mOi8V9xESWE8j…`."""


@dataclass(frozen=True, slots=True)
class TransferStatus:
    """How far a slave is."""

    serial: int | None
    """None: nothing was transferred yet, or what was has expired."""


class DomainEngine(Protocol):
    """One authoritative name server for all zones. Every method may raise EngineError."""

    @property
    def name(self) -> str:
        """Which engine holds the zones: `simulated`, `powerdns`."""

    @property
    def underscored_hosts(self) -> bool:
        """Whether it serves SRV records whose target has underscores."""

    @property
    def listening(self) -> tuple[tuple[str, int], ...]:
        """Addresses and ports at which it answers over UDP and TCP; at least one."""

    async def put_zone(self, zone: Zone) -> None:
        """Make the zone exactly this, in one piece where it exists already.

        Queries see the old content or the new one, never a part. Keys are kept while the zone
        stays a signed master, active or not, made when `dnssec` becomes true and removed when it
        becomes false. A zone of this name that has another owner is replaced with all that
        belongs to it. A slave keeps what it transferred, and asks its masters at once when it is
        new or they have changed.
        """

    async def put_rrsets(self, change: ZoneChange) -> None:
        """Change some RRsets and the SOA together, and let secondaries know.

        NoZoneError where there is no active master zone of this name.
        """

    async def delete_zone(self, name: str, owner: str | None = None) -> None:
        """Remove the zone, its keys and all that belongs to it; nothing where there is none.

        With an `owner` only when the zone is that one's.
        """

    async def zones(self) -> list[ZoneHead]:
        """All zones that were put by Roost, active or not, by name; also half-made ones."""

    async def inspect(self, name: str) -> Zone | None:
        """The zone with its stored content, as `put_zone` would take it; None where there is none.

        The SOA is the stored one. A slave shows its settings.
        """

    async def ds_records(self, name: str) -> list[DsRecord]:
        """The DS records of the zone's keys, for SHA-256 and stronger digests; [] when unsigned.

        NoZoneError where there is no such zone.
        """

    async def transfer_status(self, name: str) -> TransferStatus:
        """NoZoneError where there is no active slave zone of this name."""

    async def retrieve(self, name: str) -> None:
        """Let a slave ask its masters now. NoZoneError where there is no such active slave."""

    async def health(self) -> Health: ...

    async def shut_down(self) -> None:
        """Stop serving (`roost down`); zones are kept."""

    async def close(self) -> None:
        """Let go of the data plane, which goes on serving."""
