"""A parent account and a child, with their users."""

from dataclasses import dataclass

from roost.app.roost import Roost
from roost.resources.account.service import make_parent


@dataclass(frozen=True, slots=True)
class Proxy:
    """The user as whom users of the parent act in the child."""

    username: str
    user_id: int
    account_id: int
    euuid: str
    """Of the child."""


async def adopt(roost: Roost, child_id: int, parent_id: int) -> Proxy:
    """Tie an account to a parent, as an operator does."""
    async with roost.store.transaction() as db:
        name = await make_parent(db, roost.clock, child_id, parent_id)
    row = await roost.store.fetchrow(
        "select u.id, a.euuid from api_user u join account a on a.id = u.account_id"
        " where u.username = $1",
        name,
    )
    assert row is not None
    return Proxy(name, row["id"], child_id, str(row["euuid"]))
