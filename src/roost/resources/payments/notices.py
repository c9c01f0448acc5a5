"""What users should pay."""

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.account import queries as accounts
from roost.resources.account.queries import ACCOUNT_KIND


async def payment_due(context: Context) -> list[NotificationRow]:
    """The account owes something."""
    owed = await accounts.balance(context.db, context.account_id)
    if owed <= 0:
        return []
    return [
        {
            "entity": {"id": None, "label": None, "type": "account", "url": ACCOUNT_KIND.url()},
            "label": "Payment due",
            "message": f"Your account owes ${owed:.2f}. Please make a payment.",
            "body": None,
            "type": "payment_due",
            "severity": "major",
            "when": None,
            "until": None,
        }
    ]
