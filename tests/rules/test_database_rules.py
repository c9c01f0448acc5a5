"""The rules of managed databases as tables."""

from datetime import datetime

import pytest
from pydantic_core import PydanticCustomError

from roost.resources.databases import rules
from roost.resources.databases.bodies import Updates
from roost.resources.databases.engine import temporary_room


@pytest.mark.spec("A database allow_list 5")
@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("192.0.2.1", "192.0.2.1/32"),
        ("192.0.2.0/24", "192.0.2.0/24"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("2001:db8::1", "2001:db8::1/128"),
        ("2001:DB8:0::/48", "2001:db8::/48"),
        ("::/0", "::/0"),
    ],
)
def test_networks_get_their_usual_form(sent: str, shown: str) -> None:
    assert rules.check_network(sent) == shown


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "x",
        "192.0.2.1/24",
        "192.0.2.0/33",
        "192.0.2.0/-1",
        "192.0.2",
        "192.0.2.256",
        "010.0.0.1",
        "fe80::1%eth0",
        "2001:db8::/129",
        " 192.0.2.1",
        "192.0.2.1\n",
        "192.0.2.1; drop",
        "1" * 10_000,
    ],
)
def test_what_is_no_network_is_refused(sent: str) -> None:
    with pytest.raises(PydanticCustomError, match="Must be an IPv4 or IPv6 address"):
        rules.check_network(sent)


@pytest.mark.parametrize("sent", ["::ffff:192.0.2.1", "::FFFF:c000:201/128", "::ffff:0:0/96"])
def test_addresses_that_no_packet_has_are_refused(sent: str) -> None:
    with pytest.raises(PydanticCustomError, match="Must be an IPv4 address itself"):
        rules.check_network(sent)
    assert rules.check_network("::/0") == "::/0"


def test_networks_are_sorted_and_named_once() -> None:
    sent = ["::1/128", "192.0.2.9/32", "10.0.0.0/8", "192.0.2.9/32", "10.0.0.0/16", "9.0.0.0/8"]
    assert rules.sort_networks(sent) == [
        "9.0.0.0/8",
        "10.0.0.0/8",
        "10.0.0.0/16",
        "192.0.2.9/32",
        "::1/128",
    ]


@pytest.mark.spec("A database replication")
@pytest.mark.parametrize(
    ("size", "wanted", "gets"),
    [
        (1, None, "none"),
        (1, "none", "none"),
        (1, "asynch", None),
        (1, "semi_synch", None),
        (3, None, "semi_synch"),
        (3, "none", None),
        (3, "asynch", "asynch"),
        (3, "semi_synch", "semi_synch"),
    ],
)
def test_replication_fits_the_cluster(size: int, wanted: str | None, gets: str | None) -> None:
    assert rules.replication_of(size, wanted) == gets


@pytest.mark.parametrize(
    ("now", "weekly", "second_week"),
    [
        (datetime(2030, 1, 7, 22), True, False),
        (datetime(2030, 1, 14, 22), True, True),
        (datetime(2030, 1, 14, 21, 59), False, False),
        (datetime(2030, 1, 15, 0, 59), True, True),
        (datetime(2030, 1, 15, 1), False, False),
        (datetime(2030, 1, 21, 23), True, False),
        (datetime(2030, 1, 16, 22), False, False),
    ],
)
def test_windows_open_by_the_clock(now: datetime, weekly: bool, second_week: bool) -> None:
    """Mondays at 22 for three hours, into Tuesday."""
    every = Updates(duration=3, hour_of_day=22, day_of_week=1)
    second = Updates(
        frequency="monthly", duration=3, hour_of_day=22, day_of_week=1, week_of_month=2
    )
    assert (rules.is_open(every, now), rules.is_open(second, now)) == (weekly, second_week)


@pytest.mark.parametrize(
    ("used", "full", "still_full"),
    [(949, False, False), (950, False, True), (999, False, True), (1000, True, True)],
)
def test_a_disk_is_full_until_a_twentieth_is_free(used: int, full: bool, still_full: bool) -> None:
    """An eighth of it is for temporary files."""
    disk = 1142
    assert disk - temporary_room(disk) == 1000
    assert (rules.is_full(used, disk), rules.is_full(used, disk, was_full=True)) == (
        full,
        still_full,
    )


def test_automatic_backups_are_named_by_their_time() -> None:
    label = rules.auto_label(datetime(2030, 1, 31, 0, 0), "abcdef12")
    assert label == "Scheduled - 01/31/30 00:00 UTC-abcdef"
