"""SQL of instances that go to another account."""

from datetime import datetime

from roost.core.bindings import Binding, between
from roost.store import Queries
from roost.store.query import query

GRANTS = Binding(
    across=between(
        "user",
        "has a grant on",
        "instance",
        "entity_grant g join api_user a on a.id = g.user_id"
        " join compute_instance b on b.id = g.entity_id and g.kind = 'compute'",
    )
)


@query("""
    update compute_instance
    set account_id = $2, label = $3, tags = '{}', "group" = '', updated = $4 where id = $1
    """)
async def move(db: Queries, compute_id: int, account_id: int, label: str, now: datetime) -> None:
    """Its tags and its group are those of the account that it leaves."""


@query("""
    select exists (select from compute_instance
        where account_id = $1 and label = $2 and status <> 'deleting')
    """)
async def has_label(db: Queries, account_id: int, label: str) -> bool:
    """Whether an instance of the account is called so."""


@query("""
    select exists (
        select from compute_interface f join compute_config c on c.id = f.config_id
        where c.compute_id = $1 and f.purpose <> 'public')
    """)
async def has_private_networks(db: Queries, compute_id: int) -> bool:
    """Whether a config has an interface in a VLAN or VPC."""
