"""The rules of firewalls as pure functions, and what the kernel is given for them."""

import pytest
from pydantic_core import PydanticCustomError

from roost.engines.qemu.network.compiled import MOST_RULES, compiled, merged, networks_of
from roost.resources.firewalls.engine import Rule, RuleSet
from roost.resources.firewalls.records import rule_set
from roost.resources.firewalls.rules import (
    check_ipv4,
    check_ipv6,
    filtered_addresses,
    parse_ports,
)

PORTS = "Must be ports from 1 to 65535 and ranges of them, with commas between"
MANY = "Must have at most 15 ports, of which a range counts as two"
ORDER = "The end of a range of ports must be greater than its start"


@pytest.mark.spec("B firewall rule ports", "B firewall rule port", "B limits firewall ports")
@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("", []),
        ("1", [(1, 1)]),
        ("65535", [(65535, 65535)]),
        ("22,80", [(22, 22), (80, 80)]),
        ("22, 80", [(22, 22), (80, 80)]),
        ("8000-9000", [(8000, 9000)]),
        ("1-2, 3-4,5", [(1, 2), (3, 4), (5, 5)]),
        (",".join(["7"] * 15), [(7, 7)] * 15),
        (",".join(["7-8"] * 7 + ["9"]), [(7, 8)] * 7 + [(9, 9)]),
    ],
)
def test_ports(text: str, ports: list[tuple[int, int]]) -> None:
    assert parse_ports(text) == ports


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, PORTS) for text in ("0", "022", "65536", "99999", "-1", "1-", "a", " 1", "1 ")),
        *((text, PORTS) for text in ("1,", ",1", "1,  2", "1 -2", "1-2-3", "1;2", "\u0661", "1\n")),
        *((text, PORTS) for text in ("0-5", "5-65536", "5-06")),
        *((text, ORDER) for text in ("5-5", "6-5")),
        (",".join(["7"] * 16), MANY),
        (",".join(["7-8"] * 8), MANY),
    ],
)
def test_ports_that_are_none(text: str, reason: str) -> None:
    with pytest.raises(PydanticCustomError) as refused:
        parse_ports(text)
    assert refused.value.message() == reason


@pytest.mark.spec("B firewall rule address")
@pytest.mark.parametrize(
    "network", ["0.0.0.0/0", "10.1.2.3/8", "255.255.255.255/32", "192.0.2.0/24"]
)
def test_ipv4(network: str) -> None:
    assert check_ipv4(network) == network


@pytest.mark.parametrize("network", ["::/0", "2001:db8::1/64", "FE80::/10"])
def test_ipv6(network: str) -> None:
    assert check_ipv6(network) == network


@pytest.mark.parametrize("network", ["::ffff:1.2.3.4/128", "::FFFF:102:304/120", "::ffff:0:0/96"])
def test_addresses_that_no_packet_has(network: str) -> None:
    with pytest.raises(PydanticCustomError, match="Must be an IPv4 address itself"):
        check_ipv6(network)


@pytest.mark.parametrize(
    "network",
    [
        *("", "/", "10.0.0.1", "10.0.0.1/", "10.0.0.1/33", "10.0.0.1/08", "10.0.0.1/-1"),
        *("10.0.0/8", "010.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.0/8/8", " 10.0.0.0/8"),
        *("10.0.0.0/8\n", "::/129", "fe80::1%eth0/64", "2001:db8::/64 ", ":::/0", "\0/0", "é/0"),
    ],
)
def test_addresses_that_are_none(network: str) -> None:
    for check in (check_ipv4, check_ipv6):
        with pytest.raises(PydanticCustomError):
            check(network)


@pytest.mark.spec("B networking 1 interfaces")
def test_all_addresses_of_an_instance() -> None:
    found = filtered_addresses(["192.0.2.1", "192.168.128.7"], "2001:DB8:0::1/128")
    assert found == {"192.0.2.1", "192.168.128.7", "2001:db8::1"}
    assert filtered_addresses([], None) == frozenset()


def test_stored_rules() -> None:
    column = """{"inbound": [{"protocol": "TCP", "ports": "22, 80-81", "action": "ACCEPT",
        "addresses": {"ipv4": ["10.0.0.0/8"], "ipv6": ["::/0"]}}], "inbound_policy": "DROP",
        "outbound": [{"protocol": "ICMP", "action": "DROP", "addresses": {"ipv6": ["::/0"]}}],
        "outbound_policy": "ACCEPT"}"""
    tcp = Rule("ACCEPT", "TCP", ((22, 22), (80, 81)), ("10.0.0.0/8", "::/0"))
    icmp = Rule("DROP", "ICMP", (), ("::/0",))
    assert rule_set(column) == RuleSet((tcp,), "DROP", (icmp,), "ACCEPT")


def test_rules_that_differ_have_other_digests() -> None:
    base = RuleSet((), "DROP", (), "ACCEPT")
    rule = Rule("ACCEPT", "TCP", ((1, 2),), ("::/0",))
    others = (
        RuleSet((), "ACCEPT", (), "ACCEPT"),
        RuleSet((rule,), "DROP", (), "ACCEPT"),
        RuleSet((), "DROP", (rule,), "ACCEPT"),
        RuleSet((rule, rule), "DROP", (), "ACCEPT"),
    )
    assert len({each.digest for each in (base, *others)}) == 5
    assert RuleSet((), "DROP", (), "ACCEPT").digest == base.digest


def test_ranges_are_sorted_and_joined() -> None:
    assert merged([(5, 6), (1, 2), (3, 3), (6, 9), (20, 20)]) == [(1, 3), (5, 9), (20, 20)]
    assert networks_of(("10.0.0.1/32", "10.0.0.0/32", "::/0"), 4) == [(0x0A000000, 0x0A000001)]
    assert networks_of(("10.0.0.9/8", "::1/127"), 6) == [(0, 1)]
    assert networks_of(("0.0.0.0/0", "10.0.0.0/8"), 4) == [(0, 2**32 - 1)]


@pytest.mark.parametrize(
    ("ports", "networks", "rules", "sets"),
    [
        (0, 1, 1, 0),
        (1, MOST_RULES, MOST_RULES, 0),
        (2, 4, MOST_RULES, 0),
        (1, MOST_RULES + 1, 1, 1),
        (2, 100, 2, 1),
        (15, 1, 1, 1),
        (15, 100, 1, 2),
    ],
)
def test_long_lists_are_sets(ports: int, networks: int, rules: int, sets: int) -> None:
    rule = Rule(
        "ACCEPT",
        "TCP",
        tuple((10 * n + 1, 10 * n + 1) for n in range(ports)),
        tuple(f"10.{2 * n}.0.0/16" for n in range(networks)),
    )
    found = compiled(7, RuleSet((rule, rule), "DROP", (), "ACCEPT"), "1")
    assert len(found.chains["fw7_in4"]) == 2 * rules + 2
    assert [len(found.chains[f"fw7_{name}"]) for name in ("in6", "out4", "out6")] == [2, 2, 2]
    assert len(found.sets) == 2 * sets
