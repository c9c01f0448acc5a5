"""SQL of compute instances, as far as all groups need them: finding and holding one."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from roost.store import Queries
from roost.store.query import query
from roost.store.statement import selected

InstanceStatus = Literal[
    "running",
    "offline",
    "booting",
    "rebooting",
    "shutting_down",
    "provisioning",
    "deleting",
    "migrating",
    "rebuilding",
    "cloning",
    "restoring",
    "stopped",
    "billing_suspension",
    "resizing",
]


@dataclass(frozen=True, slots=True)
class InstanceFacts:
    """What jobs and rules need of a row."""

    id: int
    account_id: int
    label: str
    status: InstanceStatus
    region: str
    image: str | None
    type: str
    disk: int
    memory: int
    vcpus: int
    ipv4: list[str]
    ipv6: str | None
    watchdog_enabled: bool
    target_region: str | None
    """Where a job moves it to."""
    host: str
    """On which it is."""
    target_host: str | None
    """Where a job moves it to."""
    engine: str | None
    """The name of the engine that holds the guest, or is to make it; None: not known yet."""
    created: datetime
    config_id: int | None
    """Of the last boot, or of the one that is on its way."""
    memory_limit: int
    """MB, that config's; 0: none."""
    user_data: bytes | None
    """Sealed."""
    version: int
    """Another one after each change of the row."""


_MEMORY_LIMIT = """
    coalesce((select c.memory_limit from compute_config c where c.id = config_id), 0)
"""
_FACTS = f"""
    select {selected(InstanceFacts, memory_limit=_MEMORY_LIMIT, version="xmin")}
    from compute_instance
"""  # noqa: S608


@query(f"{_FACTS} where account_id = $1 and id = $2 for no key update")
async def lock(db: Queries, account_id: int, compute_id: int) -> InstanceFacts | None:
    """The caller's instance, which nobody else changes until the end of the transaction."""


@query(f"{_FACTS} where id = $1")
async def find(db: Queries, compute_id: int) -> InstanceFacts | None:
    """An instance of any account, for Roost's own work."""


async def find_many(db: Queries, ids: Collection[int]) -> dict[int, InstanceFacts]:
    """Those of the ids that exist, of any account."""
    rows = await db.fetch(f"{_FACTS} where id = any($1)", list(ids))
    return {row["id"]: InstanceFacts(**row) for row in rows}


@query(f"{_FACTS} where id = $1 for no key update")
async def lock_any(db: Queries, compute_id: int) -> InstanceFacts | None:
    """An instance of any account, which nobody else changes until the end of the transaction."""


@query(f"{_FACTS} where region = $1 and host = $2 and id > $3 order by id limit $4")
async def on_host(
    db: Queries, region: str, host: str, after: int, limit: int
) -> list[InstanceFacts]:
    """The next ones of the region that are on a host, by id."""


async def set_status(db: Queries, compute_id: int, status: InstanceStatus, now: datetime) -> None:
    """Write a status. What is being deleted stays so."""
    await db.execute(
        """
        update compute_instance set status = $2, updated = $3
        where id = $1 and status <> 'deleting'
        """,
        compute_id,
        status,
        now.replace(microsecond=0),
    )


@query("select id from compute_instance where id = any($1)")
async def existing(db: Queries, ids: list[int]) -> set[int]:
    """Those of the ids that are instances."""


@query("""
    select host, count(*) as count from compute_instance
    where account_id = $1 and region = $2 group by 1
    """)
async def hosts_of_account(db: Queries, account_id: int, region: str) -> dict[str, int]:
    """How many instances of an account in a region hosts have, of those that have any."""
