"""SQL of what hosts hold and have, for the operator."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from roost.core.grant_queries import granted_sql
from roost.core.hosts.holdings import Held
from roost.core.hosts.queries import SILENT, HostState
from roost.core.instance_queries import InstanceStatus
from roost.store import Queries
from roost.store.query import query

_STRANDED = SILENT + timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host and its instances. Sizes are MB; None where nothing has an end or nothing is known."""

    name: str
    state: HostState | Literal["silent"]
    """`silent`: it would be up, but is not seen."""
    alive: bool
    """Whether a worker of it was seen within the last half minute."""
    seen: datetime | None
    address: str | None
    regions: list[str]
    instances: int
    running: int
    leaving: int
    """Instances on their way to another host."""
    coming: int
    """Instances on their way to this one."""
    promised_memory: int
    memory: int | None
    promised_vcpus: int
    cpus: int | None
    storage: int | None
    free: int | None


@query(f"""
    select h.name, h.address,
        case when h.state = 'up'
            and h.seen <= clock_timestamp() - interval '{SILENT.seconds} s'
            then 'silent' else h.state end as state,
        h.seen > clock_timestamp() - interval '{SILENT.seconds} s' as alive,
        case when isfinite(h.seen) then h.seen at time zone 'UTC' end as seen,
        coalesce(c.regions, '{{}}') as regions, c.memory, c.storage, c.free, c.cpus,
        coalesce(i.instances, 0) as instances, coalesce(i.running, 0) as running,
        coalesce(i.leaving, 0) as leaving,
        (select count(*) from compute_instance t where t.target_host = h.name) as coming,
        coalesce(i.memory, 0) as promised_memory, coalesce(i.vcpus, 0) as promised_vcpus
    from host h
    left join lateral (
        select array_agg(region order by region) as regions, max(memory) as memory,
            max(storage) as storage, min(free) as free, max(cpus) as cpus
        from region_capacity where host = h.name) c on true
    left join lateral (
        select count(*) as instances, count(*) filter (where status = 'running') as running,
            count(*) filter (where target_host <> host) as leaving,
            sum(memory)::bigint as memory, sum(vcpus)::bigint as vcpus
        from compute_instance where host = h.name) i on true
    where $1::text is null or h.name = $1 order by h.name
    """)  # noqa: S608 - constants
async def list_hosts(db: Queries, name: str | None = None) -> list[HostRow]:
    """By name; one of them, or all."""


@dataclass(frozen=True, slots=True)
class HostedInstance:
    """An instance of a host."""

    id: int
    account_id: int
    label: str
    region: str
    status: InstanceStatus
    memory: int
    """MB"""
    target_host: str | None


@query("""
    select id, account_id, label, region, status, memory, target_host from compute_instance
    where host = $1 and id > $2 order by id limit $3
    """)
async def instances_of(db: Queries, host: str, after: int, limit: int) -> list[HostedInstance]:
    """Those of a host, by id, from behind `after`."""


@dataclass(frozen=True, slots=True)
class Stranded:
    """An instance whose host is not seen."""

    id: int
    label: str
    since: datetime


@query(f"""
    select i.id, i.label, h.seen at time zone 'UTC' as since
    from compute_instance i join host h on h.name = i.host
    where i.account_id = $1 and {granted_sql("'compute'", "i.id", "$2")} and isfinite(h.seen)
        and h.seen < clock_timestamp() - interval '{_STRANDED.seconds} s'
    order by i.id
    """)  # noqa: S608 - constants
async def stranded(db: Queries, account_id: int, grantee: int | None) -> list[Stranded]:
    """Those of an account, by id, of which a `grantee` only knows those granted to them; a host
    that is started again in between is seen within that time."""


_MOVES = "('compute_move', 'compute_move_live')"


@query(f"""
    select j.id from job j join compute_instance i on j.resource = 'compute:' || i.id
    where i.target_host = $1 and j.kind in {_MOVES} and j.finished is null
    order by j.id
    """)  # noqa: S608 - constants
async def moves_to(db: Queries, host: str) -> list[int]:
    """Jobs that bring instances to a host."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """An instance on its way to another host, and the job that brings it there.

    One that is being deleted meanwhile has none any more.
    """

    id: int
    move: int | None


@query(f"""
    select i.id, (
        select j.id from job j where j.resource = 'compute:' || i.id and j.kind in {_MOVES}
            and j.finished is null order by j.id limit 1) as move
    from compute_instance i where i.host = $1 and i.target_host <> $1 order by i.id
    """)  # noqa: S608 - constants
async def leaving(db: Queries, host: str) -> list[Leaving]:
    """Those of a host, by id."""


@query("""
    select id from job where host = $1 and resource like 'left:%' and finished is null
    order by id
    """)
async def clearings(db: Queries, host: str) -> list[int]:
    """Jobs by which a host is to drop what others have by now."""


async def by_host(db: Queries) -> dict[str, Held]:
    """What hosts have, of those that have any."""
    rows = await db.fetch(
        "select host, count(*) as count, sum(disk)::bigint as storage from compute_instance"
        " group by 1"
    )
    return {row["host"]: Held(row["count"], row["storage"]) for row in rows}


async def regions_of(db: Queries, host: str) -> list[str]:
    """The regions of the instances that a host has."""
    sql = "select distinct region from compute_instance where host = $1"
    return [row["region"] for row in await db.fetch(sql, host)]


@query("""
    with given as (
        update compute_instance set host = $2, target_host = null where host = $1 returning 1
    )
    select count(*) from given
    """)
async def give(db: Queries, host: str, other: str) -> int:
    """All instances of a host are another one's; how many. None is on its way any more."""
