"""SQL of who has an address, and which firewall filters an instance."""

from dataclasses import dataclass

from roost.core.instance_queries import InstanceStatus
from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class GuestRow:
    id: int
    label: str
    region: str
    status: InstanceStatus
    ipv6: str | None


@dataclass(frozen=True, slots=True)
class GuardRow:
    id: int
    label: str
    rules: str
    """JSON."""


@query("""
    select compute_id from ip_address
    where address = $2::text::inet and account_id = $1 and compute_id is not null
    union all
    select compute_id from ipv6_range where network >> $2::text::inet and account_id = $1
    union all
    select id from compute_instance
    where account_id = $1 and split_part(ipv6, '/', 1)::inet = $2::text::inet
    limit 1
    """)
async def holder(db: Queries, account_id: int, address: str) -> int | None:
    """The account's instance that has the address, or the range that it is in."""


@query("""
    select id, label, region, status, ipv6 from compute_instance
    where account_id = $1 and id = $2 and status <> 'deleting'
    """)
async def find_guest(db: Queries, account_id: int, compute_id: int) -> GuestRow | None: ...


@query("""
    select f.id, f.label, f.rules from firewall f
    join firewall_device d on d.firewall_id = f.id
    where d.compute_id = $1 and f.status = 'enabled'
    """)
async def guard_of(db: Queries, compute_id: int) -> GuardRow | None:
    """The firewall that filters the instance; it has one at most."""
