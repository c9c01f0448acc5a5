"""What users should know of their webhooks."""

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.webhooks import queries

WEBHOOKS_URL = "/v4/account/webhooks"


async def disabled(context: Context) -> list[NotificationRow]:
    """A webhook is told of nothing any more."""
    return [
        {
            "entity": {
                "id": None,
                "label": label,
                "type": "account",
                "url": WEBHOOKS_URL,
            },
            "label": "Webhook disabled",
            "message": f"The webhook {label} is disabled. Enable it to be told of what it missed.",
            "body": None,
            "type": "notice",
            "severity": "minor",
            "when": None,
            "until": None,
        }
        for label in await queries.disabled(context.db, context.account_id)
    ]
