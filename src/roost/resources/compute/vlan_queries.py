"""SQL of the VLANs that instances are attached to."""

from roost.store import Queries


async def has_vlan(db: Queries, account_id: int, region: str, label: str) -> bool:
    """Whether a config of the account's instances has an interface to it."""
    found: bool = await db.fetchval(
        """
        select exists (
            select from compute_instance i
            join compute_config c on c.compute_id = i.id
            join compute_interface f on f.config_id = c.id
            where i.account_id = $1 and i.region = $2 and f.purpose = 'vlan' and f.label = $3)
        """,
        account_id,
        region,
        label,
    )
    return found
