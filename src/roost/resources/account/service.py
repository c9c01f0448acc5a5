"""What operators do with accounts: open them, tie them (spec B account 3, B account 4)."""

from dataclasses import dataclass

from asyncpg import UniqueViolationError

from roost.clock import Clock
from roost.core import account_queries as accounts
from roost.core.revocation_queries import CHANNEL
from roost.core.scopes import Scopes
from roost.ids import new_suffix, new_uuid
from roost.resources.account import queries, tie_queries
from roost.resources.tokens.service import issue_token
from roost.store import Queries, notify


class AccountError(Exception):
    """What was asked for can't be done."""


@dataclass(frozen=True, slots=True)
class Opened:
    account_id: int
    username: str
    token: str


async def open_account(
    db: Queries, clock: Clock, email: str, company: str, username: str | None
) -> Opened:
    """An account with an unrestricted user, whose token can't be had again.

    AccountError when another user has this name.
    """
    now = clock.seconds()
    account_id = await queries.create_account(db, new_uuid(), now, email, company)
    name = username or f"admin-{account_id}"
    try:
        user_id = await accounts.create_user(db, account_id, name, False, now, email)
    except UniqueViolationError:
        raise AccountError(f"the username {name} is taken") from None
    return Opened(account_id, name, await issue_token(db, clock, user_id, name, Scopes.parse("*")))


async def make_parent(db: Queries, clock: Clock, child_id: int, parent_id: int) -> str:
    """The name of the proxy user, as which users of the parent act in the child.

    `settle` after the commit: the users of both are of another type.
    """
    await _check_tie(db, child_id, parent_id)
    await tie_queries.tie(db, child_id, parent_id)
    name = f"proxy-{child_id}-{new_suffix()}"
    await tie_queries.create_proxy(db, child_id, parent_id, name, clock.seconds())
    await notify(db, CHANNEL)
    return name


async def _check_tie(db: Queries, child_id: int, parent_id: int) -> None:
    """The family has two levels, and nobody is tied twice."""
    if child_id == parent_id:
        raise AccountError("an account can't be its own parent")
    found = await tie_queries.lock_pair(db, child_id, parent_id)
    for account_id in (child_id, parent_id):
        if account_id not in found:
            raise AccountError(f"there is no account {account_id}")
        if found[account_id].canceled:
            raise AccountError(f"account {account_id} is canceled")
    for account_id in (child_id, parent_id):
        tied_to = found[account_id].parent_id
        if tied_to is not None:
            raise AccountError(f"account {account_id} is a child of account {tied_to}")
    if found[child_id].is_parent:
        raise AccountError(f"account {child_id} has children")
