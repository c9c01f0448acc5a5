"""SQL of the VLANs that instances are attached to."""

import orjson

from roost.store import Queries


async def has_vlan(db: Queries, account_id: int, region: str, label: str) -> bool:
    """Whether an instance of the account is attached to it."""
    wanted = [{"purpose": "vlan", "label": label}]
    found: bool = await db.fetchval(
        """
        select exists (select from compute_instance
            where account_id = $1 and region = $2 and interfaces::jsonb @> $3::jsonb)
        """,
        account_id,
        region,
        orjson.dumps(wanted).decode(),
    )
    return found
