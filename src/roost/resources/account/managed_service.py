"""The managed service: the operator looks after what an account has, for a price."""

from roost.clock import Clock
from roost.core.billing.ledger import Billables, record_all
from roost.core.context import Context
from roost.core.events import log
from roost.resources.account import entity, queries
from roost.store import Queries

_SERVICE = "managed"


async def enable(context: Context) -> None:
    """From now on; an account that has it keeps it."""
    if await queries.set_managed(context.db, context.account_id, True):
        await _charge(context.db, context.get(Billables), context.clock)
        await log.notify(context, "managed_enabled", entity.SETTINGS_ENTITY)


async def _charge(db: Queries, billables: Billables, clock: Clock) -> None:
    """For all that accounts have now that the service is charged for."""
    await record_all(db, billables.by_service[_SERVICE], clock.now())
