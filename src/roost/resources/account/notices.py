"""What users should mend of their account."""

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.account import queries
from roost.resources.account.entity import ACCOUNT_KIND


async def missing_email(context: Context) -> list[NotificationRow]:
    """The account has no e-mail address."""
    if await queries.has_email(context.db, context.account_id):
        return []
    return [
        {
            "entity": {"id": None, "label": None, "type": "account", "url": ACCOUNT_KIND.url()},
            "label": "Email address missing",
            "message": "This account has no email address. Please add one.",
            "body": None,
            "type": "notice",
            "severity": "minor",
            "when": None,
            "until": None,
        }
    ]
