"""HAProxy in a region's namespace: who answers, and what clients see of changes and deaths."""

import asyncio
import json
import os
import signal
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.engines.processes import Process
from roost.engines.qemu.balancers import config as rendering
from roost.engines.qemu.balancers import server as serving
from roost.engines.qemu.balancers.server import program
from roost.engines.qemu.network.namespace import namespace_path
from roost.resources.firewalls.engine import FirewallSpec, Rule, RuleSet
from roost.resources.nodebalancers.engine import BalancerState, Check
from tests.engines.balancer_harness import (
    QUICK,
    HaproxyHarness,
    balancer,
    config,
    opened,
)
from tests.engines.harness import until
from tests.engines.qemu_host import output
from tests.support.certificates import certificate_for

pytestmark = pytest.mark.qemu
OPEN = 1000
CHANGES = 100


@pytest_asyncio.fixture(scope="module")
async def harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[HaproxyHarness]:
    async with opened("haproxy", tmp_path_factory.mktemp("haproxy")) as harness:
        assert isinstance(harness, HaproxyHarness)
        yield harness


async def answers(harness: HaproxyHarness, count: int = 10) -> Counter[str | None]:
    return Counter([await harness.asked() for _ in range(count)])


@pytest.mark.story
async def test_a_node_that_dies_is_out_and_haproxy_comes_back(
    harness: HaproxyHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = await harness.node(1), await harness.node(2)
    await harness.engine.apply(balancer(harness, config(7, first, second, check=QUICK)))
    assert await answers(harness) == {"node 1": 5, "node 2": 5}
    harness.stop(1)
    await until(harness.engine.statuses, lambda found: found == {1: "DOWN", 2: "UP"})
    assert await answers(harness, 6) == {"node 2": 6}
    harness.serve(1)
    await until(harness.engine.statuses, lambda found: found == {1: "UP", 2: "UP"})
    traffic = (await harness.engine.traffic())[1]
    assert traffic.connections >= 16
    assert traffic.bytes_out > 1000
    monkeypatch.setattr(serving, "_START_SECONDS", 600.0)
    for _ in range(2):  # The second time while that which began it waits for it still.
        master = await until(_master(harness), lambda found: found is not None)
        assert master is not None
        os.kill(master.pid, signal.SIGKILL)
        await until(harness.asked, lambda found: found is not None)
    await harness.engine.remove(1)
    assert await harness.asked() is None


def _master(harness: HaproxyHarness) -> Callable[[], Awaitable[Process | None]]:
    async def found() -> Process | None:
        return harness.haproxy._server.process()

    return found


async def test_weights_and_modes(harness: HaproxyHarness) -> None:
    first, second = await harness.node(1), await harness.node(2)
    apart = replace(first, weight=30), replace(second, weight=10)
    await harness.engine.apply(balancer(harness, config(7, *apart)))
    assert await answers(harness, 8) == {"node 1": 6, "node 2": 2}
    for mode in ("reject", "drain", "backup"):
        nodes = replace(first, mode=mode), second
        await harness.engine.apply(balancer(harness, config(7, *nodes)))
        assert await answers(harness, 4) == {"node 2": 4}
    only = config(7, replace(first, mode="backup"), replace(second, mode="reject"))
    await harness.engine.apply(balancer(harness, only))
    assert await answers(harness, 4) == {"node 1": 4}


async def test_clients_stick_by_address_through_a_change(harness: HaproxyHarness) -> None:
    first, second = await harness.node(1), await harness.node(2)
    sticky = replace(config(7, first, second), stickiness="table")
    await harness.engine.apply(balancer(harness, sticky))
    (chosen,) = await answers(harness, 4)
    await harness.engine.apply(balancer(harness, sticky, config(8, port=81)))
    assert await answers(harness, 4) == {chosen: 4}


@pytest.mark.parametrize(
    ("kind", "body", "serves"),
    [
        ("http", "", True),
        ("http_body", "node 1", True),
        ("http_body", "it's $not \"here\\", False),
    ],
)
async def test_checks_by_http(
    harness: HaproxyHarness, kind: Check, body: str, serves: bool
) -> None:
    node = await harness.node(1)
    check = replace(QUICK, kind=kind, path="/health?a='b'", body=body)
    await harness.engine.apply(balancer(harness, config(7, node, check=check)))
    wanted = "UP" if serves else "DOWN"
    await until(harness.engine.statuses, lambda found: found == {1: wanted})
    assert (await harness.asked() is not None) is serves


async def test_a_client_opens_so_many_connections_a_second(harness: HaproxyHarness) -> None:
    node = await harness.node(1)
    spec = replace(balancer(harness, config(7, node)), throttle=1)
    await harness.engine.apply(spec)
    found = await asyncio.gather(*(harness.asked() for _ in range(20)))
    assert 1 <= sum(each is not None for each in found) < 20


async def test_what_somebody_takes_away_is_brought_again(harness: HaproxyHarness) -> None:
    spec = balancer(harness, config(7, await harness.node(1)))
    await harness.engine.apply(spec)
    inside = f"--net=/run/netns/{harness.network.name}"
    output("ip", "-n", harness.network.name, "address", "del", f"{harness.address}/32", "dev", "lo")
    output("nsenter", inside, "nft", "delete", "table", "inet", "roost_balancers")
    assert await harness.engine.inspect(1) == BalancerState(1, None)
    assert await harness.asked() is None
    await harness.engine.keep_serving()
    assert await harness.engine.inspect(1) == BalancerState(1, spec.digest)
    assert await harness.asked() == "node 1"
    assert (await harness.engine.traffic())[1].bytes_out > 0


async def test_nothing_of_one_that_is_gone_is_counted(harness: HaproxyHarness) -> None:
    await harness.engine.apply(balancer(harness, config(7, await harness.node(1))))
    counted = harness.haproxy._addresses.counted
    assert 1 in await counted()
    await harness.engine.remove(1)
    assert 1 not in await counted()


async def test_https(harness: HaproxyHarness, tmp_path: Path) -> None:
    node, made = await harness.node(1), certificate_for("shop.example.com")
    served = replace(
        config(7, node, port=443),
        protocol="https",
        certificate=made.pem,
        private_key=made.key_pem,
    )
    await harness.engine.apply(balancer(harness, served))
    trusted = ssl.create_default_context(cadata=made.pem)
    reader, writer = await asyncio.open_connection(
        harness.address, 443, ssl=trusted, server_hostname="shop.example.com"
    )
    writer.write(b"GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")
    assert b"node 1" in await reader.read(-1)
    writer.close()
    await harness.engine.remove(1)
    folder = harness.haproxy._folder
    assert list(folder.glob("*.pem")) == []


async def test_firewalls_are_before_it_and_before_nodes(harness: HaproxyHarness) -> None:
    node = await harness.node(1)
    firewalls = harness.firewalls()
    await harness.engine.apply(balancer(harness, config(7, node)))
    closed = RuleSet((), "DROP", (), "ACCEPT")
    for behind in (harness.address, node.address):
        spec = FirewallSpec(1, closed, frozenset({behind}))
        await firewalls.apply(spec)
        assert await harness.asked() is None
        rule = Rule("ACCEPT", "TCP", ((80, 80),), ("0.0.0.0/0",))
        await firewalls.apply(replace(spec, rules=replace(closed, inbound=(rule,))))
        assert await harness.asked() == "node 1"
        await firewalls.apply(spec)
        assert await harness.asked() is None
        await firewalls.remove(1)
        assert await harness.asked() == "node 1"


async def test_what_haproxy_refuses_changes_nothing(harness: HaproxyHarness) -> None:
    spec = balancer(harness, config(7, await harness.node(1)))
    await harness.engine.apply(spec)
    broken = replace(config(7, port=443), protocol="https", certificate="none", private_key="none")
    with pytest.raises(EngineError):
        await harness.engine.apply(balancer(harness, broken))
    state = await harness.engine.inspect(1)
    assert state is not None
    assert state.digest == spec.digest
    assert await harness.asked() == "node 1"


async def test_open_connections_outlive_changes(
    harness: HaproxyHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client with many open connections, over which it asks on and on while configs change."""
    # On a busy machine the turn of a connection may come after those 30 seconds.
    patient = rendering._GLOBAL.replace(" 30s\n", " 1h\n")
    assert patient.count(" 1h\n") == 6
    monkeypatch.setattr(rendering, "_GLOBAL", patient)
    first, second = await harness.node(1), await harness.node(2)
    # No other test has that config: what is in force already would stay as it is.
    await harness.engine.apply(balancer(harness, config(9, first, second)))
    open_ = [await asyncio.open_connection(harness.address, 80) for _ in range(OPEN)]
    request = b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n"

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        """How many of its requests failed."""
        writer.write(request)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(len("node 1"))
        if b"connection: close" in head.lower():
            # So HTTP moves a client to the new server: it is told, with a whole answer.
            writer.close()
            pair = await asyncio.open_connection(harness.address, 80)
            open_.append(pair)
            return 0
        open_.append((reader, writer))
        return 0

    async def ask_on() -> int:
        asked = 0
        while not changed.is_set():
            await ask(*open_.pop(0))
            asked += 1
        return asked

    changed = asyncio.Event()
    asking = [asyncio.create_task(ask_on()) for _ in range(8)]
    for number in range(CHANGES):
        other = replace(second, weight=1 + number)
        await harness.engine.apply(balancer(harness, config(9, first, other)))
    changed.set()
    assert sum(await asyncio.gather(*asking)) > CHANGES
    assert len(open_) == OPEN
    for _, writer in open_:
        writer.close()


async def test_no_more_workers_than_changes_that_connections_outlive(
    harness: HaproxyHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever keeps a connection, and changes on and on, fills the host's memory."""
    monkeypatch.setattr(rendering, "MOST_CHANGES", 2)
    node = await harness.node(1)
    port = replace(config(7, node), protocol="tcp")
    await harness.engine.apply(balancer(harness, port))
    reader, writer = await asyncio.open_connection(harness.address, 80)
    writer.write(b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n")
    await reader.readuntil(b"node 1")
    for number in range(4):
        changed = replace(port, nodes=(replace(node, weight=1 + number),))
        await harness.engine.apply(balancer(harness, changed))
    async with asyncio.timeout(60):
        assert await reader.read() == b""
    writer.close()


async def held_open(
    harness: HaproxyHarness,
) -> tuple[str, asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection, and which node has answered."""
    reader, writer = await asyncio.open_connection(harness.address, 80)
    writer.write(b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n")
    await reader.readuntil(b"node ")
    return (await reader.readexactly(1)).decode(), reader, writer


async def ended(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Whether a connection is, over which is asked once more."""
    try:
        writer.write(b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n")
        async with asyncio.timeout(60):
            return await reader.read(1) == b""
    except ConnectionError:
        return True


async def test_connections_to_a_node_end_with_it(harness: HaproxyHarness) -> None:
    """Those of former workers as well; others go on."""
    first, second = await harness.node(1), await harness.node(2)
    both = replace(config(7, first, second), protocol="tcp")
    await harness.engine.apply(balancer(harness, both))
    former = [await held_open(harness) for _ in range(2)]
    await harness.engine.apply(balancer(harness, both, config(8, port=81)))
    # The former worker may take some of these, too; each goes round by itself.
    held = [await held_open(harness) for _ in range(4)]
    assert {node for node, _, _ in former} == {node for node, _, _ in held} == {"1", "2"}
    await harness.engine.apply(balancer(harness, replace(both, nodes=(second,))))
    for node, reader, writer in former + held:
        assert await ended(reader, writer) is (node == "1")
        writer.close()


async def test_a_former_worker_reaches_no_node_that_is_gone(harness: HaproxyHarness) -> None:
    """Neither with what a client asks over a connection that was idle meanwhile."""
    first, second = await harness.node(1), await harness.node(2)
    await harness.engine.apply(balancer(harness, config(7, first)))
    held = [await held_open(harness) for _ in range(2)]
    await harness.engine.apply(balancer(harness, config(7, first, second)))
    await harness.engine.apply(balancer(harness, config(7, second)))
    for _, reader, writer in held:
        writer.write(b"GET / HTTP/1.1\r\nHost: shop\r\n\r\n")
        said = b""
        async with asyncio.timeout(60):
            with suppress(ConnectionError):  # It may be reset, too.
                while some := await reader.read(1000):
                    said += some
        assert b"node 1" not in said
        writer.close()


async def test_what_a_former_version_began_is_replaced(harness: HaproxyHarness) -> None:
    """Its HAProxy cannot be asked for its workers, and its records say of no account."""
    spec = balancer(harness, config(7, await harness.node(1)))
    await harness.engine.apply(spec)
    server = harness.haproxy._server
    for path in server.folder.glob("b*.json"):
        lacking = json.loads(path.read_text())
        del lacking["account_id"]
        path.write_text(json.dumps(lacking))
    await server.end()
    output(
        *("setsid", "--fork", "nsenter", f"--net={namespace_path(harness.network.name)}"),
        *(program() or "", "-W", "-f", str(server.config), "-p", str(server._pid_file), "-D"),
    )
    await until(harness.asked, lambda found: found == "node 1")
    await harness.engine.keep_serving()
    assert await harness.engine.list() == []
    await harness.engine.apply(spec)
    assert await harness.asked() == "node 1"
    [state] = await harness.engine.list()
    assert state.digest == spec.digest


async def test_an_account_leaves_room_for_others(
    harness: HaproxyHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering, "MOST_CONNECTIONS", 40)
    node = await harness.node(1)
    greedy = balancer(harness, *(config(port, node, port=port) for port in (80, 81)))
    other = balancer(harness, config(7, node, port=90), number=2, account_id=2)
    await harness.engine.apply(greedy)
    await harness.engine.apply(other)
    held = []
    for n in range(60):
        with suppress(ConnectionError):  # Some are refused at once.
            held.append(await asyncio.open_connection(harness.address, 80 + n % 2))
    assert await harness.asked(80) is None
    assert await harness.asked(90) == "node 1"
    for _, writer in held:
        writer.close()
    await harness.engine.remove(2)


async def test_a_change_is_in_force_when_it_is_applied(harness: HaproxyHarness) -> None:
    node = await harness.node(1)
    for port in range(8000, 8010):
        await harness.engine.apply(balancer(harness, config(7, node, port=port)))
        assert await harness.asked(port) == "node 1"
        assert await harness.asked(port - 1) is None
