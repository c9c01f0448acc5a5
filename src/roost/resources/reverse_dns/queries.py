"""SQL of names of addresses."""

from dataclasses import dataclass

from roost.store import Queries


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


async def find_name(db: Queries, address: str, compute_id: int) -> str | None:
    name: str | None = await db.fetchval(
        "select name from reverse_name where address = $1::text::inet and compute_id = $2",
        address,
        compute_id,
    )
    return name


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


async def all_names(db: Queries) -> list[NameRow]:
    rows = await db.fetch(
        "select host(address) as address, compute_id, name from reverse_name order by address"
    )
    return [NameRow(**row) for row in rows]


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


async def forget_zone(db: Queries, zone: str) -> None:
    await db.execute("delete from reverse_zone where zone = $1", zone)
