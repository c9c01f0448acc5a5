"""How long one client waits for the regions while another attacks the server."""

import asyncio
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from bench import machine
from bench.attackers import ATTACKS
from bench.database import make_account
from bench.load import request
from bench.results import Result
from roost.store import Store

_SECONDS = 3.0
_PAUSE = 0.02
_PATIENCE = 10.0
"""An answer that has not come by then, or that is a failure, counts with this time."""
_TARGET = 250


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    """Each attack meets a server that has just started, with the limits that all start with."""
    bystander = (await make_account(store, "bystander", 0)).token
    attacker = (await make_account(store, "attacker", 0, limited=True)).token
    for name in (None, *ATTACKS):
        with _server(store.dsn, state) as (pid, ports):
            before, answers = machine.memory_megabytes(pid), ""
            if name is None:
                seconds = await _wait_for_regions(ports[0], bystander)
            else:
                async with _attack(name, ports, attacker) as attack:
                    seconds = await _wait_for_regions(ports[0], bystander)
                    answers = f"; attacker: {(await attack.readline()).decode().strip()}"
            grown = machine.memory_megabytes(pid) - before
        yield _result(name or "nothing", seconds, f"server +{grown:.0f} MB{answers}")


@contextmanager
def _server(dsn: str, state: Path) -> Iterator[tuple[int, tuple[int, int]]]:
    """Its process, and its ports: of HTTP, of DNS. The resolver that it asks never answers."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        dns_port = free.getsockname()[1]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        environment = {
            "DATABASE_URL": dsn,
            "ROOST_DNS_PRIVATE_NETWORKS": "127.0.0.0/8",
            "ROOST_DNS_LISTEN": f"127.0.0.1:{dns_port}",
            "ROOST_RDNS_RESOLVER": f"127.0.0.1:{silent.getsockname()[1]}",
        }
        command = [machine.program("roost"), "serve", "--engines", "simulated"]
        command += ["--state", str(state), "--listen", "127.0.0.1:0"]
        with machine.running(command, "roost ready", environment=environment) as (pid, line):
            yield pid, (int(line.rpartition(":")[2]), dns_port)


@asynccontextmanager
async def _attack(
    name: str, ports: tuple[int, int], token: str
) -> AsyncIterator[asyncio.StreamReader]:
    """From the moment at which it begins; what it prints when it ends."""
    arguments = (name, *map(str, ports), token, str(_SECONDS))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.attackers", *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        if not await process.stdout.readline():
            raise RuntimeError(f"the attack {name!r} could not be prepared")
        yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _result(name: str, seconds: list[float], note: str) -> Result:
    seconds.sort()
    p99 = seconds[len(seconds) * 99 // 100] * 1000
    middle = seconds[len(seconds) // 2] * 1000
    note = f"median {middle:.1f} ms of {len(seconds)}; {note}"
    return Result(f"GET regions beside {name}: 99 %", p99, "ms", _TARGET, note=note)


async def _wait_for_regions(port: int, token: str) -> list[float]:
    """The time that each answer took, on a connection that is kept."""
    sent, took = request("GET", "/v4/regions", token), []
    until = time.monotonic() + _SECONDS
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            async with asyncio.timeout(_PATIENCE):
                writer.write(sent)
                done = await _read_answer(reader)
        except (TimeoutError, EOFError, ConnectionError):
            done = False
        took.append(time.monotonic() - began if done else _PATIENCE)
        if not done:
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.sleep(_PAUSE)
    writer.close()
    return took


async def _read_answer(reader: asyncio.StreamReader) -> bool:
    """Whether it was a success."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return head.startswith(b"HTTP/1.1 200")
