"""Firewalls and counters of a real region without guests: what a change, a packet, a reading cost.

Guests are network namespaces at the ends of cables, behind the same filters as those of QEMU.
"""

import asyncio
import os
import secrets
import socket
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import IPv4Address, IPv4Interface, IPv6Interface
from pathlib import Path
from statistics import median

import click

from bench.results import Result
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.addressing import Addressing
from roost.engines.qemu.network.compiled import JUMP, chain_name, compiled, packed
from roost.engines.qemu.network.config import BRIDGE, NetworkConfig, tap_name
from roost.engines.qemu.network.counting import guest_counters
from roost.engines.qemu.network.engines import NftablesFirewalls
from roost.engines.qemu.network.links import batch
from roost.engines.qemu.network.namespace import enter, within
from roost.engines.qemu.network.netlink import (
    APPEND,
    CREATE,
    NEWCHAIN,
    NEWRULE,
    NEWSETELEM,
    TABLE,
    Message,
    Netlink,
    attribute,
    nested,
    number,
    text,
)
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.compute.network_engine import GuestAddresses
from roost.resources.firewalls.engine import FirewallSpec, Rule, RuleSet

_GUESTS, _RULES = 1000, 25
_CHANGES, _ROUNDS, _SECONDS, _READINGS = 15, 5, 1.0, 10
_CONFIG = NetworkConfig((IPv4Interface("100.127.0.1/16"),), IPv6Interface("2001:db8:bec4::1/64"))
_DOING = "The benchmark could not be prepared"
_PORT, _CHUNK = 7000, 1 << 20


async def measure() -> AsyncIterator[Result]:
    """In a region of its own, which is gone afterwards."""
    if os.geteuid() != 0:
        click.echo("network: skipped, as network namespaces need root")
        return
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        network = GuestNetwork(Path(folder), _CONFIG)
        engine = NftablesFirewalls(Path(folder), _CONFIG)
        try:
            await network.ensure()
            for measured in (_throughput, _changes, _counters):
                async for result in measured(network, engine):
                    yield result
        finally:
            await network.tear_down()


async def _changes(network: GuestNetwork, engine: NftablesFirewalls) -> AsyncIterator[Result]:
    """A firewall's rules, from the call of the engine until they are in force."""
    few = await _change(network, engine)
    await within(network.name, partial(_load, range(2, _GUESTS + 1)))
    many = await _change(network, engine)
    for guests, (bare, roost) in ((1, few), (_GUESTS, many)):
        note = f"ms: nft -f {bare * 1000:.1f}, roost {roost * 1000:.1f}"
        name = f"rule change, {guests} guests: of nft -f"
        yield Result(name, roost / bare, "x", 3, note=note)
    yield Result(f"rule change, {_GUESTS} guests: of 1 guest", many[1] / few[1], "x", 2)


async def _change(network: GuestNetwork, engine: NftablesFirewalls) -> tuple[float, float]:
    """Seconds, by the program nft and by the engine, in turns."""
    found = list[tuple[float, float]]()
    for turn in range(_CHANGES):
        bare = await _timed(partial(_nft, network, _text(turn)))
        found.append((bare, await _timed(partial(engine.apply, _firewall(1, turn)))))
    return median(bare for bare, _ in found), median(roost for _, roost in found)


