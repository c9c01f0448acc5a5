"""SQL of the records of domains, and of what the name server has not been told of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter

import orjson
from asyncpg import Record

from roost.core.lists import listing_of
from roost.resources.domains.engine import RRKey, RRset
from roost.resources.domains.name_rules import absolute
from roost.resources.domains.queries import FACTS, DomainFacts
from roost.resources.domains.record_rules import Placed
from roost.resources.domains.records import RecordRow, RecordType
from roost.store import Queries
from roost.store.query import query
from roost.store.statement import Statement

RECORDS = listing_of(
    RecordRow,
    source="domain_record r",
    scope="r.domain_id = $1",
    key="r.id",
)

_PLACED = [field.name for field in fields(Placed)]
_COLUMNS = ", ".join(_PLACED)
_VALUES = ", ".join(f":{name}" for name in _PLACED)
_values = attrgetter(*_PLACED)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A record of the same name."""

    id: int
    type: RecordType
    target: str
    content: str


@query("""
    select id, type, target, content from domain_record
    where domain_id = $1 and owner = $2 and id is distinct from $3
    """)
async def neighbours(
    db: Queries, domain_id: int, owner: str, but: int | None = None
) -> list[Neighbour]:
    """The records of a name, but for one."""


_INSERT = Statement(f"""
    with changed as (
        insert into domain_change (domain_id, owner, type, serial)
        values (:domain_id, :owner, :type, :serial)
        on conflict (domain_id, owner, type) do update set serial = excluded.serial),
    counted as (
        update domain set serial = :serial, records = records + 1,
            size = size + octet_length(:target), updated = :now where id = :domain_id)
    insert into domain_record as r (domain_id, {_COLUMNS}, created, updated)
    values (:domain_id, {_VALUES}, :now, :now)
    returning {RECORDS.record_text}
""")  # noqa: S608 - constants


async def insert(db: Queries, domain_id: int, new: Placed, serial: int, now: datetime) -> str:
    """The record, which the name server is to be told of."""
    record: str = await db.fetchval(
        *_INSERT.of(new, domain_id=domain_id, serial=serial, now=_seconds(now))
    )
    return record


_UPDATE = Statement(f"""
    update domain_record as r set ({_COLUMNS}, updated) = ({_VALUES}, :now)
    where id = :id returning {RECORDS.record_text}
""")  # noqa: S608 - constants


async def update(db: Queries, record_id: int, new: Placed, now: datetime) -> str:
    record: str = await db.fetchval(*_UPDATE.of(new, id=record_id, now=_seconds(now)))
    return record


@query("delete from domain_record where id = $1")
async def delete(db: Queries, record_id: int) -> None: ...


async def set_changed(
    db: Queries,
    domain_id: int,
    changed: Iterable[tuple[str, RecordType]],
    added: tuple[int, int],
    serial: int,
    now: datetime,
) -> None:
    """RRsets that the name server is to be told of; `added`: how many records and bytes of their
    targets are more than before."""
    keys = sorted(set(changed))
    await db.execute(
        """
        with changed as (
            insert into domain_change (domain_id, owner, type, serial)
            select $1, owner, type, $4 from unnest($2::text[], $3::text[]) as key (owner, type)
            on conflict (domain_id, owner, type) do update set serial = excluded.serial)
        update domain set serial = $4, records = records + $5, size = size + $6, updated = $7
        where id = $1
        """,
        domain_id,
        [owner for owner, _ in keys],
        [kind for _, kind in keys],
        serial,
        *added,
        _seconds(now),
    )


@query(f"select {_COLUMNS} from domain_record where domain_id = $1 and id = $2")  # noqa: S608
async def find(db: Queries, domain_id: int, record_id: int) -> Placed | None: ...


async def all_of(db: Queries, domain_id: int) -> list[tuple[str, RecordType, int, str]]:
    """Owner, type, ttl_sec and content of each record, as a zone file shows them."""
    rows = await db.fetch(
        """
        select owner, type, ttl_sec, content from domain_record where domain_id = $1
        order by owner <> '', owner, type, id
        """,
        domain_id,
    )
    return [(row["owner"], row["type"], row["ttl_sec"], row["content"]) for row in rows]


