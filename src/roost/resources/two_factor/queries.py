"""SQL of second factors, which are columns of their users."""

from dataclasses import dataclass
from datetime import datetime

from roost.store import Queries
from roost.store.query import query


@dataclass(frozen=True, slots=True)
class Factor:
    """A user's second factor; it counts once it is enabled."""

    secret: bytes | None
    """Sealed."""
    enabled: bool
    scratch: bytes | None
    """SHA-256."""
    expiry: datetime | None
    """Until when the secret may be confirmed."""
    counter: int | None
    """Of the last code that was used; older ones are void."""


@query("""
    select tfa_secret as secret, tfa_enabled as enabled, tfa_scratch as scratch,
        tfa_expiry as expiry, tfa_counter as counter
    from api_user where id = $1 for update
    """)
async def lock(db: Queries, user_id: int) -> Factor:
    """Nobody else uses or changes the factor until the transaction ends."""


async def save(db: Queries, user_id: int, factor: Factor) -> None:
    await db.execute(
        """
        update api_user set tfa_secret = $2, tfa_enabled = $3, tfa_scratch = $4, tfa_expiry = $5,
            tfa_counter = $6
        where id = $1
        """,
        user_id,
        factor.secret,
        factor.enabled,
        factor.scratch,
        factor.expiry,
        factor.counter,
    )