async def _timed(work: Callable[[], Awaitable[None]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def _throughput(network: GuestNetwork, engine: NftablesFirewalls) -> AsyncIterator[Result]:
    """Guest to guest by TCP, without a firewall and with one at each end, in turns."""
    firewalls = [_firewall(guest, 0, open_port=_PORT) for guest in (1, 2)]
    with _plugged(network) as (first, second), tempfile.TemporaryDirectory() as notes:
        for guest, name in ((1, first), (2, second)):
            await _plug(network, guest, name, Path(notes))
        found = list[tuple[float, float]]()
        for _ in range(_ROUNDS):
            bare = await asyncio.to_thread(_stream, first, second)
            for firewall in firewalls:
                await engine.apply(firewall)
            filtered = await asyncio.to_thread(_stream, first, second)
            for firewall in firewalls:
                await engine.remove(firewall.id)
            found.append((bare, filtered))
    note = "Gbit/s: without {:.1f}, with {:.1f}".format(
        *(median(each[i] for each in found) / 1e9 for i in (0, 1))
    )
    ratio = median(filtered / bare for bare, filtered in found)
    yield Result("guest to guest, 25 rules: of none", ratio, "", 0.9, "at least", note)


async def _counters(network: GuestNetwork, _: NftablesFirewalls) -> AsyncIterator[Result]:
    await _nft(network, "".join(map(guest_counters, range(1, _GUESTS + 1))))
    spent = list[float]()
    for _reading in range(_READINGS):
        before = time.process_time()
        assert len(await network.traffic()) == _GUESTS
        spent.append(time.process_time() - before)
    yield Result(f"counters of {_GUESTS} guests, CPU", median(spent) * 1000, "ms", 50)


def _address(guest: int) -> str:
    return str(IPv4Address(int(_CONFIG.ipv4[0].network.network_address) + 256 + guest))


def _firewall(guest: int, turn: int, open_port: int | None = None) -> FirewallSpec:
    """25 rules; those of another `turn` have other ports. The last one opens a port to all."""
    rules = [
        Rule("ACCEPT", "TCP", ((1000 + turn, 1000 + turn),), (f"10.{at}.0.0/16",))
        for at in range(_RULES - 1)
    ]
    last = 443 if open_port is None else open_port
    rules.append(Rule("ACCEPT", "TCP", ((last, last),), ("0.0.0.0/0",)))
    wanted = RuleSet(tuple(rules), "DROP", (), "ACCEPT")
    return FirewallSpec(guest, wanted, frozenset({_address(guest)}))


def _text(turn: int) -> str:
    """The same for the program: chains of a table that no packet comes to."""
    lines = ["add table inet bare"]
    for chain in ("in4", "in6", "out4", "out6"):
        lines += [f"add chain inet bare {chain}", f"flush chain inet bare {chain}"]
        lines.append(f"add rule inet bare {chain} ct state invalid drop")
    for at in range(_RULES - 1):
        port = f"meta l4proto tcp ct original proto-dst {1000 + turn}"
        lines.append(f"add rule inet bare in4 {port} ct original ip saddr 10.{at}.0.0/16 return")
    lines.append("add rule inet bare in4 meta l4proto tcp ct original proto-dst 443 return")
    lines += [f"add rule inet bare {chain} drop" for chain in ("in4", "in6")]
    lines += [f"add rule inet bare {chain} return" for chain in ("out4", "out6")]
    return "\n".join(lines) + "\n"


async def _nft(network: GuestNetwork, rules: str) -> None:
    inside = f"--net=/run/netns/{network.name}"
    await run(_DOING, "nsenter", inside, "nft", "-f", "-", feed=rules)


def _load(guests: range) -> None:
    """Firewalls of all of them, each with one guest, in a few transactions; in the namespace."""
    with Netlink() as kernel:
        for first in range(guests.start, guests.stop, 100):
            changes = list[Message]()
            for guest in range(first, min(first + 100, guests.stop)):
                changes += _messages(guest)
            kernel.commit(changes)


def _messages(guest: int) -> Iterator[Message]:
    wanted = compiled(guest, _firewall(guest, 0).rules, secrets.token_hex(4))
    yield from wanted.sets
    for name, rules in wanted.chains.items():
        yield Message(NEWCHAIN, text(1, TABLE) + text(3, name), CREATE)
        for rule in rules:
            head = text(1, TABLE) + text(2, name)
            yield Message(NEWRULE, head + nested(4, rule), CREATE | APPEND)
    key = nested(1, attribute(1, packed(_address(guest))))
    for way in ("in", "out"):
        chain = chain_name(guest, "in" if way == "in" else "out", 4)
        verdict = nested(2, nested(2, number(1, JUMP) + text(2, chain)))
        element = nested(3, nested(1, key + verdict))
        yield Message(NEWSETELEM, text(1, TABLE) + text(2, f"{way}4") + element, CREATE)


@contextmanager
def _plugged(network: GuestNetwork) -> Iterator[tuple[str, str]]:
    """Namespaces of two guests, by name."""
    names = f"{network.name}-bench1", f"{network.name}-bench2"
    try:
        for name in names:
            _run_now("ip", "netns", "add", name)
        yield names
    finally:
        for name in names:
            _run_now("ip", "netns", "delete", name)


def _run_now(*command: str) -> None:
    """A command that must succeed, also while everything is being undone."""
    if os.spawnvp(os.P_WAIT, command[0], command):
        raise RuntimeError(f"{command} failed")


async def _plug(network: GuestNetwork, guest: int, name: str, notes: Path) -> None:
    """A cable instead of a device of QEMU's, with the same settings and the same filter."""
    tap, mac, address = tap_name(guest), f"f2:3c:00:00:be:{guest:02x}", _address(guest)
    addresses = GuestAddresses(
        guest, mac, frozenset({IPv4Address(address)}), frozenset(), None, mail_restricted=False
    )
    cable = f"link add {tap} type veth peer name eth0 address {mac} netns {name}"
    await Addressing(network.name, notes).write(addresses)
    ports = (f"link set {tap} {each}" for each in (f"master {BRIDGE}", "up"))
    isolated = f"link set {tap} type bridge_slave isolated on flood off"
    await batch("\n".join((cable, *ports, isolated)), network.name)
    entry = ("fdb", "replace", mac, "dev", tap, "master", "static")
    await run(_DOING, "bridge", "-n", network.name, *entry)
    gateway = _CONFIG.ipv4[0]
    inside = (
        "link set lo up",
        "link set eth0 up",
        f"address add {address}/{gateway.network.prefixlen} dev eth0",
        f"route add default via {gateway.ip}",
    )
    await batch("\n".join(inside), name)


def _stream(source: str, target: str) -> float:
    """Bits a second that arrive within a time."""
    ready, received = threading.Event(), list[float]()

    def receive() -> None:
        enter(target)
        with socket.create_server(("0.0.0.0", _PORT)) as server:
            ready.set()
            connection, _ = server.accept()
        buffer, total = bytearray(_CHUNK), 0
        with connection:
            began = time.perf_counter()
            while count := connection.recv_into(buffer):
                total += count
            received.append(8 * total / (time.perf_counter() - began))

    def send() -> None:
        enter(source)
        with socket.create_connection((_address(2), _PORT), 10) as connection:
            chunk, end = bytes(_CHUNK), time.perf_counter() + _SECONDS
            while time.perf_counter() < end:
                connection.sendall(chunk)

    threads = [threading.Thread(target=receive), threading.Thread(target=send)]
    threads[0].start()
    ready.wait()
    threads[1].start()
    for thread in threads:
        thread.join()
    return received[0]
