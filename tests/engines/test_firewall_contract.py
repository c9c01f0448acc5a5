"""What every engine for firewalls owes its callers: the right packets pass, and no others."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator
from ipaddress import ip_address, ip_network

import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from roost.core.engine import EngineError
from roost.engines.simulated.firewalls import Packet
from roost.resources.firewalls.engine import (
    Action,
    FirewallSpec,
    Rule,
    RuleSet,
    TransportProtocol,
)
from tests.engines.firewall_harness import (
    CONNECTIONS,
    RANGES,
    FirewallHarness,
    NftablesHarness,
    open_harness,
)

_REAL = pytest.param("nftables", marks=pytest.mark.qemu)
ids = itertools.count(100_001)

EVERYTHING = ("0.0.0.0/0", "::/0")
PORTS = (22, 23, 80, 8000, 8500, 9000, 9001, 65535)
PROTOCOLS: tuple[TransportProtocol | None, ...] = ("TCP", "UDP", "ICMP", "IPENCAP", None)


@pytest_asyncio.fixture(scope="module", params=["simulated", _REAL])
async def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[FirewallHarness]:
    harness = await open_harness(request.param, tmp_path_factory.mktemp("firewalls"))
    yield harness
    await harness.close()


@pytest_asyncio.fixture(autouse=True)
async def nothing_left(harness: FirewallHarness) -> AsyncIterator[None]:
    yield
    await clear(harness)


async def clear(harness: FirewallHarness) -> None:
    for state in await harness.engine.list():
        await harness.engine.remove(state.id)
    assert await harness.engine.list() == []


def rule(action: Action = "ACCEPT", protocol: TransportProtocol = "TCP", **changes: object) -> Rule:
    ports = changes.get("ports", ((22, 22),))
    networks = changes.get("networks", EVERYTHING)
    assert isinstance(ports, tuple)
    assert isinstance(networks, tuple)
    return Rule(action, protocol, ports if protocol in ("TCP", "UDP") else (), networks)


def rule_set(
    *inbound: Rule, policy: Action = "DROP", outbound: tuple[Rule, ...] = (), out: Action = "ACCEPT"
) -> RuleSet:
    return RuleSet(inbound, policy, outbound, out)


def before_all(harness: FirewallHarness, rules: RuleSet) -> FirewallSpec:
    return FirewallSpec(next(ids), rules, frozenset(harness.own))


def packets(
    harness: FirewallHarness, protocol: TransportProtocol | None, port: int | None = None
) -> list[Packet]:
    """To the guest, of both families."""
    pairs = ((harness.others[0], harness.own[0]), (harness.others[-1], harness.own[-1]))
    return [Packet(source, target, protocol, port) for source, target in pairs]


async def all_pass(harness: FirewallHarness, wanted: list[Packet]) -> bool:
    """Whether all of them do; it must not be some of them."""
    found = {await harness.passes(packet) for packet in wanted}
    assert len(found) == 1
    return found.pop()


def decide(rules: tuple[Rule, ...], policy: Action, packet: Packet, other: str) -> Action:
    """The reference: the first rule that matches, or else the policy."""
    for each in rules:
        around = [ip_network(network, strict=False) for network in each.networks]
        if (
            each.protocol == packet.protocol
            and any(ip_address(other) in network for network in around)
            and (
                not each.ports
                or any(packet.port in range(first, last + 1) for first, last in each.ports)
            )
        ):
            return each.action
    return policy


def model(firewalls: list[FirewallSpec], packet: Packet) -> bool:
    """Whether both ends let it pass."""
    verdicts = list[Action]()
    for each in firewalls:
        rules = each.rules
        if packet.source in each.addresses:
            verdicts.append(decide(rules.outbound, rules.outbound_policy, packet, packet.target))
        if packet.target in each.addresses:
            verdicts.append(decide(rules.inbound, rules.inbound_policy, packet, packet.source))
    return "DROP" not in verdicts


async def test_all_pass_without_a_firewall(harness: FirewallHarness) -> None:
    for protocol in PROTOCOLS:
        assert await all_pass(harness, packets(harness, protocol, 22))


@pytest.mark.story
async def test_policies(harness: FirewallHarness) -> None:
    firewall = before_all(harness, rule_set())
    await harness.engine.apply(firewall)
    for protocol in PROTOCOLS:
        assert not await all_pass(harness, packets(harness, protocol, 22))
    out = [Packet(p.target, p.source, "TCP", 22) for p in packets(harness, "TCP")]
    assert await all_pass(harness, out)
    await harness.engine.apply(
        FirewallSpec(firewall.id, rule_set(policy="ACCEPT", out="DROP"), firewall.addresses)
    )
    assert await all_pass(harness, packets(harness, "TCP", 22))
    assert not await all_pass(harness, out)


@pytest.mark.spec("B firewall order", "B firewall rule action first")
async def test_the_first_match_wins(harness: FirewallHarness) -> None:
    rules = rule_set(
        rule("DROP", ports=((22, 22),)), rule(ports=((20, 30),)), rule("DROP", ports=((25, 25),))
    )
    await harness.engine.apply(before_all(harness, rules))
    found = {port: await all_pass(harness, packets(harness, "TCP", port)) for port in (22, 25, 31)}
    assert found == {22: False, 25: True, 31: False}
    assert not await all_pass(harness, packets(harness, "UDP", 25))


@pytest.mark.spec("B firewall rule protocol")
@pytest.mark.parametrize("protocol", ["TCP", "UDP", "ICMP", "IPENCAP"])
async def test_protocols(harness: FirewallHarness, protocol: TransportProtocol) -> None:
    await harness.engine.apply(before_all(harness, rule_set(rule(protocol=protocol, ports=()))))
    passed = [each for each in PROTOCOLS if await all_pass(harness, packets(harness, each, 22))]
    assert passed == [protocol]


@pytest.mark.spec("B firewall rule address")
async def test_networks_of_one_family_say_nothing_of_the_other(harness: FirewallHarness) -> None:
    rules = rule_set(rule(networks=(f"{harness.others[0]}/24",)))
    await harness.engine.apply(before_all(harness, rules))
    found = [await harness.passes(packet) for packet in packets(harness, "TCP", 22)]
    assert found == [True, False]


@pytest.mark.spec("B networking 1 services")
async def test_addresses_move_between_firewalls(harness: FirewallHarness) -> None:
    one = before_all(harness, rule_set())
    await harness.engine.apply(one)
    two = FirewallSpec(next(ids), rule_set(policy="ACCEPT"), frozenset(harness.own[:1]))
    await harness.engine.apply(two)
    held = {state.id: state.addresses for state in await harness.engine.list()}
    assert held == {one.id: one.addresses - two.addresses, two.id: two.addresses}
    source = harness.others[0]
    assert await harness.passes(Packet(source, harness.own[0], "UDP", 9))
    assert not await harness.passes(Packet(source, harness.own[1], "UDP", 9))
    await harness.engine.remove(two.id)
    await harness.engine.remove(two.id)
    assert await harness.passes(Packet(source, harness.own[0], "UDP", 9))
    await harness.engine.apply(one)
    assert [state.fits(one) for state in await harness.engine.list()] == [True]


async def test_ranges_are_filtered(harness: FirewallHarness) -> None:
    """All addresses in them, like those that a guest has itself."""
    targets = [str(network[7]) for network in RANGES]
    for network, (target, source) in zip(RANGES, (targets, targets[::-1]), strict=True):
        web, ssh = Packet(source, target, "TCP", 80), Packet(source, target, "TCP", 22)
        assert await harness.passes(web)
        firewall = FirewallSpec(next(ids), rule_set(rule()), frozenset({str(network)}))
        await harness.engine.apply(firewall)
        assert await harness.passes(ssh)
        assert not await harness.passes(web)
        assert await harness.passes(Packet(target, source, "TCP", 80))
        found = await harness.engine.inspect(firewall.id)
        assert found is not None
        assert found.fits(firewall)
        closed = FirewallSpec(firewall.id, rule_set(out="DROP"), firewall.addresses)
        await harness.engine.apply(closed)
        assert not await harness.passes(Packet(target, source, "TCP", 80))
        await harness.engine.remove(firewall.id)
        assert await harness.passes(web)


async def test_both_ends_must_agree(harness: FirewallHarness) -> None:
    await harness.engine.apply(before_all(harness, rule_set(rule(ports=((22, 80),)))))
    rules = rule_set(out="DROP", outbound=(rule(ports=((80, 90),)),))
    await harness.engine.apply(FirewallSpec(next(ids), rules, frozenset(harness.others)))
    ports = (22, 80, 90)
    found = [await all_pass(harness, packets(harness, "TCP", port)) for port in ports]
    assert found == [False, True, False]


async def test_a_connection_lives_as_long_as_its_rules(harness: FirewallHarness) -> None:
    (packet, _) = packets(harness, "UDP", 9)
    opened = rule_set(rule(protocol="UDP", ports=((9, 9),)), out="DROP")
    firewall = before_all(harness, opened)
    await harness.engine.apply(firewall)
    assert await harness.answered(packet)
    await harness.engine.apply(FirewallSpec(firewall.id, rule_set(), firewall.addresses))
    assert not await harness.answered(packet)
    await harness.engine.apply(firewall)
    assert await harness.answered(packet)


async def test_what_is_there_can_be_seen(harness: FirewallHarness) -> None:
    firewall = before_all(harness, rule_set(rule()))
    for _ in range(2):
        await harness.engine.apply(firewall)
        (state,) = await harness.reopen().list()
        assert state.fits(firewall)
    await harness.tamper(firewall.id)
    assert not any(state.fits(firewall) for state in await harness.engine.list())
    await harness.engine.apply(firewall)
    assert [state.fits(firewall) for state in await harness.engine.list()] == [True]


async def test_no_addresses_are_a_fault(harness: FirewallHarness) -> None:
    with pytest.raises(EngineError, match="without addresses"):
        await harness.engine.apply(FirewallSpec(next(ids), rule_set(), frozenset()))


@pytest.mark.spec(
    "B limits firewall rules", "B limits firewall addresses", "B limits firewall ports"
)
async def test_the_longest_rules(harness: FirewallHarness) -> None:
    """Each address and port of the last rule is found, behind 24 that match nothing."""
    ports = tuple((port, port) for port in range(1000, 1030, 2))
    far = tuple(f"10.{n}.{n}.0/25" for n in range(127)) + tuple(
        f"2001:db9:{n:x}::/48" for n in range(127)
    )
    last = (*far, f"{harness.others[1]}/32")
    fill = [rule("DROP", ports=ports, networks=far)] * 24
    await harness.engine.apply(
        before_all(harness, rule_set(*fill, rule(ports=ports, networks=last)))
    )
    for port in (1000, 1014, 1028):
        assert await harness.passes(Packet(harness.others[1], harness.own[0], "TCP", port))
        assert not await harness.passes(Packet(harness.others[1], harness.own[0], "TCP", port + 1))
        assert not await harness.passes(Packet(harness.others[0], harness.own[0], "TCP", port))


@st.composite
def _networks(draw: st.DrawFn) -> tuple[str, ...]:
    """Around the guests' addresses, which are told by number, and elsewhere."""
    near = st.tuples(st.integers(0, 7), st.sampled_from((0, 8, 23, 24, 25, 28, 31, 32)))
    found = draw(st.lists(near, min_size=1, max_size=4))
    far = draw(st.integers(0, 12))
    more = [f"10.{n}.0.0/17" for n in range(far)] + [f"2001:db9:{n}::/64" for n in range(far)]
    return (*(f"{index}/{mask}" for index, mask in found), *more)


