"""What instances exceed (spec B compute alerts units)."""

from dataclasses import replace

import pytest

from roost.resources.compute.records import Alerts
from roost.resources.usage.alert_rules import exceeded
from roost.resources.usage.rules import Amounts

pytestmark = pytest.mark.spec("B compute alerts units")

ALERTS: Alerts = {"cpu": 90, "io": 100, "network_in": 10, "network_out": 20, "transfer_quota": 80}
NONE: Alerts = {"cpu": 0, "io": 0, "network_in": 0, "network_out": 0, "transfer_quota": 0}
SPAN = 7200
MBIT = 125_000 * SPAN
"""Bytes of a megabit a second over two hours."""
QUOTA = 1000
AT = Amounts(
    cpu=0.9 * SPAN,
    io=60 * 4096 * SPAN,
    swap=40 * 4096 * SPAN,
    ipv4_in=5 * MBIT,
    private_in=2 * MBIT,
    ipv6_in=3 * MBIT,
    ipv4_out=10 * MBIT,
    private_out=4 * MBIT,
    ipv6_out=6 * MBIT,
)
"""Exactly what the alerts allow."""
TITLES = {
    "cpu": "CPU usage",
    "io": "Disk I/O rate",
    "swap": "Disk I/O rate",
    "ipv4_in": "Inbound traffic rate",
    "private_in": "Inbound traffic rate",
    "ipv6_in": "Inbound traffic rate",
    "ipv4_out": "Outbound traffic rate",
    "private_out": "Outbound traffic rate",
    "ipv6_out": "Outbound traffic rate",
}


def test_what_is_at_its_alert_does_not_exceed_it() -> None:
    assert list(exceeded(AT, 800 * 10**9, QUOTA, ALERTS)) == []


@pytest.mark.parametrize(("counter", "title"), TITLES.items())
def test_each_counter_is_part_of_one(counter: str, title: str) -> None:
    more = replace(AT, **{counter: getattr(AT, counter) + MBIT})
    assert [each.title for each in exceeded(more, 0, QUOTA, ALERTS)] == [title]


def test_the_quota_of_the_month() -> None:
    [found] = exceeded(Amounts(), 950 * 10**9, QUOTA, ALERTS)
    assert found.message == (
        "has sent 95 % of this month's transfer of its plan; the alert is at 80 %."
    )
    assert list(exceeded(Amounts(), 950 * 10**9, 0, ALERTS)) == []


def test_zero_switches_one_off() -> None:
    everything = Amounts(*(10**15,) * 9)
    assert len(list(exceeded(everything, 10**15, QUOTA, ALERTS))) == 5
    assert list(exceeded(everything, 10**15, QUOTA, NONE)) == []
