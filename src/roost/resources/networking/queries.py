"""SQL of addresses as the API shows them."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Iterable

import orjson
from asyncpg import Record
from pydantic import TypeAdapter

from roost.core.limits.kinds import LimitGroup, LimitKind
from roost.resources.compute.configs.queries import nats_of
from roost.resources.reverse_dns.records import AddressRow
from roost.store import Queries
from roost.store.paging import Column, Listing

_ROWS = TypeAdapter(list[AddressRow])
_GATEWAY_V6, _MASK_V6 = "fe80::1", "ffff:ffff:ffff:ffff::"

_IPV4 = """
    select a.account_id, a.compute_id, host(a.address) as address,
        case when a.public then host(coalesce(p.gateway, a.gateway)) end as gateway,
        host(netmask(set_masklen(a.address, a.prefix))) as subnet_mask, a.prefix::integer,
        'ipv4' as type, a.public,
        case when a.public
            then coalesce(n.name, replace(host(a.address), '.', '-') || '.' || $2::text)
        end as rdns,
        a.region
    from ip_address a
        left join ip_pool p on p.region = a.region and p.cidr >> a.address
        left join reverse_name n on n.address = a.address and n.compute_id = a.compute_id
    where a.compute_id is not null
    """
_IPV6 = f"""
    select i.account_id, i.id, split_part(i.ipv6, '/', 1), '{_GATEWAY_V6}', '{_MASK_V6}', 64,
        'ipv6', true, n.name, i.region
    from compute_instance i
        left join reverse_name n
            on n.address = split_part(i.ipv6, '/', 1)::inet and n.compute_id = i.id
    where i.ipv6 is not null
    """
_RECORD = """
    f.address, f.gateway, f.subnet_mask, f.prefix, f.type, f.public, {rdns} as rdns,
    f.compute_id, f.region, {nat} as vpc_nat_1_1
    """
_NAT = f"(select row_to_json(nat) from ({nats_of('f.compute_id', 'f.address')}) nat)"


def _listing(rdns: str) -> Listing:
    return Listing(
        record=_RECORD.format(rdns=rdns, nat=_NAT),
        source=f"({_IPV4} and a.public union all {_IPV6}) f",
        scope="f.account_id = $1 and $2::text is not null",
        key="f.address::inet",
        granted=("'compute'", "f.compute_id"),
        columns={
            "address": Column("f.address", "text"),
            "prefix": Column("f.prefix", "int"),
            "type": Column("f.type", "text"),
            "rdns": Column(rdns, "text", folds=True),
            "region": Column("f.region", "text"),
        },
    )


ADDRESSES = _listing("f.rdns")
"""The public ones of an account, `$1`; `$2` is the zone of default names."""

WITHOUT_NAMES = _listing("case when f.type = 'ipv4' then f.rdns end")
"""The same without the names of IPv6 addresses (spec B networking)."""

LIMIT = LimitGroup.of(
    "ip_address where account_id = $1 and public",
    LimitKind("public_ipv4", "public IPv4 addresses", 500),
)


async def of_instance(db: Queries, compute_id: int, suffix: str) -> list[AddressRow]:
    """Those of IPv4, and the address that the guest gives itself; public ones first."""
    rows = await db.fetch(
        f"""
        select {_RECORD.format(rdns="f.rdns", nat=_NAT)} from ({_IPV4} union all {_IPV6}) f
        where f.compute_id = $1 order by f.public desc, f.address::inet
        """,
        compute_id,
        suffix,
    )
    return _read(rows)


async def shared_to(db: Queries, compute_id: int, suffix: str) -> list[AddressRow]:
    """Those of others that the instance may take over."""
    rows = await db.fetch(
        f"""
        select {_RECORD.format(rdns="f.rdns", nat=_NAT)} from ({_IPV4}) f
        where f.address::inet in (select s.address from ip_share s where s.compute_id = $1)
        order by f.address::inet
        """,
        compute_id,
        suffix,
    )
    return _read(rows)


def _read(rows: Iterable[Record]) -> list[AddressRow]:
    return _ROWS.validate_python(
        [{**row, "vpc_nat_1_1": orjson.loads(row["vpc_nat_1_1"] or "null")} for row in rows]
    )
