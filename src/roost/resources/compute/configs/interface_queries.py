"""SQL of the interfaces of configs."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from roost.resources.compute.interface_bodies import Interface, Purpose
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class InterfaceFacts:
    """What rules need of an interface."""

    id: int
    purpose: Purpose
    label: str | None
    ipam_address: str | None
    primary: bool


async def of_config(db: Queries, config_id: int) -> list[InterfaceFacts]:
    """In their order."""
    rows = await db.fetch(
        """
        select id, purpose, label, ipam_address, "primary" from compute_interface
        where config_id = $1 order by position
        """,
        config_id,
    )
    return [InterfaceFacts(**row) for row in rows]


async def records(db: Queries, listing_record: str, config_id: int) -> str:
    """All interfaces as a JSON array, in their order."""
    found: str = await db.fetchval(
        f"""
        select '[' || coalesce(string_agg({listing_record}, ',' order by f.position), '') || ']'
        from compute_interface f join compute_config c on c.id = f.config_id
        join compute_instance i on i.id = c.compute_id where c.id = $1
        """,  # noqa: S608 - a constant
        config_id,
    )
    return found


async def add(db: Queries, config_id: int, interface: Interface) -> int:
    """After all others."""
    interface_id: int = await db.fetchval(
        """
        insert into compute_interface (config_id, position, purpose, label, ipam_address, "primary")
        select $1, coalesce(max(position), 0) + 1, $2, $3, $4, $5
        from compute_interface where config_id = $1 returning id
        """,
        config_id,
        interface.purpose,
        interface.label,
        interface.ipam_address,
        interface.primary,
    )
    return interface_id


async def replace(db: Queries, config_id: int, interfaces: Sequence[Interface]) -> None:
    await db.execute("delete from compute_interface where config_id = $1", config_id)
    await db.execute(
        """
        insert into compute_interface (config_id, position, purpose, label, ipam_address, "primary")
        select $1, given.position, given.purpose, given.label, given.ipam_address, given."primary"
        from rows from (json_to_recordset($2) as
                (purpose text, label text, ipam_address text, "primary" boolean))
            with ordinality as given (purpose, label, ipam_address, "primary", position)
        """,
        config_id,
        orjson.dumps([each.model_dump() for each in interfaces]).decode(),
    )


async def set_primary(db: Queries, interface_id: int, primary: bool) -> None:
    await db.execute(
        'update compute_interface set "primary" = $2 where id = $1', interface_id, primary
    )


async def reorder(db: Queries, ids: Sequence[int]) -> None:
    """Give interfaces of one config these places."""
    await db.execute(
        """
        update compute_interface f set position = o.position
        from unnest($1::bigint[]) with ordinality as o (id, position) where f.id = o.id
        """,
        list(ids),
    )


async def delete(db: Queries, interface_id: int) -> None:
    await db.execute("delete from compute_interface where id = $1", interface_id)
