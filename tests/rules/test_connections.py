"""Who has a place among the connections, and whom an address counts as."""

import pytest

from roost.web.connections import Connections, Networks, origin


class Held:
    """A connection that remembers whether it was ended."""

    def __init__(self) -> None:
        self.dropped = False

    def drop(self) -> None:
        self.dropped = True


def enter(connections: Connections, address: str) -> Held | None:
    held = Held()
    return held if connections.enter(held, address) else None


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("local", "local"),
        ("no:address", "no:address"),
    ],
)
def test_an_ipv6_network_is_one_stranger(address: str, wanted: str) -> None:
    assert origin(address) == wanted


@pytest.mark.parametrize(
    ("names", "inside", "outside"),
    [
        ("127.0.0.0/8, ::1", ["127.1.2.3", "::1", "::ffff:127.0.0.1"], ["::2", "10.0.0.1", "x"]),
        ("10.0.0.5", ["10.0.0.5"], ["10.0.0.6", ""]),
        ("*", ["10.0.0.5", "2001:db8::1"], ["local"]),
        ("", [], ["127.0.0.1"]),
    ],
)
def test_networks(names: str, inside: list[str], outside: list[str]) -> None:
    networks = Networks(names)
    assert [address for address in (*inside, *outside) if address in networks] == inside


def test_whoever_waits_longest_makes_room() -> None:
    connections = Connections(100, 3, Networks(""))
    first, second, third = (enter(connections, "203.0.113.1") for _ in range(3))
    assert first is not None
    connections.begin(first)
    assert enter(connections, "203.0.113.1") is not None
    assert second is not None
    assert (first.dropped, second.dropped) == (False, True)
    connections.end(first)
    assert enter(connections, "203.0.113.1") is not None
    assert third is not None
    assert (first.dropped, third.dropped) == (False, True)
    assert len(connections) == 3


def test_an_address_is_refused_when_all_its_connections_are_at_work() -> None:
    connections = Connections(100, 2, Networks(""))
    held = [enter(connections, f"2001:db8::{n}") for n in range(2)]
    for each in held:
        assert each is not None
        connections.begin(each)
    assert enter(connections, "2001:db8::9") is None
    assert enter(connections, "2001:db8:0:1::9") is not None
    assert held[0] is not None
    connections.leave(held[0])
    assert enter(connections, "2001:db8::9") is not None


def test_a_proxy_has_no_bound_of_its_own() -> None:
    connections = Connections(10, 2, Networks("10.0.0.0/8"))
    held = [enter(connections, "10.0.0.1") for _ in range(10)]
    assert not any(each is None or each.dropped for each in held)


def test_who_holds_most_makes_room_for_others() -> None:
    connections = Connections(10, 8, Networks(""))
    few = [enter(connections, "203.0.113.1") for _ in range(3)]
    many = [enter(connections, "203.0.113.2") for _ in range(7)]
    assert all(enter(connections, f"198.51.100.{n}") for n in range(4))
    assert not any(each is None or each.dropped for each in few)
    assert [each is not None and each.dropped for each in many] == [True] * 4 + [False] * 3
    assert len(connections) == 10


def test_nobody_is_ended_for_a_connection_that_has_left() -> None:
    connections = Connections(1, 1, Networks(""))
    first = enter(connections, "203.0.113.1")
    assert first is not None
    connections.leave(first)
    connections.leave(first)
    connections.end(first)
    assert enter(connections, "203.0.113.2") is not None
    assert not first.dropped
