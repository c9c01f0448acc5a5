"""What users of a suspended account should know."""

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.core.suspensions import SUSPENDED
from roost.resources.account.entity import ACCOUNT_KIND
from roost.resources.suspension import queries


async def suspended(context: Context) -> list[NotificationRow]:
    facts = await queries.find(context.db, context.account_id)
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
