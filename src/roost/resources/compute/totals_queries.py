"""SQL of what instances are together: in a region, and for an account."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import orjson

from roost.core.grant_queries import granted_sql
from roost.resources.compute.records import Alerts
from roost.store import Queries
from roost.store.query import query


@query("select distinct region from compute_instance order by region")
async def regions_in_use(db: Queries) -> list[str]: ...


async def engines_in_use(db: Queries) -> list[tuple[str, str]]:
    """Regions and the names of the engines that hold guests of theirs."""
    rows = await db.fetch(
        """
        select distinct region, engine from compute_instance where engine is not null
        order by region, engine
        """
    )
    return [(row["region"], row["engine"]) for row in rows]


@dataclass(frozen=True, slots=True)
class Promised:
    """Instances of a region on one host with one status, and what their plans give them."""

    region: str
    host: str
    status: str
    instances: int
    memory: int
    """Bytes"""


@query("""
    select region, host, status, count(*) as instances, sum(memory)::bigint << 20 as memory
    from compute_instance group by region, host, status
    """)
async def promised_by_status(db: Queries) -> list[Promised]: ...


@dataclass(frozen=True, slots=True)
class OfAccount:
    """What the plans of an account's instances give them."""

    instances: int
    vcpus: int
    memory: int
    """MB"""
    disk: int
    """MB"""


async def by_account(db: Queries) -> dict[int, OfAccount]:
    """The totals of accounts that have instances."""
    rows = await db.fetch(
        """
        select account_id, count(*) as instances, sum(vcpus)::bigint as vcpus,
            sum(memory)::bigint as memory, sum(disk)::bigint as disk
        from compute_instance group by 1
        """
    )
    return {row["account_id"]: OfAccount(*list(row.values())[1:]) for row in rows}


@query("""
    select i.region, sum(d.size)::bigint << 20 as size
    from compute_disk d join compute_instance i on i.id = d.compute_id group by i.region
    """)
async def promised_disk(db: Queries) -> dict[str, int]:
    """Bytes of all disks by region."""


@query(f"""
    select distinct region from compute_instance i
    where i.account_id = $1 and {granted_sql("'compute'", "i.id", "$2")}
    """)
async def regions_of(db: Queries, account_id: int, grantee: int | None) -> list[str]:
    """Where an account has instances, of which a `grantee` only knows those granted to them."""


PROMISED = "compute_instance i left join compute_type t on t.id = i.resize_type"
"""Instances, with the plan to come of those that are resized or migrated."""


def promised(column: Literal["memory", "vcpus", "disk"]) -> str:
    """What such instances have, or have soon, of something that plans give."""
    return f"""
        sum(case when i.status = 'resizing' or i.target_region is not null
            then greatest(i.{column}, t.{column}) else i.{column} end)
        """


BOUND = "i.target_region is not null or i.target_host is not null"
"""Instances on their way."""


async def promised_in(db: Queries, region: str, host: str) -> tuple[int, int, int]:
    """MB of memory and of disks, and vCPUs, that all instances of a region on a host have, or have
    soon."""
    row = await db.fetchrow(
        f"""
        select coalesce({promised("memory")}, 0)::bigint as memory,
            coalesce({promised("disk")}, 0)::bigint as disk,
            coalesce({promised("vcpus")}, 0)::bigint as vcpus
        from {PROMISED} where (i.region = $1 and i.host = $2) or (({BOUND})
            and coalesce(i.target_region, i.region) = $1 and coalesce(i.target_host, i.host) = $2)
        """,
        region,
        host,
    )
    assert row is not None
    return row["memory"], row["disk"], row["vcpus"]


@query(f"""
    select id from compute_instance i where ({BOUND})
        and coalesce(i.target_region, i.region) = $1 and coalesce(i.target_host, i.host) = $2
    """)
async def bound_for(db: Queries, region: str, host: str) -> list[int]:
    """The instances on their way to a region and host."""


@query("""
    select count(distinct f.label) from compute_instance i
    join compute_config c on c.compute_id = i.id
    join compute_interface f on f.config_id = c.id
    where i.account_id = $1 and i.region = $2 and f.purpose = 'vlan' and i.status <> 'deleting'
    """)
async def count_vlans(db: Queries, account_id: int, region: str) -> int:
    """To how many VLANs configs of the account's instances in the region have interfaces."""


_MONTH = """
    select date_trunc('month', $2::timestamp) as first,
        date_trunc('month', $2::timestamp) + interval '1 month' as next
"""
_QUOTA = """
    i.transfer * extract(epoch from m.next - greatest(i.created, m.first))
        / extract(epoch from m.next - m.first)
"""
"""GB that an instance may send in a month, in proportion to its life in it."""


@query(f"""
    with month as ({_MONTH})
    select coalesce(floor(sum({_QUOTA})), 0)::bigint
    from compute_instance i cross join month m
    where i.account_id = $1 and i.id = coalesce($3, i.id)
    """)
async def quota(db: Queries, account_id: int, now: datetime, compute_id: int | None = None) -> int:
    """GB that the account's instances, or one of them, add to its pool in the month of `now`, in
    proportion."""


@query("select id, transfer from compute_type")
async def transfers(db: Queries) -> dict[str, int]:
    """GB that each plan gives for a whole month, also those that are no longer offered."""


@dataclass(frozen=True, slots=True)
class Watched:
    """An instance that reports what exceeds its alerts."""

    id: int
    label: str
    alerts: Alerts
    quota: int
    """GB that it may send this month."""


async def watched(
    db: Queries, account_id: int, grantee: int | None, now: datetime
) -> list[Watched]:
    """Those of an account, of which a `grantee` only knows those granted to them."""
    rows = await db.fetch(
        f"""
        with month as ({_MONTH})
        select i.id, i.label, i.alerts, floor({_QUOTA})::bigint as quota
        from compute_instance i cross join month m
        where i.account_id = $1 and {granted_sql("'compute'", "i.id", "$3")} order by i.id
        """,
        account_id,
        now,
        grantee,
    )
    return [
        Watched(row["id"], row["label"], orjson.loads(row["alerts"]), row["quota"]) for row in rows
    ]


@dataclass(frozen=True, slots=True)
class Measured:
    """Whose an instance is and where, and which of its disks are for swapping."""

    account_id: int
    region: str
    swaps: frozenset[int]


async def measured(db: Queries, ids: Collection[int]) -> dict[int, Measured]:
    """Those of the instances that exist, and do until the end of the transaction."""
    rows = await db.fetch(
        """
        select i.id, i.account_id, i.region, array(
            select d.id from compute_disk d
            where d.compute_id = i.id and d.filesystem = 'swap') as swaps
        from compute_instance i where i.id = any($1) order by i.id for key share of i
        """,
        ids,
    )
    return {
        row["id"]: Measured(row["account_id"], row["region"], frozenset(row["swaps"]))
        for row in rows
    }
