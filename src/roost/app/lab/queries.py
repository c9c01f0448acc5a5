"""SQL of the lab: the clock's offset, and all tables at once."""

from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from graphlib import TopologicalSorter
from typing import Literal, Protocol

from asyncpg import Record
from pydantic import BaseModel

from roost.store import Connection, Queries
from roost.store.query import query

LockMode = Literal["share", "access exclusive"]
"""Nobody else may write, or even read."""

_LOCK_SECONDS = 10

_NOBODYS = (
    *("alembic_version", "event_change", "event_order", "event_reader"),
    *("identity_epoch", "identity_reader", "row_count", "worker"),
)
"""Tables that describe the database and its processes, not what users have made."""


class Offset(BaseModel):
    """How far the clock is from real time; `version` counts its changes."""

    offset_seconds: float
    version: int


@query("""
    insert into setting (key, value) values ('lab_clock', '{"offset_seconds":0,"version":0}')
    on conflict do nothing
    """)
async def add_offset(db: Queries) -> None:
    """Begin with real time, unless there is an offset."""


async def find_offset(db: Queries) -> Offset:
    text = await db.fetchval("select value::text from setting where key = 'lab_clock'")
    return Offset.model_validate_json(text)


async def lock_offset(db: Queries) -> Offset:
    """Nobody else moves the clock until the transaction ends."""
    text = await db.fetchval("select value::text from setting where key = 'lab_clock' for update")
    return Offset.model_validate_json(text)


async def save_offset(db: Queries, seconds: float, after: int) -> Offset:
    """The new offset, with a version above `after` and above that of the row."""
    text = await db.fetchval(
        """
        insert into setting (key, value) values
            ('lab_clock', jsonb_build_object('offset_seconds', $1::float8, 'version', $2 + 1))
        on conflict (key) do update set value = jsonb_build_object(
            'offset_seconds', $1::float8,
            'version', greatest((setting.value ->> 'version')::bigint, $2::bigint) + 1)
        returning value::text
        """,
        seconds,
        after,
    )
    return Offset.model_validate_json(text)


async def count_other_workers(db: Queries, owner: str | None, lease: float) -> int:
    """Workers beside `owner` that have shown themselves within a lease (seconds)."""
    count: int = await db.fetchval(
        """
        select count(*) from worker
        where seen > clock_timestamp() - $1::interval and owner is distinct from $2
        """,
        timedelta(seconds=lease),
        owner,
    )
    return count


class Table(BaseModel):
    """`columns` without those that PostgreSQL computes."""

    name: str
    columns: list[str]


async def find_tables(db: Queries) -> list[Table]:
    """All tables of users' data, those that others refer to before these."""
    rows = await db.fetch(
        """
        select c.relname as name,
            array(select a.attname from pg_attribute a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                    and a.attgenerated = '' order by a.attnum)::text[] as columns,
            array(select r.relname from pg_constraint k join pg_class r on r.oid = k.confrelid
                where k.conrelid = c.oid and k.contype = 'f' and r.oid <> c.oid
                    and not k.condeferred)::text[] as needs
        from pg_class c
        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
            and c.relname <> all($1::text[])
        order by c.relname
        """,
        _NOBODYS,
    )
    return _in_order(rows)


def _in_order(rows: Sequence[Record]) -> list[Table]:
    found = {row["name"]: Table(name=row["name"], columns=row["columns"]) for row in rows}
    order = TopologicalSorter({row["name"]: row["needs"] for row in rows}).static_order()
    return [found[name] for name in order]


async def lock_tables(db: Queries, tables: Iterable[Table], mode: LockMode) -> None:
    """asyncpg.LockNotAvailableError when somebody uses them for too long."""
    await db.execute(f"set local lock_timeout = '{_LOCK_SECONDS}s'")
    await db.execute(f"lock table {_names(tables)} in {mode} mode")


async def empty(db: Queries, tables: Iterable[Table]) -> None:
    """Drop all rows; ids start again."""
    await db.execute(f"truncate table {_names(tables)} restart identity")


@query("delete from image where account_id is not null")
async def drop_private_images(db: Queries) -> None: ...


@query("delete from web_session")
async def drop_sessions(db: Queries) -> None:
    """With the tokens that belong to them."""


async def set_defaults(db: Queries, table: Table, columns: Iterable[str]) -> None:
    """Set the columns of all rows to their defaults."""
    values = ", ".join(f'"{column}" = default' for column in columns)
    await db.execute(f'update "{table.name}" set {values}')  # noqa: S608  (names of the schema)


async def limit_times(db: Queries, table: Table, now: datetime) -> None:
    """Nothing has happened later than `now`; when things expire stays."""
    names = await db.fetchval(
        """
        select array_agg(a.attname::text) from pg_attribute a
        where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped
            and a.atttypid = 'timestamp'::regtype and a.attname not like '%expiry'
        """,
        table.name,
    )
    # `least` takes null for nothing at all.
    values = ", ".join(f'"{n}" = case when "{n}" > $1 then $1 else "{n}" end' for n in names)
    await db.execute(f'update "{table.name}" set {values}', now)  # noqa: S608  (the same)


class Sink(Protocol):
    async def __call__(self, rows: bytes, /) -> None: ...


async def copy_out(db: Connection, table: Table, sink: Sink) -> None:
    await db.copy_from_table(table.name, columns=table.columns, output=sink)


async def copy_in(db: Connection, table: Table, rows: AsyncIterable[bytes]) -> None:
    """Raises an error of asyncpg when the rows do not fit the table."""
    await db.copy_to_table(table.name, columns=table.columns, source=rows)


@query("""
    select sequencename as name, coalesce(last_value + increment_by, start_value) as next
    from pg_sequences where schemaname = current_schema()
    """)
async def find_next_ids(db: Queries) -> dict[str, int]:
    """The next value of each sequence."""


async def set_next_ids(db: Queries, next_ids: Mapping[str, int]) -> None:
    """Unlike setval, this is undone when the transaction fails."""
    for name in await find_next_ids(db):
        await db.execute(f'alter sequence "{name}" restart with {int(next_ids[name])}')


def _names(tables: Iterable[Table]) -> str:
    return ", ".join(f'"{table.name}"' for table in tables)
