"""What users are told of instances that use more than they are meant to."""

from collections.abc import Iterator
from datetime import date

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.compute import totals_queries as totals
from roost.resources.compute.queries import COMPUTE
from roost.resources.compute.totals_queries import Watched
from roost.resources.usage import queries
from roost.resources.usage.alert_rules import SPAN, Exceeded, exceeded
from roost.resources.usage.rules import Amounts


async def alerts(context: Context) -> list[NotificationRow]:
    """An instance exceeds an alert of its own."""
    db, account_id, now = context.db, context.account_id, context.clock.now()
    instances = await totals.watched(db, account_id, context.grantee, now)
    if not instances:
        return []
    used = await queries.used_since(db, [each.id for each in instances], now - SPAN)
    sent = await queries.sent_in(db, account_id, date(now.year, now.month, 1))
    return [
        row
        for each in instances
        for row in _rows(each, used.get(each.id, Amounts()), sent.get(each.id, 0))
    ]


def _rows(instance: Watched, used: Amounts, sent: int) -> Iterator[NotificationRow]:
    for each in exceeded(used, sent, instance.quota, instance.alerts):
        yield _row(instance, each)


def _row(instance: Watched, alert: Exceeded) -> NotificationRow:
    return {
        "entity": {
            "id": instance.id,
            "label": instance.label,
            "type": "compute",
            "url": COMPUTE.url(instance.id),
        },
        "label": f"Alert: {alert.title}",
        "message": f"{instance.label} {alert.message}",
        "body": None,
        "type": "notice",
        "severity": "minor",
        "when": None,
        "until": None,
    }
