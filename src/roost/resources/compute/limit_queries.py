"""SQL of what instances count towards limits, of their accounts and of their regions' hosts."""

# ruff: noqa: S608  (statements are put together from constants)

from typing import Literal

from roost.store import Queries

PROMISED = "compute_instance i left join compute_type t on t.id = i.resize_type"
"""Instances, with the plan to come of those that are resizing."""


def promised(column: Literal["memory", "vcpus", "disk"]) -> str:
    """What such instances have, or have soon, of something that plans give."""
    return f"""
        sum(case when i.status = 'resizing' then greatest(i.{column}, t.{column})
            else i.{column} end)
        """


async def promised_in(db: Queries, region: str) -> tuple[int, int]:
    """MB of memory and of disks that all instances of a region have, or have soon."""
    row = await db.fetchrow(
        f"""
        select coalesce({promised("memory")}, 0)::bigint as memory,
            coalesce({promised("disk")}, 0)::bigint as disk
        from {PROMISED} where i.region = $1
        """,
        region,
    )
    assert row is not None
    return row["memory"], row["disk"]


async def set_resize_type(db: Queries, compute_id: int, type_id: str) -> None:
    """The plan to come; it counts as long as the instance is resizing."""
    await db.execute(
        "update compute_instance set resize_type = $2 where id = $1", compute_id, type_id
    )


async def count_vlans(db: Queries, account_id: int, region: str) -> int:
    """To how many VLANs configs of the account's instances in the region have interfaces."""
    vlans: int = await db.fetchval(
        """
        select count(distinct f.label) from compute_instance i
        join compute_config c on c.compute_id = i.id
        join compute_interface f on f.config_id = c.id
        where i.account_id = $1 and i.region = $2 and f.purpose = 'vlan'
        """,
        account_id,
        region,
    )
    return vlans
