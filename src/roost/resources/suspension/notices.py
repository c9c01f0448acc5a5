"""What users of a suspended account should know."""

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.core.suspensions import SUSPENDED
from roost.resources.account import suspension_queries as accounts
from roost.resources.account.queries import ACCOUNT_KIND


async def suspended(context: Context) -> list[NotificationRow]:
    facts = await accounts.find(context.db, context.account_id)
    if facts is None or not facts.suspended:
        return []
    return [
        {
            "entity": {"id": None, "label": None, "type": "account", "url": ACCOUNT_KIND.url()},
            "label": "Account suspended",
            "message": SUSPENDED,
            "body": facts.reason,
            "type": "notice",
            "severity": "critical",
            "when": None,
            "until": None,
        }
    ]