async def insert_all(db: Queries, domain_id: int, new: Sequence[Placed], now: datetime) -> None:
    """Many at once; the whole zone is to be put afterwards."""
    at = _seconds(now)
    await db.copy_records_to_table(
        "domain_record",
        columns=("domain_id", *_PLACED, "created", "updated"),
        records=[(domain_id, *_values(placed), at, at) for placed in new],
    )
    await db.execute(
        "update domain set records = records + $2, size = size + $3 where id = $1",
        domain_id,
        len(new),
        sum(placed.size for placed in new),
    )


@query("select coalesce(max(length(owner)), 0) from domain_record where domain_id = $1")
async def longest_owner(db: Queries, domain_id: int) -> int:
    """Characters of the longest name below the zone's."""


async def copy_all(db: Queries, source_id: int, domain_id: int, now: datetime) -> None:
    """The records of another domain."""
    await db.execute(
        f"""
        with added as (
            insert into domain_record (domain_id, {_COLUMNS}, created, updated)
            select $2, {_COLUMNS}, $3, $3 from domain_record where domain_id = $1 order by id
            returning target)
        update domain set (records, size) = (
            select records + count(*), size + coalesce(sum(octet_length(target)), 0) from added)
        where id = $2
        """,  # noqa: S608 - constants
        source_id,
        domain_id,
        _seconds(now),
    )


async def rrsets(db: Queries, facts: DomainFacts, default_ttl: int) -> list[RRset]:
    """All of a zone. The records of an RRset have one TTL, the shortest (RFC 2181, 5.2)."""
    rows = await db.fetch(
        """
        select owner, type, min(coalesce(nullif(ttl_sec, 0), $2)) as ttl,
            array_agg(content) as contents
        from domain_record where domain_id = $1 group by owner, type
        """,
        facts.id,
        default_ttl,
    )
    return [_rrset(row, facts.zone) for row in rows]


@dataclass(frozen=True, slots=True)
class Pending:
    """What the name server is to be told of a zone, all as of one moment."""

    facts: DomainFacts
    keys: list[RRKey]
    rrsets: list[RRset]


_PENDING = f"""
    select {FACTS}, coalesce(
        (select json_agg(json_build_object('owner', c.owner, 'type', c.type, 'rows', (
            select json_agg(json_build_array(r.ttl_sec, r.content)) from domain_record r
            where r.domain_id = c.domain_id and r.owner = c.owner and r.type = c.type)))
        from domain_change c where c.domain_id = d.id), '[]') as changes
    from domain d where id = $1
"""  # noqa: S608 - constants


async def pending(db: Queries, domain_id: int, default_ttl: int) -> Pending | None:
    """None when the domain is gone."""
    row = await db.fetchrow(_PENDING, domain_id)
    if row is None:
        return None
    columns = dict(row)
    changes = orjson.loads(columns.pop("changes"))
    facts = DomainFacts(**columns)
    found = Pending(facts, [], [])
    for change in changes:
        name = absolute(change["owner"], facts.zone)
        found.keys.append(RRKey(name, change["type"]))
        if change["rows"]:
            ttl = min(ttl or facts.ttl_sec or default_ttl for ttl, _ in change["rows"])
            contents = frozenset(content for _, content in change["rows"])
            found.rrsets.append(RRset(name, change["type"], ttl, contents))
    return found


@query("select from domain where id = $1 for share")
async def settle(db: Queries, domain_id: int) -> None:
    """Wait for edits that have begun: what they enqueued may be what is under way by now."""


async def forget_changes(db: Queries, domain_id: int, serial: int) -> None:
    """The name server knows what the zone held when it had this serial.

    The domain is locked before its changes, as edits and a deletion lock them.
    """
    await db.execute("select from domain where id = $1 for no key update", domain_id)
    await db.execute(
        """
        with changed as (
            delete from domain_change where domain_id = $1 and serial <= $2)
        update domain set errors = '' where id = $1 and errors <> ''
        """,
        domain_id,
        serial,
    )


def _rrset(row: Record, zone: str) -> RRset:
    name = absolute(row["owner"], zone)
    return RRset(name, row["type"], row["ttl"], frozenset(row["contents"]))


def _seconds(now: datetime) -> datetime:
    return now.replace(microsecond=0)
