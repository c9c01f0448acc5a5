"""SQL of domains; that of their records is in record_queries.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from asyncpg import Record

from roost.core.entities.kind import ResourceKind
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.domains.records import DomainRow, DomainStatus, DomainType
from roost.store import Queries
from roost.store.paging import Counted
from roost.store.query import query
from roost.store.statement import Statement, changed, inserted, selected

DOMAINS = listing_of(
    DomainRow,
    source="domain d",
    scope="d.account_id = $1",
    key="d.id",
    granted=("'domain'", "d.id"),
    counted=Counted("'domain'"),
)

LIMIT = LimitGroup.of(
    "domain where account_id = $1",
    LimitKind("domains", "domains", 1000),
)


@dataclass(frozen=True, slots=True)
class DomainFacts:
    """A row, as rules and jobs need it."""

    id: int
    account_id: int
    domain: str
    zone: str
    type: DomainType
    status: DomainStatus
    soa_email: str
    description: str
    group: str
    master_ips: list[str]
    axfr_ips: list[str]
    refresh_sec: int
    retry_sec: int
    expire_sec: int
    ttl_sec: int
    tags: list[str]
    dnssec: bool
    errors: str
    importing: bool
    """Whether its records are on their way from another name server."""
    serial: int
    records: int
    size: int
    """Bytes of the targets of its records."""

    @property
    def served(self) -> bool:
        """Whether the name server answers from its records."""
        return self.type == "master" and self.status == "active"


FACTS = selected(DomainFacts)
_FIND = f"select {FACTS} from domain"  # noqa: S608 - constants


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDomain:
    """A row to insert."""

    account_id: int
    domain: str
    type: DomainType = "master"
    status: DomainStatus = "active"
    soa_email: str
    description: str = ""
    group: str = ""
    master_ips: list[str] = field(default_factory=list)
    axfr_ips: list[str] = field(default_factory=list)
    refresh_sec: int = 0
    retry_sec: int = 0
    expire_sec: int = 0
    ttl_sec: int = 0
    tags: list[str] = field(default_factory=list)
    dnssec: bool = False
    serial: int
    importing: bool = False


@query("select pg_advisory_xact_lock(hashtextextended('zone ' || $1, 0))")
async def lock_names(db: Queries, tree: str) -> None:
    """One transaction at a time gives away names below `tree`, two labels."""


@query("select pg_advisory_xact_lock(hashtextextended('imports ' || $1::bigint, 0))")
async def lock_imports(db: Queries, account_id: int) -> None:
    """One transaction at a time begins an import of the account that goes on in a job."""


@query("select count(*) from domain where account_id = $1 and importing")
async def count_imports(db: Queries, account_id: int) -> int:
    """Domains of the account whose records are still to come."""


@query("select exists (select from domain where zone = $1 and id is distinct from $2)")
async def is_taken(db: Queries, zone: str, but: int | None) -> bool:
    """Whether a domain other than `but` has the name."""


@query("""
    select exists (select from domain where zone = any($3::text[]) and account_id <> $1)
        or exists (
            select from domain
            where reverse(zone) ~>=~ reverse('.' || $2) and reverse(zone) ~<~ reverse('/' || $2)
                and account_id <> $1)
    """)
async def has_foreign_relation(
    db: Queries, account_id: int, zone: str, ancestors: Sequence[str]
) -> bool:
    """Whether a zone lies within or above one of another account."""


_NEW = inserted(NewDomain, created=":now", updated=":now")
_INSERT = Statement(f"insert into domain {_NEW} returning {FACTS}")


async def insert(db: Queries, new: NewDomain, now: datetime) -> DomainFacts:
    """asyncpg.UniqueViolationError when the name is taken."""
    row = await db.fetchrow(*_INSERT.of(new, now=_seconds(now)))
    assert row is not None
    return _facts(row)


async def lock(db: Queries, account_id: int, domain_id: int) -> DomainFacts | None:
    """The caller's domain, which nobody else changes until the end of the transaction."""
    row = await db.fetchrow(
        f"{_FIND} where account_id = $1 and id = $2 for update", account_id, domain_id
    )
    return None if row is None else _facts(row)


async def find(db: Queries, account_id: int, domain_id: int) -> DomainFacts | None:
    """The caller's domain."""
    row = await db.fetchrow(f"{_FIND} where account_id = $1 and id = $2", account_id, domain_id)
    return None if row is None else _facts(row)


