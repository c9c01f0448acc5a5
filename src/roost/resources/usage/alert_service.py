"""Which instances exceed their alerts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from roost.core.context import Context
from roost.core.notices import NotificationRow
from roost.resources.compute import totals_queries as totals
from roost.resources.compute.entity import COMPUTE
from roost.resources.compute.totals_queries import Watched
from roost.resources.usage import queries
from roost.resources.usage.alert_rules import SPAN, Exceeded, exceeded
from roost.resources.usage.rules import Amounts
from roost.store import Queries


@dataclass(frozen=True, slots=True)
class Found:
    """An instance, and one of its alerts that it exceeds."""

    instance: Watched
    alert: Exceeded

    @property
    def key(self) -> tuple[int, str]:
        return self.instance.id, self.alert.title

    @property
    def text(self) -> str:
        return f"{self.instance.label} {self.alert.message}"


async def find_alerts(
    db: Queries, account_id: int, grantee: int | None, now: datetime
) -> Sequence[Found]:
    """The alerts of an account now (UTC); a `grantee` sees those of what is granted to them."""
    instances = await totals.watched(db, account_id, grantee, now)
    if not instances:
        return []
    used = await queries.used_since(db, [each.id for each in instances], now - SPAN)
    sent = await queries.sent_in(db, account_id, date(now.year, now.month, 1))
    return [
        found
        for each in instances
        for found in _of_one(each, used.get(each.id, Amounts()), sent.get(each.id, 0))
    ]


def _of_one(instance: Watched, used: Amounts, sent: int) -> Iterator[Found]:
    for each in exceeded(used, sent, instance.quota, instance.alerts):
        yield Found(instance, each)


async def alerts(context: Context) -> list[NotificationRow]:
    """An instance exceeds an alert of its own."""
    now = context.clock.now()
    found = await find_alerts(context.db, context.account_id, context.grantee, now)
    return [_row(each) for each in found]


def _row(found: Found) -> NotificationRow:
    instance = found.instance
    return {
        "entity": {
            "id": instance.id,
            "label": instance.label,
            "type": "compute",
            "url": COMPUTE.url(instance.id),
        },
        "label": f"Alert: {found.alert.title}",
        "message": found.text,
        "body": None,
        "type": "notice",
        "severity": "minor",
        "when": None,
        "until": None,
    }
