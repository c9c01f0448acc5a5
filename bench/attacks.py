"""How long one client waits for the regions while another attacks the server."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from bench import machine
from bench.attackers import ATTACKS
from bench.database import make_account
from bench.load import request
from bench.results import Result
from roost.store import Store

_SECONDS = 4.0
_PAUSE = 0.04
"""So that all attacks together stay below what a user may ask for in two minutes."""
_PATIENCE = 10.0
"""An answer that has not come by then counts with this time."""
_TARGET = 250


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    """With the limits that everybody starts with; each attack is of an account of its own."""
    token = (await make_account(store, "bystander", 0)).token
    command = [machine.program("roost"), "serve", "--engines", "simulated"]
    command += ["--state", str(state), "--listen", "127.0.0.1:0"]
    environment = {"DATABASE_URL": store.dsn, "ROOST_DNS_PRIVATE_NETWORKS": "127.0.0.0/8"}
    with machine.running(command, "roost ready", environment=environment) as (pid, line):
        port = int(line.rpartition(":")[2])
        yield _result("nothing", pid, await _wait_for_regions(port, token, _SECONDS))
        for number, name in enumerate(ATTACKS):
            attacker = (await make_account(store, f"attacker{number}", 0)).token
            arguments = (name, str(port), attacker, str(2 * _SECONDS))
            attack = [sys.executable, "-m", "bench.attackers", *arguments]
            with machine.running(attack, "ready", cores=machine.OTHERS):
                seconds = await _wait_for_regions(port, token, _SECONDS)
            yield _result(name, pid, seconds)


def _result(name: str, pid: int, seconds: list[float]) -> Result:
    seconds.sort()
    p99 = seconds[len(seconds) * 99 // 100] * 1000
    middle = seconds[len(seconds) // 2] * 1000
    note = f"median {middle:.1f} ms, {len(seconds)} answers; server "
    note += f"{machine.memory_megabytes(pid):.0f} MB"
    return Result(f"GET regions beside {name}: 99 %", p99, "ms", _TARGET, note=note)


async def _wait_for_regions(port: int, token: str, seconds: float) -> list[float]:
    """The time that each answer took, on a connection that is kept."""
    sent, took = request("GET", "/v4/regions", token), []
    until = time.monotonic() + seconds
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            async with asyncio.timeout(_PATIENCE):
                writer.write(sent)
                await _read_answer(reader)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            # Ended by the server, as a client that asks again on another one sees it.
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        finally:
            took.append(time.monotonic() - began)
        await asyncio.sleep(_PAUSE)
    writer.close()
    return took


async def _read_answer(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode())
    length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
