"""SQL of limits: counting under a lock, and what an operator set for one account."""

from dataclasses import dataclass

import orjson

from roost.core.limits.kinds import LimitGroup
from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Usage:
    """What an account has, and the limits that are its own and not the catalogue's.

    A limit of None is none.
    """

    used: dict[str, int]
    own: dict[str, int | None]
    suspended: bool
    """Whether the account may have no more services, whatever its limits are."""


@query("select pg_advisory_xact_lock(hashtextextended('roost limit ' || $1, $2))")
async def hold(db: Queries, name: str, owner: int) -> None:
    """Let nobody else count the same things of the same owner until the transaction ends.

    What is read in later statements includes all that was committed before.
    """


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
