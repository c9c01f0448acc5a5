"""Canceled accounts, and what is left of them."""

from datetime import timedelta
from decimal import Decimal

from roost.app.roost import Roost
from roost.core.endings import Endings
from roost.core.fsck import Finding, Installation
from roost.resources.cancellation.fsck import check_canceled
from roost.resources.cancellation.queries import CanceledAccount, all_canceled
from roost.resources.payments.service import credit
from tests.support.client import Answer, Client, Json, until

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


async def cancel(client: Client, body: Json = None) -> Answer:
    return await client.send("POST", CANCEL, {} if body is None else body)


async def owe(roost: Roost, account_id: int, usd: str) -> None:
    """As after an invoice."""
    async with roost.store.transaction() as db:
        await credit(db, account_id, -Decimal(usd), "test", None, roost.clock.seconds())


async def use(roost: Roost, account_id: int) -> None:
    """Something that costs a cent or two and has just begun, with an id that nothing else gets."""
    await roost.store.execute(
        """
        insert into ledger (account_id, service, resource_id, at, label, plan, region, quantity,
            hourly, monthly, tags)
        values ($1, 'blockstorage', -$1::bigint, $2, 'data', '', 'us-lake', 100, 0.00015, 0.1, '{}')
        """,
        account_id,
        roost.clock.seconds() - timedelta(seconds=1),
    )


async def paid(roost: Roost, account_id: int) -> list[tuple[str, float]]:
    rows = await roost.store.fetch(
        "select status, usd from payment where account_id = $1 order by id", account_id
    )
    return [(row["status"], float(row["usd"])) for row in rows]


async def balance(roost: Roost, account_id: int) -> Decimal:
    found: Decimal = await roost.store.fetchval(
        "select balance from account where id = $1", account_id
    )
    return found
