"""SQL of the interfaces of configs."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from roost.resources.compute.configs.interface_rules import (
    INTERFACE_COLUMNS,
    INTERFACE_TYPES,
    interface_row,
    interface_rows,
)
from roost.resources.compute.interface_bodies import Interface, Purpose
from roost.resources.compute.neighbours import Place
from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class InterfaceFacts:
    """What rules need of an interface."""

    id: int
    purpose: Purpose
    label: str | None
    ipam_address: str | None
    primary: bool
    subnet_id: int | None = None
    address: str | None = None
    """In the VPC, without the prefix length."""
    nat_1_1: str | None = None
    ip_ranges: Sequence[str] = ()


@query("""
    select id, purpose, label, ipam_address, "primary", subnet_id, host(address) as address,
        host(nat_1_1) as nat_1_1, ip_ranges
    from compute_interface
    where config_id = $1 order by position
    """)
async def of_config(db: Queries, config_id: int) -> list[InterfaceFacts]:
    """In their order."""


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


async def add(db: Queries, config_id: int, interface: Interface, place: Place | None) -> int:
    """After all others."""
    interface_id: int = await db.fetchval(
        f"""
        insert into compute_interface (config_id, position, {INTERFACE_COLUMNS})
        select $1, (select coalesce(max(position), 0) + 1 from compute_interface
            where config_id = $1), {INTERFACE_COLUMNS}
        from json_to_record($2) as given ({INTERFACE_TYPES}) returning id
        """,  # noqa: S608 - constants
        config_id,
        orjson.dumps(interface_row(interface, place)).decode(),
    )
    return interface_id


@query("delete from compute_interface where config_id = $1")
async def remove_all(db: Queries, config_id: int) -> None: ...


async def write_all(
    db: Queries, config_id: int, interfaces: Sequence[Interface], places: Sequence[Place | None]
) -> None:
    """Write the interfaces of a config that has none."""
    await db.execute(
        f"""
        insert into compute_interface (config_id, position, {INTERFACE_COLUMNS})
        select $1, position, {INTERFACE_COLUMNS}
        from rows from (json_to_recordset($2) as ({INTERFACE_TYPES}))
            with ordinality as given ({INTERFACE_COLUMNS}, position)
        """,  # noqa: S608 - constants
        config_id,
        interface_rows(interfaces, places),
    )


async def move(db: Queries, interface_id: int, place: Place) -> None:
    """Give an interface other addresses in its subnet."""
    await db.execute(
        """
        update compute_interface set address = $2::text::inet, nat_1_1 = $3::text::inet,
            ip_ranges = $4
        where id = $1
        """,
        interface_id,
        place.address,
        place.nat_1_1,
        list(place.ip_ranges),
    )


@query('update compute_interface set "primary" = $2 where id = $1')
async def set_primary(db: Queries, interface_id: int, primary: bool) -> None: ...


@query("""
    update compute_interface f set position = o.position
    from unnest($1::bigint[]) with ordinality as o (id, position) where f.id = o.id
    """)
async def reorder(db: Queries, ids: Sequence[int]) -> None:
    """Give interfaces of one config these places."""


@query("delete from compute_interface where id = $1")
async def delete(db: Queries, interface_id: int) -> None: ...
