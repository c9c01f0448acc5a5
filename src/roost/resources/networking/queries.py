"""SQL of addresses as the API shows them."""

# ruff: noqa: S608  (statements are put together from constants)

from collections.abc import Iterable

import orjson
from asyncpg import Record
from pydantic import TypeAdapter

from roost.core.bindings import Binding
from roost.resources.compute.configs.queries import nats_of
from roost.resources.reverse_dns.records import AddressRow
from roost.store import Queries
from roost.store.paging import Column, Listing

_ROWS = TypeAdapter(list[AddressRow])
_GATEWAY_V6, _MASK_V6 = "fe80::1", "ffff:ffff:ffff:ffff::"

_IPV4 = """
    select a.account_id, a.compute_id, a.nodebalancer_id, host(a.address) as address,
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
    where a.account_id is not null
    """
_IPV6 = f"""
    select i.account_id, i.id, null, split_part(i.ipv6, '/', 1), '{_GATEWAY_V6}', '{_MASK_V6}', 64,
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
        granted=(
            "case when f.compute_id is null then 'nodebalancer' else 'compute' end",
            "coalesce(f.compute_id, f.nodebalancer_id)",
        ),
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

_HELD = """
    select a.address::text as address, a.account_id, a.compute_id from ip_address a
    where a.compute_id is not null
    union all select r.network::text, r.account_id, r.compute_id from ipv6_range r
    """
_SHARED = """
    select s.address::text as address, s.compute_id from ip_share s
    union all select s.network::text, s.compute_id from ipv6_range_share s
    """


def _across(source: str, verb: str) -> str:
    return f"""
        select b.id, format('address %s of account %s {verb} instance %s of account %s',
            h.address, h.account_id, b.id, b.account_id) as text
        from {source} where h.account_id <> b.account_id order by h.address, b.id
        """


BINDINGS = (
    Binding(across=_across(f"({_HELD}) h join compute_instance b on b.id = h.compute_id", "is of")),
    Binding(
        across=_across(
            f"({_HELD}) h join ({_SHARED}) s on s.address = h.address"
            " join compute_instance b on b.id = s.compute_id",
            "is shared with",
        )
    ),
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
