"""What operators have to know of payments."""

from roost.core.conditions import MOST, Condition, Watch
from roost.core.context import Context
from roost.resources.payments import queries
from roost.resources.payments.rules import DUE


async def overdue(context: Context) -> list[Condition]:
    """Accounts that owe something of older invoices."""
    before = context.clock.now() - DUE
    return [
        Condition(
            "payment_overdue",
            f"account {account_id}",
            "warning",
            f"Account {account_id} owes ${owed:.2f} of invoices that are older than"
            f" {DUE.days} days.",
        )
        for account_id, owed in await queries.overdue(context.db, before, MOST)
    ]


WATCH = Watch(("payment_overdue",), overdue)
