"""Canceled accounts, and what is left of them."""

from roost.app.roost import Roost
from roost.core.endings import Endings
from roost.core.fsck import Finding, Installation
from roost.resources.account.cancel_queries import CanceledAccount, all_canceled
from roost.resources.cancellation.fsck import check_canceled
from tests.support.client import until

CANCEL = "/account/cancel"


async def canceled(roost: Roost, account_id: int) -> CanceledAccount | None:
    found = await all_canceled(roost.store)
    return next((each for each in found if each.id == account_id), None)


async def closed(roost: Roost, account_id: int) -> CanceledAccount:
    """A canceled account when all that it had has ended."""
    found = await until(
        lambda: canceled(roost, account_id), lambda found: bool(found and found.closed)
    )
    assert found is not None
    return found


async def left(roost: Roost, account_id: int) -> list[str]:
    """What a canceled account has."""
    held = await roost.services.get(Endings).of_canceled(roost.store)
    return held.get(account_id, [])


async def findings(roost: Roost, account_id: int) -> list[Finding]:
    """What `roost fsck` says of it."""
    found = check_canceled(Installation(roost.store, roost.services))
    return [each async for each in found if each.text.startswith(f"account {account_id} ")]
