"""SQL of limits: counting under a lock, and what an operator set for one account."""

from dataclasses import dataclass
from datetime import datetime

import orjson

from roost.core.limits.kinds import LimitGroup
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Usage:
    """What an account has, and the limits that are its own and not the catalogue's.

    A limit of None is none.
    """

    used: dict[str, int]
    own: dict[str, int | None]
    suspended: bool
    """Whether the account may have no more services, whatever its limits are."""


async def hold(db: Queries, name: str, owner: int) -> None:
    """Let nobody else count the same things of the same owner until the transaction ends.

    What is read in later statements includes all that was committed before.
    """
    await db.execute(
        "select pg_advisory_xact_lock(hashtextextended('roost limit ' || $1, $2))", name, owner
    )


async def read(
    db: Queries, account_id: int, group: LimitGroup, *, unlimited: bool = False
) -> Usage:
    """Where nothing has a limit 0 is said, unless what is `unlimited` shall be counted too."""
    kinds = group.kinds
    counted = ", ".join(f"coalesce({kind.used}, 0)::bigint as {kind.name}" for kind in kinds)
    without = orjson.dumps(dict.fromkeys(kind.name for kind in kinds)).decode()
    row = await db.fetchrow(
        f"""
        select a.limits, a.suspended is not null as suspended, used.*
        from account a cross join lateral (
            select {counted} from {group.rows} and ($2 or not a.limits @> $3)) used
        where a.id = $1
        """,  # noqa: S608 - constants
        account_id,
        unlimited,
        without,
    )
    assert row is not None
    used = {kind.name: row[kind.name] for kind in kinds}
    return Usage(used, orjson.loads(row["limits"]), row["suspended"])


async def set_limit(db: Queries, account_id: int, name: str, amount: int | None) -> bool:
    """None: as much as it wants. Returns whether there is such an account."""
    done = await db.execute(
        "update account set limits = limits || jsonb_build_object($2::text, $3::bigint)"
        " where id = $1",
        account_id,
        name,
        amount,
    )
    return done == "UPDATE 1"


async def reset_limit(db: Queries, account_id: int, name: str | None) -> bool:
    """Back to the catalogue's, all limits unless one is named; whether there is such an account."""
    done = await db.execute(
        "update account set limits = case when $2::text is null then '{}' else limits - $2 end"
        " where id = $1",
        account_id,
        name,
    )
    return done == "UPDATE 1"


async def measured(db: Queries, region: str) -> tuple[int, int, int] | None:
    """MB of memory, of storage and of that free, as `measure` was told last."""
    row = await db.fetchrow(
        "select memory, storage, free from region_capacity where region = $1", region
    )
    return None if row is None else (row["memory"], row["storage"], row["free"])


async def measure(
    db: Queries, region: str, capacity: tuple[int, int, int] | None, now: datetime
) -> None:
    """Keep what the engine of a region says; None: there is no end of it."""
    if capacity is None:
        await db.execute("delete from region_capacity where region = $1", region)
        return
    await db.execute(
        """
        insert into region_capacity (region, memory, storage, free, measured)
        values ($1, $2, $3, $4, $5) on conflict (region) do update
        set (memory, storage, free, measured) = row($2, $3, $4, $5)
        """,
        region,
        *capacity,
        now,
    )
