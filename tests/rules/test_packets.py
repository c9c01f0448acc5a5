"""The way of a packet, decided from facts alone (docs/firewalls.md)."""

from dataclasses import replace
from ipaddress import IPv4Network

import pytest

from roost.resources.firewalls.engine import Rule, RuleSet
from roost.resources.firewalls.packets.records import PacketStepRow
from roost.resources.firewalls.packets.rules import Guard, Guest, Packet, path

OPEN = RuleSet((), "ACCEPT", (), "ACCEPT")
STRANGER = "203.0.113.9"
GUEST = Guest(
    1,
    "web",
    "us-lake",
    "running",
    frozenset({"192.0.2.10", "192.168.130.5", "2001:db8::10", "2001:db8:5::/64"}),
    mail_restricted=False,
    private=(IPv4Network("192.168.128.0/17"),),
    public=(IPv4Network("192.0.2.0/24"),),
    firewall=None,
)
PEER = replace(GUEST, id=2, label="db", addresses=frozenset({"192.0.2.11", "192.168.130.6"}))


def guard(*inbound: Rule, policy: str = "DROP", outbound: tuple[Rule, ...] = ()) -> Guard:
    rules = RuleSet(inbound, "DROP" if policy == "DROP" else "ACCEPT", outbound, "ACCEPT")
    labels = tuple(f"rule{number}" for number, _ in enumerate(inbound, start=1))
    return Guard(7, "guard", rules, {"inbound": labels, "outbound": (None,) * len(outbound)})


def rule(action: str = "ACCEPT", first: int = 22, last: int = 22, network: str = "::/0") -> Rule:
    return Rule("DROP" if action == "DROP" else "ACCEPT", "TCP", ((first, last),), (network,))


def tcp(source: str, destination: str, port: int = 22) -> Packet:
    return Packet(source, destination, "TCP", port)


def last(packet: Packet, sender: Guest | None, receiver: Guest | None) -> PacketStepRow:
    """The step that decides; those before it have passed."""
    *before, step = path(packet, sender, receiver)
    assert all(each["passes"] for each in before)
    return step


def test_who_looks_at_it_in_order() -> None:
    steps = path(tcp("192.0.2.10", "192.0.2.11"), GUEST, PEER)
    stages = [step["stage"] for step in steps]
    assert stages == ["source", "spoofing", "outbound", "route", "destination", "inbound"]
    assert all(step["passes"] for step in steps)
    inward = path(tcp(STRANGER, "192.0.2.10"), None, GUEST)
    assert [step["stage"] for step in inward] == ["source", "route", "destination", "inbound"]
    assert inward[0]["entity"] is None


@pytest.mark.parametrize(
    ("port", "position", "label", "passes"),
    [(22, 1, "rule1", True), (23, 2, "rule2", False), (24, None, None, False)],
)
def test_the_first_rule_that_matches_or_the_policy(
    port: int, position: int | None, label: str | None, passes: bool
) -> None:
    network = "203.0.113.0/24"
    rules = rule(network=network), rule("DROP", 20, 23, network)
    guest = replace(GUEST, firewall=guard(*rules))
    step = last(tcp(STRANGER, "192.0.2.10", port), None, guest)
    assert (step["stage"], step["passes"]) == ("inbound", passes)
    found = step["rule"]
    assert (found and found["position"]) == position
    assert (found and found["label"]) == label
    assert step["entity"] is not None
    assert step["entity"]["type"] == "firewall"
    if position is None:
        assert step["reason"] == "No inbound rule of firewall guard matches; its policy drops it."


def test_what_the_senders_firewall_drops_goes_no_further() -> None:
    guest = replace(GUEST, firewall=guard(outbound=(rule("DROP", network="0.0.0.0/0"),)))
    step = last(tcp("192.0.2.10", "192.0.2.11"), guest, PEER)
    assert (step["stage"], step["passes"]) == ("outbound", False)
    assert step["rule"] == {"direction": "outbound", "position": 1, "label": None, "action": "DROP"}


@pytest.mark.parametrize(
    ("source", "passes"),
    [
        ("192.0.2.10", True),
        ("192.0.2.11", False),
        ("2001:db8::10", True),
        ("2001:db8:5::77", True),
        ("2001:db8:6::77", False),
    ],
)
def test_a_guest_sends_from_its_own_addresses(source: str, passes: bool) -> None:
    destination = "2001:db8:ff::1" if ":" in source else STRANGER
    step = next(s for s in path(tcp(source, destination), GUEST, None) if s["stage"] == "spoofing")
    assert step["passes"] is passes


@pytest.mark.parametrize("port", [25, 465, 587])
def test_mail_of_new_accounts(port: int) -> None:
    packet, guest = tcp("192.0.2.10", STRANGER, port), replace(GUEST, mail_restricted=True)
    assert last(packet, guest, None)["stage"] == "mail"
    assert last(packet, GUEST, None)["passes"]
    assert last(replace(packet, protocol="UDP"), guest, None)["passes"]


@pytest.mark.parametrize("status", ["offline", "booting", "rebuilding"])
def test_an_end_that_does_not_run(status: str) -> None:
    off = replace(PEER, status=status)
    packet = tcp("192.0.2.10", "192.0.2.11")
    assert last(packet, GUEST, off)["reason"] == f"Compute db is {status}."
    assert last(tcp("192.0.2.11", "192.0.2.10"), off, GUEST)["stage"] == "source"


@pytest.mark.parametrize(
    ("source", "destination", "sender", "receiver", "reason"),
    [
        ("192.168.130.5", "192.168.130.6", GUEST, PEER, None),
        ("192.168.130.5", "192.168.130.99", GUEST, None, None),
        ("192.168.130.99", "192.168.130.6", None, PEER, None),
        ("192.168.130.5", "192.0.2.200", GUEST, None, None),
        ("192.168.130.5", STRANGER, GUEST, None, "is private: nothing"),
        (STRANGER, "192.168.130.6", None, PEER, "is private: it is reached"),
        ("192.0.2.10", "10.1.2.3", GUEST, None, "No route"),
        ("192.0.2.10", "169.254.169.253", GUEST, None, "No route"),
        ("2001:db8::10", "fe80::1", GUEST, None, "No route"),
        ("192.0.2.10", "192.168.130.6", GUEST, replace(PEER, region="br-south"), "is private"),
    ],
)
def test_where_routes_lead(
    source: str,
    destination: str,
    sender: Guest | None,
    receiver: Guest | None,
    reason: str | None,
) -> None:
    steps = path(tcp(source, destination), sender, receiver)
    step = next(step for step in steps if step["stage"] == "route")
    assert step["passes"] is (reason is None)
    assert (reason or "is reached by the region's router") in step["reason"]
