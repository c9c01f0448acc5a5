"""SQL of VPCs and their subnets."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Network

from roost.core.entities.kind import EntityKind
from roost.core.entities.records import Entity
from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.core.lists import listing_of
from roost.resources.compute.configs.queries import ACTIVE
from roost.resources.vpcs.records import SubnetRow, VpcRow
from roost.store import Queries
from roost.store.query import query

_COMPUTES = f"""
    (select coalesce(json_agg(row_to_json(one) order by one.id), '[]') from (
        select i.id, json_agg((select row_to_json(it) from (select f.id, {ACTIVE} as active) it)
            order by f.id) as interfaces
        from compute_interface f join compute_config c on c.id = f.config_id
        join compute_instance i on i.id = c.compute_id
        where f.subnet_id = s.id group by i.id) one)
    """

SUBNETS = listing_of(
    SubnetRow,
    source="vpc_subnet s",
    scope="s.vpc_id = $2 and exists (select from vpc v where v.id = $2 and v.account_id = $1)",
    key="s.id",
    sql={"ipv4": "s.ipv4::text", "computes": _COMPUTES},
)

VPCS = listing_of(
    VpcRow,
    source="vpc v",
    scope="v.account_id = $1",
    key="v.id",
    granted=("'vpc'", "v.id"),
    sql={
        "subnets": f"""
            (select coalesce(json_agg(
                (select row_to_json(record) from (select {SUBNETS.record}) record)
                order by s.id), '[]')
            from vpc_subnet s where s.vpc_id = v.id)
            """,
    },
)


LIMIT = LimitGroup.of("vpc where account_id = $1", LimitKind("vpcs", "VPCs", 100, service=False))


@dataclass(frozen=True, slots=True)
class VpcFacts:
    """What rules need of a VPC."""

    id: int
    label: str
    region: str


@dataclass(frozen=True, slots=True)
class SubnetFacts:
    """And of a subnet."""

    id: int
    vpc_id: int
    label: str
    ipv4: IPv4Network


@dataclass(frozen=True, slots=True)
class Usage:
    """What an interface has in a VPC."""

    id: int
    address: str
    ip_ranges: Sequence[str]
    leaving: bool
    """Whether its instance is being deleted."""


async def insert(
    db: Queries, account_id: int, values: Mapping[str, str], now: datetime
) -> int | None:
    """The id of a new VPC; None when the account has one of this label."""
    vpc_id: int | None = await db.fetchval(
        """
        insert into vpc (account_id, label, description, region, created, updated)
        values ($1, $2, $3, $4, $5, $5) on conflict (account_id, label) do nothing returning id
        """,
        account_id,
        values["label"],
        values["description"],
        values["region"],
        now,
    )
    return vpc_id


@query("""
    insert into vpc_subnet (vpc_id, label, ipv4, created, updated)
    values ($1, $2, $3::text::cidr, $4, $4) on conflict (vpc_id, label) do nothing returning id
    """)
async def insert_subnet(
    db: Queries, vpc_id: int, label: str, ipv4: str, now: datetime
) -> int | None:
    """The id of a new subnet; None when the VPC has one of this label."""


@query("select id, label, region from vpc where account_id = $1 and id = $2 for no key update")
async def lock(db: Queries, account_id: int, vpc_id: int) -> VpcFacts | None:
    """One of the account's, in which nobody else changes anything until the end of the
    transaction."""


@query("""
    select id, label, region from vpc
    where account_id = $1 and id in (
        select vpc_id from vpc_subnet where id = any($2::bigint[]))
    order by id for no key update
    """)
async def lock_all_of(db: Queries, account_id: int, subnets: Collection[int]) -> list[VpcFacts]:
    """Those of the account's that have any of the subnets, by id."""


@query("select exists (select from vpc where account_id = $1 and id = $2)")
async def exists(db: Queries, account_id: int, vpc_id: int) -> bool: ...


@query("select label from vpc where id = $1")
async def label_of(db: Queries, vpc_id: int) -> str:
    """The label of a VPC that exists."""


@query("""
    select id, vpc_id, label, ipv4 from vpc_subnet where vpc_id = any($1::bigint[]) order by id
    """)
async def subnets_of(db: Queries, vpc_ids: Collection[int]) -> list[SubnetFacts]:
    """By id."""


async def owners(db: Queries, account_id: int, subnets: Collection[int]) -> dict[int, SubnetFacts]:
    """Those of the subnets that are of the account's VPCs."""
    rows = await db.fetch(
        """
        select s.id, s.vpc_id, s.label, s.ipv4 from vpc_subnet s join vpc v on v.id = s.vpc_id
        where v.account_id = $1 and s.id = any($2::bigint[])
        """,
        account_id,
        list(subnets),
    )
    return {row["id"]: SubnetFacts(**row) for row in rows}


@query("""
    update vpc set label = coalesce($2, label), description = coalesce($3, description),
        updated = $4
    where id = $1 and (label <> $2 or description <> $3) returning true
    """)
async def update(
    db: Queries, vpc_id: int, label: str | None, description: str | None, now: datetime
) -> bool:
    """Change what is not None. False when everything is so already.

    asyncpg.UniqueViolationError for a label that is taken.
    """


@query("update vpc_subnet set label = $2, updated = $3 where id = $1")
async def rename_subnet(db: Queries, subnet_id: int, label: str, now: datetime) -> None:
    """asyncpg.UniqueViolationError for a label that is taken."""


@query("delete from vpc where id = $1")
async def delete(db: Queries, vpc_id: int) -> None:
    """With its subnets and the grants on it."""


@query("delete from vpc_subnet where id = $1")
async def delete_subnet(db: Queries, subnet_id: int) -> None: ...


def subnet_entity(vpc_id: int, subnet_id: int, label: str) -> Entity:
    path = f"/vpcs/{vpc_id}/subnets/{{id}}"
    return EntityKind(name="subnet", path=path).entity(subnet_id, label)


HELD = """
    select v.id::text, v.account_id, exists (
        select from compute_interface i where i.vpc_id = v.id) as waits
    from vpc v
    """
"""What ends with accounts: instances before the VPCs that they are in."""
