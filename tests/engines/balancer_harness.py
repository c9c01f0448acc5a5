"""What the tests of NodeBalancers need: a region's network, nodes in it, and clients outside."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from roost.engines.qemu.balancers.engine import HaproxyBalancers
from roost.engines.qemu.network.config import NetworkConfig
from roost.engines.qemu.network.engines import NftablesFirewalls
from roost.engines.qemu.network.network import GuestNetwork
from roost.engines.simulated.nodebalancers import SimulatedBalancers
from roost.resources.nodebalancers.engine import (
    BalancerEngine,
    BalancerSpec,
    CheckSpec,
    ConfigSpec,
    NodeSpec,
)
from tests.engines.harness import claim_pools
from tests.engines.qemu_host import output

NO_CHECK = CheckSpec(
    kind="none", interval=31, timeout=30, attempts=3, path="", body="", passive=True
)
QUICK = CheckSpec(
    kind="connection", interval=1, timeout=10, attempts=1, path="", body="", passive=False
)
_SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        body = sys.argv[2].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
http.server.ThreadingHTTPServer.request_queue_size = 1024
http.server.ThreadingHTTPServer((sys.argv[1], 80), Handler).serve_forever()
"""


class SimulatedBalancerHarness:
    def __init__(self, state_dir: Path) -> None:
        self._state_dir = state_dir
        self.engine: BalancerEngine = self.reopen()
        self.address = "198.18.0.250"

    def reopen(self) -> BalancerEngine:
        """Another engine object over the same state, as after a restart or in a worker."""
        return SimulatedBalancers(self._state_dir, latency=0)

    async def close(self) -> None:
        await self.engine.close()


class HaproxyHarness:
    """Of one region without guests: nodes are namespaces that are ports of its bridge."""

    def __init__(self, state_dir: Path) -> None:
        pools = claim_pools()
        self._state_dir = state_dir
        self._config = NetworkConfig((pools.ipv4,), pools.ipv6)
        self.network = GuestNetwork(state_dir, self._config)
        self.haproxy = HaproxyBalancers(state_dir, self._config)
        self.engine: BalancerEngine = self.haproxy
        self.address = str(pools.ipv4.network[250])
        self._gateway = str(pools.ipv4.ip)
        self._nodes: dict[int, subprocess.Popen[bytes]] = {}

    def reopen(self) -> BalancerEngine:
        return HaproxyBalancers(self._state_dir, self._config)

    def firewalls(self) -> NftablesFirewalls:
        """Those of the region."""
        return NftablesFirewalls(self._state_dir, self._config)

    async def node(self, number: int) -> NodeSpec:
        """A server that answers with `node N`, at an address behind the region's bridge."""
        await self.network.ensure()
        name, address = self._name(number), f"192.168.200.{number}"
        inside = ("ip", "-n", self.network.name)
        if number not in self._nodes:
            output("ip", "netns", "add", name)
            output(*inside, "link", "add", f"node{number}", "type", "veth", "peer", "eth0")
            output(*inside, "link", "set", "eth0", "netns", name)
            output(*inside, "link", "set", f"node{number}", "master", "br0", "up")
            output(*inside, "route", "replace", f"{address}/32", "dev", "br0")
            own = ("ip", "-n", name)
            output(*own, "link", "set", "lo", "up")
            output(*own, "address", "add", f"{address}/32", "dev", "eth0")
            output(*own, "link", "set", "eth0", "up")
            output(*own, "route", "add", f"{self._gateway}/32", "dev", "eth0")
            output(*own, "route", "add", "default", "via", self._gateway)
        self.serve(number)
        await self._answers(name, address)
        return NodeSpec(number, address, 80, 50, "accept")

    async def _answers(self, name: str, address: str) -> None:
        inside = ("ip", "netns", "exec", name)
        async with asyncio.timeout(120):
            while not await _fetched(address, inside):
                await asyncio.sleep(0.05)

    def serve(self, number: int) -> None:
        """Unless it does."""
        if number in self._nodes and self._nodes[number].poll() is None:
            return
        self._nodes[number] = subprocess.Popen(
            (
                *("ip", "netns", "exec", self._name(number), sys.executable, "-c", _SERVER),
                *(f"192.168.200.{number}", f"node {number}"),
            ),
            stderr=subprocess.DEVNULL,
        )

    def stop(self, number: int) -> None:
        """Its server is killed."""
        self._nodes[number].kill()
        self._nodes[number].wait()

    async def asked(self, port: int = 80, *options: str) -> str | None:
        """What a client outside is answered; None for no answer."""
        return await _fetched(f"{self.address}:{port}", (), *options)

    def _name(self, number: int) -> str:
        return f"{self.network.name}-node{number}"

    async def close(self) -> None:
        await self.engine.shut_down()
        for number in self._nodes:
            self.stop(number)
            output("ip", "netns", "del", self._name(number))
        await self.network.tear_down()


async def _fetched(address: str, inside: tuple[str, ...], *options: str) -> str | None:
    process = await asyncio.create_subprocess_exec(
        *(*inside, "curl", "-sSf", "-m", "5", *options, f"http://{address}/"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    out, _ = await process.communicate()
    return out.decode() if process.returncode == 0 else None


BalancerHarness = SimulatedBalancerHarness | HaproxyHarness


@asynccontextmanager
async def opened(kind: str, state_dir: Path) -> AsyncIterator[BalancerHarness]:
    harness: BalancerHarness = (
        SimulatedBalancerHarness(state_dir) if kind == "simulated" else HaproxyHarness(state_dir)
    )
    try:
        yield harness
    finally:
        await harness.close()


def config(
    number: int, *nodes: NodeSpec, port: int = 80, check: CheckSpec = NO_CHECK
) -> ConfigSpec:
    return ConfigSpec(
        id=number,
        port=port,
        protocol="http",
        algorithm="roundrobin",
        stickiness="none",
        check=check,
        proxy_protocol="none",
        cipher_suite="recommended",
        nodes=nodes,
    )


def balancer(
    harness: BalancerHarness, *configs: ConfigSpec, number: int = 1, account_id: int = 1
) -> BalancerSpec:
    return BalancerSpec(number, account_id, harness.address, 0, configs)