async def find_any(db: Queries, domain_id: int) -> DomainFacts | None:
    """A domain of any account."""
    row = await db.fetchrow(f"{_FIND} where id = $1", domain_id)
    return None if row is None else _facts(row)


async def find_zone(db: Queries, zone: str) -> DomainFacts | None:
    row = await db.fetchrow(f"{_FIND} where zone = $1", zone)
    return None if row is None else _facts(row)


async def lock_zone(db: Queries, zone: str) -> DomainFacts | None:
    """The domain of a name, which nobody else changes until the end of the transaction."""
    row = await db.fetchrow(f"{_FIND} where zone = $1 for update", zone)
    return None if row is None else _facts(row)


async def zones(db: Queries, after: str, limit: int) -> list[str]:
    """The next names of zones, in the order of the database."""
    sql = "select zone from domain where zone > $1 order by zone limit $2"
    return [row["zone"] for row in await db.fetch(sql, after, limit)]


_COLUMNS = (
    "domain",
    "type",
    "status",
    "soa_email",
    "description",
    "group",
    "master_ips",
    "axfr_ips",
    "refresh_sec",
    "retry_sec",
    "expire_sec",
    "ttl_sec",
    "tags",
    "dnssec",
)
"""What a user can change."""
_UPDATE = Statement(
    f"""
    update domain set {changed(*_COLUMNS)}, serial = :serial, updated = :now
    where id = :id returning {FACTS}
    """  # noqa: S608 - constants
)


async def update(
    db: Queries, facts: DomainFacts, changes: Mapping[str, object], serial: int, now: datetime
) -> DomainFacts:
    """Change the columns that have a value.

    asyncpg.UniqueViolationError for a name that is taken.
    """
    values = {**changes, "id": facts.id, "serial": serial, "now": _seconds(now)}
    row = await db.fetchrow(*_UPDATE.of(**values))
    assert row is not None
    return _facts(row)


@query("update domain set serial = $2 where id = $1")
async def set_serial(db: Queries, domain_id: int, serial: int) -> None: ...


@query("""
    update domain set ds_records = $2::text::json
    where id = $1 and ds_records::text <> $2::text
    """)
async def set_ds_records(db: Queries, domain_id: int, ds_records: str) -> None:
    """What registrars want to know of the zone (JSON)."""


async def set_soa(
    db: Queries,
    domain_id: int,
    *,
    default_email: str,
    soa_email: str,
    refresh_sec: int,
    retry_sec: int,
    expire_sec: int,
) -> None:
    """Set what an import has read; what its user has set meanwhile stays."""
    await db.execute(
        """
        update domain set soa_email = coalesce(nullif(soa_email, $6), $2),
            refresh_sec = coalesce(nullif(refresh_sec, 0), $3),
            retry_sec = coalesce(nullif(retry_sec, 0), $4),
            expire_sec = coalesce(nullif(expire_sec, 0), $5)
        where id = $1
        """,
        domain_id,
        soa_email,
        refresh_sec,
        retry_sec,
        expire_sec,
        default_email,
    )


@query("update domain set errors = $2 where zone = $1 and errors <> $2")
async def set_errors(db: Queries, zone: str, errors: str) -> None:
    """Why the name server does not hold what the rows say; empty when it does."""


async def end_import(db: Queries, domain_id: int, serial: int, now: datetime) -> None:
    await db.execute(
        """
        update domain set importing = false, serial = greatest(serial + 1, $2), updated = $3
        where id = $1
        """,
        domain_id,
        serial,
        _seconds(now),
    )


@query("""
    select row_to_json(record) from (
        select dnssec, ds_records from domain where id = $1) record
    """)
async def dnssec(db: Queries, domain_id: int) -> str:
    """The record that registrars want (JSON)."""


@query("delete from domain where id = $1")
async def delete(db: Queries, domain_id: int) -> None:
    """Its records go too."""


def _facts(row: Record) -> DomainFacts:
    return DomainFacts(**row)


def _seconds(now: datetime) -> datetime:
    return now.replace(microsecond=0)


DOMAIN = ResourceKind(
    name="domain",
    path="/domains/{id}",
    listing=DOMAINS,
    label="d.domain",
    tags_table="domain",
    ticket_field="domain_id",
)


HELD = "select id::text, account_id, false as waits from domain"
"""What ends with accounts."""
