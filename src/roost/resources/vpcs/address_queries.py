"""SQL of the addresses that interfaces have in VPCs."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from roost.core.bindings import Binding, between
from roost.resources.compute.configs.queries import ACTIVE, nats_of
from roost.resources.compute.neighbours import Nat
from roost.resources.compute.records import VpcAddressRow
from roost.resources.vpcs.queries import Usage
from roost.store import Queries
from roost.store.paging import Column, Listing
from roost.store.query import query

_NAT = nats_of("$1", "$2::text")

_NATTED = """
    exists (select from ip_address p where p.address = f.nat_1_1 and p.compute_id = i.id)
    """

ADDRESSES = Listing(
    record=f"""
        case when a.n = 0 then host(f.address) end as address, a.range as address_range,
        {ACTIVE} as active, i.id as compute_id, c.id as config_id, f.id as interface_id,
        f.vpc_id, f.subnet_id, v.region,
        case when a.n = 0 then host(network(f.address)::inet + 1) end as gateway,
        case when a.n = 0 then masklen(f.address) end as prefix,
        case when a.n = 0 then host(netmask(f.address)) else '' end as subnet_mask,
        case when a.n = 0 and {_NATTED} then host(f.nat_1_1) end as nat_1_1
        """,
    source="""
        vpc v join compute_interface f on f.vpc_id = v.id
        join compute_config c on c.id = f.config_id join compute_instance i on i.id = c.compute_id
        cross join lateral (select 0 as n, null as range
            union all select r.n, r.range from unnest(f.ip_ranges) with ordinality r (range, n)) a
        """,
    scope="v.account_id = $1",
    key="(f.id * 100 + a.n)",
    granted=("'vpc'", "v.id"),
    columns={
        "active": Column(ACTIVE, "bool"),
        "compute_id": Column("i.id", "int"),
        "config_id": Column("c.id", "int"),
        "vpc_id": Column("v.id", "int"),
        "region": Column("v.region", "text"),
    },
)
"""Of all VPCs of an account; networks after the address of their interface."""

ADDRESSES_OF_VPC = ADDRESSES.narrowed("v.id = $2")


_INTERFACES = """
    compute_interface f join vpc a on a.id = f.vpc_id
        join compute_config c on c.id = f.config_id join compute_instance b on b.id = c.compute_id
    """
_ANOTHERS = """
    select f.id, format('interface %s of instance %s has a 1:1 NAT with %s, which is not its own',
        f.id, c.compute_id, host(f.nat_1_1)) as text
    from compute_interface f join compute_config c on c.id = f.config_id
    where f.nat_1_1 is not null and not exists (
        select from ip_address p where p.address = f.nat_1_1 and p.compute_id = c.compute_id)
    order by f.id
    """

BINDINGS = (
    Binding(across=between("VPC", "has an interface of", "instance", _INTERFACES)),
    Binding(across=_ANOTHERS),
)

_ROWS = TypeAdapter(list[VpcAddressRow])
_OF_INSTANCE = f"""
    select {ADDRESSES.record} from {ADDRESSES.source} where i.id = $1 order by {ADDRESSES.key}
    """  # noqa: S608 - constants


async def of_instance(db: Queries, compute_id: int) -> list[VpcAddressRow]:
    """The addresses of all configs of an instance."""
    return _ROWS.validate_python(map(dict, await db.fetch(_OF_INSTANCE, compute_id)))


@query("""
    select f.id, host(f.address) as address, f.ip_ranges, i.status = 'deleting' as leaving
    from compute_interface f join compute_config c on c.id = f.config_id
    join compute_instance i on i.id = c.compute_id where f.vpc_id = $1
    """)
async def usages(db: Queries, vpc_id: int) -> list[Usage]:
    """What interfaces have in a VPC."""


@dataclass(frozen=True, slots=True)
class Held:
    """What an instance has in a VPC."""

    compute_id: int
    address: str
    nat: str | None
    ip_ranges: Sequence[str]


@query("""
    select distinct c.compute_id, host(f.address) as address, host(f.nat_1_1) as nat,
        f.ip_ranges
    from compute_interface f join compute_config c on c.id = f.config_id
    where f.vpc_id = $1 and f.address is not null order by 1, 2
    """)
async def held_in(db: Queries, vpc_id: int) -> list[Held]:
    """What instances have in a VPC by any of their configs."""


@query("""
    update compute_interface f
    set vpc_id = null, subnet_id = null, address = null, nat_1_1 = null, ip_ranges = '{}'
    from compute_config c join compute_instance i on i.id = c.compute_id
    where c.id = f.config_id and i.status = 'deleting'
        and f.vpc_id = $1 and ($2::bigint is null or f.subnet_id = $2)
    """)
async def release_deleted(db: Queries, vpc_id: int, subnet_id: int | None = None) -> None:
    """Interfaces of instances that are being deleted are in a VPC, or in one of its subnets, no
    more."""


@query("""
    select exists (select from compute_interface
        where vpc_id = $1 and ($2::bigint is null or subnet_id = $2))
    """)
async def is_used(db: Queries, vpc_id: int, subnet_id: int | None = None) -> bool:
    """Whether an interface is in a VPC, or in one of its subnets."""


@query(_NAT)
async def nat_of(db: Queries, compute_id: int, address: str) -> Nat | None: ...


async def natted(db: Queries, compute_ids: Collection[int]) -> set[tuple[int, str]]:
    """The public addresses of instances that stand for one in a VPC."""
    rows = await db.fetch(
        """
        select distinct c.compute_id, host(f.nat_1_1) as address
        from compute_interface f join compute_config c on c.id = f.config_id
        where c.compute_id = any($1::bigint[]) and f.nat_1_1 is not null
        """,
        list(compute_ids),
    )
    return {(row["compute_id"], row["address"]) for row in rows}


async def inside(
    db: Queries, compute_ids: Collection[int]
) -> dict[int, frozenset[tuple[int, str]]]:
    """VPCs, and what instances have in them by any of their configs: addresses, what is routed to
    them, and the public addresses that stand for them."""
    rows = await db.fetch(
        """
        select c.compute_id, f.vpc_id, a.address
        from compute_interface f join compute_config c on c.id = f.config_id
        cross join lateral (select host(f.address) as address
            union all select host(f.nat_1_1) where f.nat_1_1 is not null
            union all select unnest(f.ip_ranges)) a
        where c.compute_id = any($1::bigint[]) and f.vpc_id is not null
            and f.address is not null and a.address is not null
        """,
        list(compute_ids),
    )
    found = defaultdict[int, set[tuple[int, str]]](set)
    for row in rows:
        found[row["compute_id"]].add((row["vpc_id"], row["address"]))
    return {compute_id: frozenset(each) for compute_id, each in found.items()}
