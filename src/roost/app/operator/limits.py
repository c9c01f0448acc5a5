"""How much an account may have, as the operator sees and changes it."""

from dataclasses import dataclass

from roost.app.groups import GROUPS
from roost.core.account_queries import exists
from roost.core.catalog import load
from roost.core.limits import queries
from roost.errors import OperatorError
from roost.settings import Settings
from roost.store import Queries
from roost.threads import DISK

UNLIMITED = "unlimited"
MOST = 2**53

NAMES = tuple(GROUPS.limit_kinds)


class LimitError(OperatorError):
    """There is no such account or limit, or no such amount."""


@dataclass(frozen=True, slots=True)
class ListedLimit:
    limit: str
    used: int
    allowed: int | str
    """Or that there is no end."""
    set_by: str
    """`account` or `catalogue`."""


async def list_limits(db: Queries, settings: Settings, account_id: int) -> list[ListedLimit]:
    """What the account has and may have, and whose word that is. Raises LimitError."""
    if not await exists(db, account_id):
        raise _no_account(account_id)
    catalog = await DISK.run(load, settings.catalog)
    found = list[ListedLimit]()
    for group in GROUPS.limits:
        usage = await queries.read(db, account_id, group, unlimited=True)
        for name, used in usage.used.items():
            general = catalog.entries.limits.get(name, GROUPS.limit_kinds[name].default)
            allowed = usage.own.get(name, general)
            by = "account" if name in usage.own else "catalogue"
            found.append(ListedLimit(name, used, UNLIMITED if allowed is None else allowed, by))
    return found


def parse_amount(text: str) -> int | None:
    """None without an end. Raises LimitError."""
    if text == UNLIMITED:
        return None
    if not (text.isdecimal() and text.isascii() and len(text) < 20 and int(text) <= MOST):
        raise LimitError(f"must be 0 to {MOST}, or {UNLIMITED}")
    return int(text)


async def set_limit(db: Queries, account_id: int, name: str, amount: int | None) -> None:
    """From the next request on. Raises LimitError."""
    if name not in NAMES:
        raise LimitError(f"there is no limit {name}")
    if not await queries.set_limit(db, account_id, name, amount):
        raise _no_account(account_id)


async def reset_limit(db: Queries, account_id: int, name: str | None) -> None:
    """The catalogue's holds again: for all, or one. Raises LimitError."""
    if not await queries.reset_limit(db, account_id, name):
        raise _no_account(account_id)


def _no_account(account_id: int) -> LimitError:
    return LimitError(f"there is no account {account_id}")
