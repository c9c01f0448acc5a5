"""What an account costs in a month, so far and at its end."""

from datetime import datetime, timedelta
from decimal import Decimal

from roost.core.billing.charges import LedgerRow
from roost.resources.billing.estimate_rules import estimate

START = datetime(2028, 2, 1)
"""Of a month of 29 days."""
NOW = START + timedelta(days=3, minutes=10)


def row(number: int, service: str, hours: float, hourly: str | None, *tags: str) -> LedgerRow:
    return LedgerRow(
        id=number,
        service=service,
        resource_id=hash(service) % 1000,
        at=START + timedelta(hours=hours),
        label="x",
        plan="",
        region="us-lake",
        quantity=1,
        hourly=None if hourly is None else Decimal(hourly),
        monthly=None if hourly is None else Decimal(10),
        tags=list(tags),
    )


def test_what_ended_what_began_before_and_what_is_to_end_later() -> None:
    rows = [
        row(1, "compute", 1, "0.5", "blue", "red"),
        row(2, "compute", 2.5, None, "blue", "red"),
        row(3, "blockstorage", -40, "0.001", "blue"),
        row(4, "backup", 71, "1"),
    ]
    assert estimate(rows, NOW, {"compute": "Instance"}) == {
        "from": "2028-02-01T00:00:00",
        "to": "2028-03-01T00:00:00",
        "so_far": 3.07,
        "at_end": 11.7,
        "services": [
            {"service": "backup", "label": "backup", "so_far": 2.0, "at_end": 10.0},
            {"service": "blockstorage", "label": "blockstorage", "so_far": 0.07, "at_end": 0.7},
            {"service": "compute", "label": "Instance", "so_far": 1.0, "at_end": 1.0},
        ],
        "tags": [
            {"tag": "blue", "so_far": 1.07, "at_end": 1.7},
            {"tag": "red", "so_far": 1.0, "at_end": 1.0},
        ],
    }


def test_nothing() -> None:
    found = estimate([], NOW, {})
    assert (found["so_far"], found["at_end"], found["services"], found["tags"]) == (0, 0, [], [])
