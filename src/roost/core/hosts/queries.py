"""SQL of hosts: their states, their last signs of life, and what they have for a region."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal

from roost.settings import MAIN_HOST
from roost.store import Queries
from roost.store.query import query

HostState = Literal["up", "draining", "fenced"]

SILENT = timedelta(seconds=30)
"""A host whose workers have not been seen for so long may be dead."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """A host as its row says."""

    name: str
    state: HostState
    seen: datetime | None
    """The last sign of life of a worker, as the database's clock goes; None: there was none."""
    alive: bool
    address: str | None
    """Where its worker takes what comes from other hosts, HOST:PORT."""

    @property
    def ip(self) -> IPv4Address | IPv6Address | None:
        """At which other hosts reach it; None also when it listens at all of its addresses."""
        if self.address is None:
            return None
        found = ip_address(self.address.rpartition(":")[0].strip("[]"))
        return None if found.is_unspecified else found


_FACTS = f"""
    select name, state, address, seen > clock_timestamp() - interval '{SILENT.seconds} s' as alive,
        case when isfinite(seen) then seen at time zone 'UTC' end as seen
    from host
"""  # noqa: S608 - constants


@query(f"{_FACTS} where name = $1")
async def find(db: Queries, name: str) -> HostFacts | None: ...


@query(f"{_FACTS} where name = $1 for no key update")
async def lock(db: Queries, name: str) -> HostFacts | None:
    """The host, whose state nobody else changes until the end of the transaction."""


async def all_hosts(db: Queries) -> list[HostFacts]:
    """By name."""
    return [HostFacts(**row) for row in await db.fetch(f"{_FACTS} order by name")]


async def addresses(db: Queries) -> set[IPv4Address | IPv6Address]:
    """At which hosts reach each other."""
    return {each.ip for each in await all_hosts(db) if each.ip is not None}


async def alive_beside_main(db: Queries) -> list[str]:
    """Other hosts that run jobs at this moment."""
    rows = await db.fetch(
        f"{_FACTS} where name <> $1 and state <> 'fenced' order by name", MAIN_HOST
    )
    return [row["name"] for row in rows if row["alive"]]


@query("update host set state = $2 where name = $1")
async def set_state(db: Queries, name: str, state: HostState) -> None: ...


async def register(db: Queries, name: str, home: str | None) -> bool:
    """A worker of the host starts. False when it is of another home than the host."""
    found = await db.fetchval(
        """
        insert into host (name, home) values ($1, $2)
        on conflict (name) do update set home = excluded.home
        where host.home is null or host.home = excluded.home or excluded.home is null
        returning name
        """,
        name,
        home,
    )
    return found is not None


@query("update host set address = $2 where name = $1")
async def set_address(db: Queries, name: str, address: str | None) -> None:
    """Where the host takes what comes from others; None: nowhere."""


@dataclass(frozen=True, slots=True)
class HostRoom:
    """What a host has for a region."""

    host: str
    state: HostState
    alive: bool
    figures: tuple[int, int, int] | None
    """MB of memory, of storage and of that free; None: there is as much as anybody wants."""
    cpus: int | None


async def serving(db: Queries, region: str) -> Sequence[HostRoom]:
    """The hosts that serve a region, by name."""
    rows = await db.fetch(
        f"""
        select h.name, h.state, h.seen > clock_timestamp() - interval '{SILENT.seconds} s' as alive,
            c.memory, c.storage, c.free, c.cpus
        from region_capacity c join host h on h.name = c.host where c.region = $1 order by h.name
        """,  # noqa: S608 - constants
        region,
    )
    return [
        HostRoom(
            row["name"],
            row["state"],
            row["alive"],
            None if row["memory"] is None else (row["memory"], row["storage"], row["free"]),
            row["cpus"],
        )
        for row in rows
    ]


async def measure(
    db: Queries,
    region: str,
    capacity: tuple[int, int, int] | None,
    now: datetime,
    host: str = MAIN_HOST,
    cpus: int | None = None,
) -> None:
    """Keep what the engine of a region says on a host; None: there is no end of it."""
    memory, storage, free = capacity or (None, None, None)
    await db.execute(
        """
        insert into region_capacity (region, host, memory, storage, free, cpus, measured)
        values ($1, $2, $3, $4, $5, $6, $7) on conflict (region, host) do update
        set (memory, storage, free, cpus, measured) = row($3, $4, $5, $6, $7)
        """,
        region,
        host,
        memory,
        storage,
        free,
        cpus,
        now,
    )


@query("select region from region_capacity where host = $1")
async def serves(db: Queries, host: str) -> list[str]:
    """The regions that a host serves."""


@query("delete from region_capacity where host = $1")
async def serve_nothing(db: Queries, host: str) -> None:
    """What it had for regions is nobody's."""


@query("delete from host where name = $1")
async def forget(db: Queries, host: str) -> None:
    """One that has nothing, and serves nothing."""
