"""An account keeps at least one unrestricted user, as one that nobody can manage would be lost."""

from roost.errors import invalid
from roost.resources.users import grants, queries
from roost.resources.users.queries import UserFacts
from roost.store import Queries


async def check_others(
    db: Queries, account_id: int, user: UserFacts, field: str | None = None
) -> None:
    """Raises 400 when nobody else could manage the account; it is locked by the caller."""
    own = user.user_type != "proxy" and not user.restricted
    if own and not await queries.has_other_unrestricted(db, account_id, user.id):
        raise invalid("The account needs at least one unrestricted user.", field)


async def restrict(db: Queries, account_id: int, user: UserFacts) -> None:
    """Before an unrestricted user becomes restricted: take all grants away."""
    await check_others(db, account_id, user, "restricted")
    await grants.reset(db, user.id)
