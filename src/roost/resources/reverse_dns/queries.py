"""SQL of names of addresses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class NameRow:
    """A name that a user set; it counts while that instance has the address."""

    address: str
    compute_id: int
    name: str


@dataclass(frozen=True, slots=True)
class ZoneRow:
    """A zone as the name server was told of it last."""

    zone: str
    digest: str
    serial: int


@query("select name from reverse_name where address = $1::text::inet and compute_id = $2")
async def find_name(db: Queries, address: str, compute_id: int) -> str | None: ...


async def set_name(db: Queries, address: str, compute_id: int, name: str | None) -> None:
    """None takes it away."""
    if name is None:
        await db.execute("delete from reverse_name where address = $1::text::inet", address)
        return
    await db.execute(
        """
        insert into reverse_name (address, compute_id, name) values ($1::text::inet, $2, $3)
        on conflict (address) do update
        set compute_id = excluded.compute_id, name = excluded.name
        """,
        address,
        compute_id,
        name,
    )


@query("""
    select host(address) as address, compute_id, name from reverse_name
    where $1::text[] is null or address <<= any($1::text[]::inet[]) order by address
    """)
async def names(db: Queries, networks: Sequence[str] | None) -> list[NameRow]:
    """The names of addresses in some networks, or of all."""


@query("delete from reverse_name where address = $1::text::inet returning true")
async def drop_name(db: Queries, address: str) -> bool:
    """Whether the address had one."""


@query("update reverse_name set compute_id = $2 where address = $1::text::inet")
async def move_name(db: Queries, address: str, compute_id: int) -> None:
    """The name counts while this instance has the address."""


async def drop_names(db: Queries, compute_id: int) -> list[str]:
    """Drop the names of an instance's addresses; returns the addresses that had any."""
    rows = await db.fetch(
        "delete from reverse_name where compute_id = $1 returning host(address) as address",
        compute_id,
    )
    return [row["address"] for row in rows]


_LOCK = "hashtextextended('reverse names', 0)"


@query(f"select pg_advisory_xact_lock_shared({_LOCK})")
async def begin_change(db: Queries) -> None:
    """Hold what `settle` waits for, until the end of the transaction."""


@query(f"select pg_advisory_xact_lock({_LOCK})")
async def settle(db: Queries) -> None:
    """Wait for changes that have begun: what they enqueued may be what is under way by now."""


@query("""
    insert into reverse_change as c (zone, version) values ($1, 1)
    on conflict (zone) do update set version = c.version + 1
    """)
async def set_changed(db: Queries, zone: str) -> None:
    """The name server is to be told of a zone."""


@query("select zone, version from reverse_change")
async def changed(db: Queries) -> dict[str, int]:
    """Zones that the name server is to be told of, and at which version each is."""


async def forget_changes(db: Queries, versions: Mapping[str, int]) -> None:
    """The name server was told of the zones as they were at these versions."""
    await db.execute(
        """
        delete from reverse_change c using unnest($1::text[], $2::bigint[]) as old (zone, version)
        where c.zone = old.zone and c.version = old.version
        """,
        list(versions),
        list(versions.values()),
    )


async def forget(db: Queries, names: list[NameRow]) -> None:
    """Drop names of addresses that their instances no longer have."""
    await db.execute(
        """
        delete from reverse_name n using unnest($1::text[], $2::bigint[]) as old (address, id)
        where n.address = old.address::inet and n.compute_id = old.id
        """,
        [name.address for name in names],
        [name.compute_id for name in names],
    )


async def zones(db: Queries) -> dict[str, ZoneRow]:
    rows = await db.fetch("select zone, digest, serial from reverse_zone")
    return {row["zone"]: ZoneRow(**row) for row in rows}


async def keep_zone(db: Queries, row: ZoneRow) -> None:
    await db.execute(
        """
        insert into reverse_zone (zone, digest, serial) values ($1, $2, $3)
        on conflict (zone) do update set digest = excluded.digest, serial = excluded.serial
        """,
        row.zone,
        row.digest,
        row.serial,
    )


@query("delete from reverse_zone where zone = $1")
async def forget_zone(db: Queries, zone: str) -> None: ...
