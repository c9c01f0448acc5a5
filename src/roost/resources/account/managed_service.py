"""The managed service: the operator looks after what an account has, for a price."""

from roost.core.billing.ledger import Billables, record_all
from roost.core.context import Context
from roost.core.events import log
from roost.core.events.log import Starter
from roost.resources.account import entity, queries

_SERVICE = "managed"


async def enable(context: Context) -> None:
    """For the caller's account, from now on; one that has it keeps it."""
    await change(Starter.of(context), context.get(Billables), on=True)


async def change(by: Starter, billables: Billables, *, on: bool) -> None:
    """Give an account the service, or end it, and charge for it accordingly; nothing where it is so
    already."""
    if await queries.set_managed(by.db, by.account_id, on):
        await record_all(by.db, billables.by_service[_SERVICE], by.queue.clock.now())
        action = "managed_enabled" if on else "managed_disabled"
        await log.notify(by, action, entity.SETTINGS_ENTITY)
