"""NodeBalancers of a real region: what a request and a change cost, against HAProxy by hand.

The node is a network namespace behind the region's bridge, in which another HAProxy answers.
"""

import asyncio
import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator
from ipaddress import IPv4Interface, IPv6Interface
from pathlib import Path
from statistics import median

import click

from bench.load import request, send
from bench.results import Result
from roost.engines.qemu.balancers.engine import HaproxyBalancers
from roost.engines.qemu.balancers.server import program
from roost.engines.qemu.host.programs import run
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.links import batch
from roost.engines.qemu.network.network import GuestNetwork
from roost.resources.nodebalancers.engine import BalancerSpec, CheckSpec, ConfigSpec, NodeSpec

_CONFIG = NetworkConfig((IPv4Interface("100.126.0.1/24"),), IPv6Interface("2001:db8:bec5::1/64"))
_ADDRESS, _BY_HAND, _NODE = "100.126.0.250", "100.126.0.251", "192.168.200.9"
_ROUNDS, _SECONDS, _CONNECTIONS, _CHANGES = 5, 2.0, 16, 15
_DOING = "The benchmark could not be prepared"
_CHECK = CheckSpec(kind="none", interval=31, timeout=30, attempts=3, path="", body="", passive=True)
_TIMES = "defaults\n mode http\n timeout connect 5s\n timeout client 1m\n timeout server 1m\n"
_ANSWERS = f"""{_TIMES}
frontend node
 bind {_NODE}:80
 http-request return status 200 content-type text/plain string hello
"""
_FORWARDS = f"""{_TIMES}
frontend by_hand
 bind {_BY_HAND}:80
 option forwardfor
 default_backend nodes
backend nodes
 balance roundrobin
 server n1 {_NODE}:80
"""


async def measure() -> AsyncIterator[Result]:
    """In a region of its own, which is gone afterwards."""
    if os.geteuid() != 0 or program() is None:
        click.echo("balancers: skipped, as they need root and haproxy")
        return
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        network, engine = (
            GuestNetwork(Path(folder), _CONFIG),
            HaproxyBalancers(Path(folder), _CONFIG),
        )
        name, servers = f"{network.name}-node", list[asyncio.subprocess.Process]()
        try:
            await network.ensure()
            await _node(network, name)
            servers.append(await _serve(Path(folder), name, "node", _ANSWERS))
            await batch(f"address add {_BY_HAND}/32 dev br0", network.name)
            servers.append(await _serve(Path(folder), network.name, "by-hand", _FORWARDS))
            await engine.apply(_spec(80))
            yield await _requests()
            yield await _changes(engine)
        finally:
            await engine.shut_down()
            for server in servers:
                server.kill()
                await server.wait()
            await run(_DOING, "ip", "netns", "del", name)
            await network.tear_down()


def _spec(port: int) -> BalancerSpec:
    node = NodeSpec(1, _NODE, 80, 50, "accept")
    config = ConfigSpec(
        id=1,
        port=port,
        protocol="http",
        algorithm="roundrobin",
        stickiness="none",
        check=_CHECK,
        proxy_protocol="none",
        cipher_suite="recommended",
        nodes=(node,),
    )
    return BalancerSpec(1, 1, _ADDRESS, 0, (config,))


async def _node(network: GuestNetwork, name: str) -> None:
    gateway = str(_CONFIG.ipv4[0].ip)
    await run(_DOING, "ip", "netns", "add", name)
    await batch(
        "link add node0 type veth peer eth0\nlink set node0 master br0 up\n"
        f"route replace {_NODE}/32 dev br0",
        network.name,
    )
    await run(_DOING, "ip", "-n", network.name, "link", "set", "eth0", "netns", name)
    await batch(
        f"link set lo up\naddress add {_NODE}/32 dev eth0\nlink set eth0 up\n"
        f"route add {gateway}/32 dev eth0\nroute add default via {gateway}",
        name,
    )


async def _serve(
    folder: Path, namespace: str, name: str, config: str
) -> asyncio.subprocess.Process:
    path = folder / f"{name}.cfg"
    path.write_text(config)
    return await asyncio.create_subprocess_exec(
        *("ip", "netns", "exec", namespace, program() or "haproxy", "-db", "-f", path),
        start_new_session=True,  # As what Roost starts, of which kernels schedule each apart.
    )


async def _requests() -> Result:
    """By turns, so that what else the machine does meets both."""
    shares, rates = list[float](), list[float]()
    for _ in range(_ROUNDS):
        by_hand, own = [await _rate(each) for each in (_BY_HAND, _ADDRESS)]
        shares.append(own / by_hand)
        rates.append(own)
    note = f"{median(rates):.0f} requests a second"
    name = "requests through a NodeBalancer: of HAProxy by hand"
    return Result(name, median(shares), target=0.9, wanted="at least", note=note)


async def _rate(address: str) -> float:
    for _ in range(100):
        try:
            _, writer = await asyncio.open_connection(address, 80)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            break
    sent = itertools.repeat(request("GET", "/"))
    begun = time.perf_counter()
    answered = await send(80, sent, _SECONDS, _CONNECTIONS, address)
    return len(answered) / (time.perf_counter() - begun)


async def _changes(engine: HaproxyBalancers) -> Result:
    took = list[float]()
    for number in range(_CHANGES):
        begun = time.perf_counter()
        await engine.apply(_spec(8000 + number))
        took.append(time.perf_counter() - begun)
    note = f"at most {max(took) * 1000:.0f} ms"
    name = "a NodeBalancer's change until it is in force"
    return Result(name, median(took) * 1000, "ms", 300, note=note)
