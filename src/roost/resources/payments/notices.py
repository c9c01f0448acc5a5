"""What users should pay."""

from roost.core import account_queries as accounts
from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.account.entity import ACCOUNT_KIND
from roost.resources.payments.service import is_past_due


async def payment_due(context: Context) -> list[NotificationRow]:
    """The account owes something; it is past due when that is of older invoices."""
    owed = await accounts.balance(context.db, context.account_id)
    if owed <= 0:
        return []
    late = await is_past_due(context.db, context.account_id, context.clock.now())
    return [
        {
            "entity": {"id": None, "label": None, "type": "account", "url": ACCOUNT_KIND.url()},
            "label": "Payment past due" if late else "Payment due",
            "message": f"Your account owes ${owed:.2f}. Please make a payment.",
            "body": None,
            "type": "payment_due",
            "severity": "critical" if late else "major",
            "when": None,
            "until": None,
        }
    ]