def _near(networks: tuple[str, ...], addresses: tuple[str, ...]) -> tuple[str, ...]:
    """The numbers replaced by addresses."""
    return tuple(
        _named(network, addresses) if network[0] in "01234567" and network[1] == "/" else network
        for network in networks
    )


def _named(network: str, addresses: tuple[str, ...]) -> str:
    index, _, mask = network.partition("/")
    address = addresses[int(index)]
    return f"{address}/{int(mask) * 4 if ':' in address else mask}"


_ports = st.lists(
    st.one_of(
        st.sampled_from(PORTS).map(lambda port: (port, port)),
        st.just((20, 25)),
        st.just((8000, 9000)),
        st.integers(1000, 1100).map(lambda port: (port, port)),
    ),
    max_size=12,
).map(tuple)
_actions: st.SearchStrategy[Action] = st.sampled_from(("ACCEPT", "DROP"))
_rules = st.lists(
    st.builds(
        lambda action, protocol, ports, networks: rule(
            action, protocol, ports=ports, networks=networks
        ),
        _actions,
        st.sampled_from(("TCP", "UDP", "ICMP", "IPENCAP")),
        _ports,
        _networks(),
    ),
    max_size=6,
).map(tuple)
_rule_sets = st.builds(RuleSet, _rules, _actions, _rules, _actions)
_PACKETS = 40
"""Of each example."""
_ALL_PACKETS = int(os.environ.get("ROOST_TEST_PACKETS", "2400"))
_REPLACEMENTS = int(os.environ.get("ROOST_TEST_REPLACEMENTS", "100"))

