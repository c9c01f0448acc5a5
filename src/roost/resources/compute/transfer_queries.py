"""SQL of instances that go to another account."""

from datetime import datetime

from roost.core.bindings import Binding, between
from roost.store import Queries

GRANTS = Binding(
    across=between(
        "user",
        "has a grant on",
        "instance",
        "entity_grant g join api_user a on a.id = g.user_id"
        " join compute_instance b on b.id = g.entity_id and g.kind = 'compute'",
    )
)


async def move(db: Queries, compute_id: int, account_id: int, label: str, now: datetime) -> None:
    """Its tags and its group are those of the account that it leaves."""
    await db.execute(
        """
        update compute_instance
        set account_id = $2, label = $3, tags = '{}', "group" = '', updated = $4 where id = $1
        """,
        compute_id,
        account_id,
        label,
        now,
    )


async def has_label(db: Queries, account_id: int, label: str) -> bool:
    """Whether an instance of the account is called so."""
    found: bool = await db.fetchval(
        "select exists (select from compute_instance where account_id = $1 and label = $2)",
        account_id,
        label,
    )
    return found


async def has_private_networks(db: Queries, compute_id: int) -> bool:
    """Whether a config has an interface in a VLAN or VPC."""
    found: bool = await db.fetchval(
        """
        select exists (
            select from compute_interface f join compute_config c on c.id = f.config_id
            where c.compute_id = $1 and f.purpose <> 'public')
        """,
        compute_id,
    )
    return found