_packets = st.lists(
    st.tuples(
        st.booleans(),
        st.integers(0, 2),
        st.integers(0, 2),
        st.booleans(),
        st.sampled_from(PROTOCOLS),
        st.sampled_from(PORTS),
    ),
    min_size=_PACKETS,
    max_size=_PACKETS,
)


def _placed(rules: RuleSet, addresses: tuple[str, ...]) -> RuleSet:
    def placed(listed: tuple[Rule, ...]) -> tuple[Rule, ...]:
        return tuple(
            Rule(each.action, each.protocol, each.ports, _near(each.networks, addresses))
            for each in listed
        )

    return RuleSet(
        placed(rules.inbound), rules.inbound_policy, placed(rules.outbound), rules.outbound_policy
    )


@settings(max_examples=_ALL_PACKETS // _PACKETS)
@given(first=_rule_sets, second=_rule_sets, drawn=_packets)
async def test_engines_agree_with_the_model(
    harness: FirewallHarness,
    first: RuleSet,
    second: RuleSet,
    drawn: list[tuple[bool, int, int, bool, TransportProtocol | None, int]],
) -> None:
    everyone = (*harness.own, *harness.others)
    firewalls = [
        FirewallSpec(next(ids), _placed(first, everyone), frozenset(harness.own)),
        FirewallSpec(next(ids), _placed(second, everyone), frozenset(harness.others[1:])),
    ]
    for firewall in firewalls:
        await harness.engine.apply(firewall)
    sent = list[Packet]()
    for turned, source, target, is_v6, protocol, port in drawn:
        ends = (harness.others[-1 if is_v6 else source], harness.own[-1 if is_v6 else target])
        ends = (ends[1], ends[0]) if turned else ends
        sent.append(Packet(*ends, protocol, port if protocol in ("TCP", "UDP") else None))
    for packet, passed in zip(sent, await harness.passing(sent), strict=True):
        assert passed is model(firewalls, packet), packet
    await clear(harness)


async def test_no_packet_meets_half_of_a_change(harness: FirewallHarness) -> None:
    """What both rule sets allow is never lost, and what both forbid never passes."""
    far = tuple(f"10.{n}.0.0/24" for n in range(100))
    one = rule_set(rule(networks=(*far, f"{harness.others[0]}/32")))
    two = rule_set(
        rule("DROP", networks=far),
        rule(ports=((20, 22),), networks=(f"{harness.others[0]}/31", *far)),
    )
    firewall = before_all(harness, one)
    await harness.engine.apply(firewall)

    async def replace() -> None:
        for number, rules in enumerate(itertools.cycle((two, one))):
            if number >= _REPLACEMENTS and sent > 100:
                return
            await harness.engine.apply(FirewallSpec(firewall.id, rules, firewall.addresses))

    sent = lost = leaked = 0
    task = asyncio.create_task(replace())
    allowed = Packet(harness.others[0], harness.own[0], "TCP", 22)
    forbidden = Packet(harness.others[0], harness.own[0], "TCP", 23)
    while not task.done():
        for _ in range(20):
            sent += 1
            lost += not await _passes(harness, allowed, sent)
            leaked += await _passes(harness, forbidden, sent)
        await asyncio.sleep(0)
    await task
    assert (lost, leaked) == (0, 0)


async def _passes(harness: FirewallHarness, packet: Packet, number: int) -> bool:
    """As a connection of its own, with the former ones remembered."""
    if isinstance(harness, NftablesHarness):
        return harness.gets(packet, 1024 + number % CONNECTIONS)
    return await harness.passes(packet)
