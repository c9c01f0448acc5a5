"""Streams of events: what those cost on which nothing happens, and how soon an event is there."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from time import perf_counter

from bench import machine
from bench.database import Account, make_account
from bench.edge import roost_server
from bench.load import request
from bench.results import Result
from bench.statements import ADD_EVENT
from roost.app.serve import raise_file_limit
from roost.clock import Clock
from roost.store import Store

_STREAMS, _OF_ACCOUNT = 10_000, 100
_SPARE = 200
"""Of half of the files that may be open, which are as many connections as the server takes."""
_AT_ONCE = 200
_IDLE_SECONDS = 50.0
"""Two heartbeats of each."""
_RATE, _TOLD_SECONDS, _READERS = 200, 15.0, 20
_MOST = 16_000
"""Connections that the server takes: a quarter is for what is no stream."""


class Stream(asyncio.Protocol):
    """One that has begun once `began` is done; keeps how long each event took, by its message."""

    def __init__(self, sent: bytes, took: dict[str, float]) -> None:
        self.began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sent = sent
        self._took = took
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._sent)

    def data_received(self, data: bytes) -> None:
        now = perf_counter()
        self._received += data
        *messages, self._received = self._received.split(b"\n\n")
        for message in messages:
            self._hear(message, now)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.began.done():
            self.began.set_exception(ConnectionError(self._received[:200]))

    def _hear(self, message: bytes, now: float) -> None:
        if not self.began.done() and b"retry: " in message:
            self.began.set_result(None)
        _, _, data = message.partition(b"data: ")
        if data:
            begun = json.loads(data)["message"]
            self._took[begun] = now - float(begun)


async def measure(store: Store, state: Path) -> AsyncIterator[Result]:
    count = min(_STREAMS, raise_file_limit() // 2 - _SPARE)
    accounts = [
        await make_account(store, f"idle{number}", 0) for number in range(count // _OF_ACCOUNT)
    ]
    told = [await make_account(store, f"told{number}", 0) for number in range(_READERS)]
    limits = {"ROOST_MAX_CONNECTIONS": str(_MOST), "ROOST_CONNECTIONS_PER_ADDRESS": str(_MOST)}
    took: dict[str, float] = {}
    with roost_server(state, store.dsn, environment=limits) as (pid, port):
        before = machine.memory_megabytes(pid)
        idle = await open_streams(port, _asked([*accounts] * _OF_ACCOUNT), took)
        memory = (machine.memory_megabytes(pid) - before) / len(idle) * 1024
        yield Result("an idle stream: memory", memory, "KiB")
        share = await share_of_core(pid)
        yield Result(f"{len(idle)} idle streams: of a core", share, "%", 5.0)
        readers = await open_streams(port, _asked(told), took)
        # Its own collections are not what is measured.
        gc.freeze()
        cpu, waited = machine.cpu_seconds(pid), machine.waited_seconds(pid)
        bare = await _tell(store, told)
        cpu, waited = machine.cpu_seconds(pid) - cpu, machine.waited_seconds(pid) - waited
        found = sorted(took.values())
        note = f"{len(found)}, {_RATE} a second, beside these; median {_at(found, 0.5):.1f} ms"
        yield Result("an event at its stream, 99 %", _at(found, 0.99), "ms", 100.0, note=note)
        more = sorted(took[each] - bare[each] for each in took)
        note = (
            f"ms: bare {_at(sorted(bare.values()), 0.99):.1f}; of {_TOLD_SECONDS:.0f} s the server"
        )
        note += f" had a core for {cpu:.1f}, and waited for one for {waited:.1f}"
        name = "an event at its stream, 99 %: more than a bare NOTIFY"
        yield Result(name, _at(more, 0.99), "ms", 100.0, note=note)
        for stream in (*idle, *readers):
            stream.transport.abort()


async def share_of_core(pid: int) -> float:
    """Per cent of a core that a server takes while nothing happens."""
    cpu, began = machine.cpu_seconds(pid), perf_counter()
    await asyncio.sleep(_IDLE_SECONDS)
    return (machine.cpu_seconds(pid) - cpu) / (perf_counter() - began) * 100


def _asked(accounts: Sequence[Account]) -> list[bytes]:
    return [request("GET", "/v4/events/stream", each.token) for each in accounts]


def _at(took: Sequence[float], share: float) -> float:
    return took[int(len(took) * share)] * 1000


async def open_streams(port: int, sent: Sequence[bytes], took: dict[str, float]) -> list[Stream]:
    """One for each request, all of them begun."""
    loop = asyncio.get_running_loop()
    streams: list[Stream] = []
    for start in range(0, len(sent), _AT_ONCE):
        some: list[Stream] = []
        for each in sent[start : start + _AT_ONCE]:
            stream = Stream(each, took)
            await loop.create_connection(lambda stream=stream: stream, "127.0.0.1", port)  # type: ignore[misc]
            some.append(stream)
        await asyncio.gather(*(stream.began for stream in some))
        streams += some
    return streams


async def _tell(store: Store, accounts: Sequence[Account]) -> dict[str, float]:
    """Each event says when it was begun to be written; how long its bare notification took."""
    clock, took = Clock(), dict[str, float]()

    def hear(begun: str) -> None:
        if begun:
            took[begun] = perf_counter() - float(begun)

    await store.listen("bench", hear)
    began = perf_counter()
    for number in range(int(_RATE * _TOLD_SECONDS)):
        await asyncio.sleep(max(0, began + number / _RATE - perf_counter()))
        account = accounts[number % len(accounts)]
        await store.execute(ADD_EVENT, account.id, clock.seconds(), str(perf_counter()))
    await asyncio.sleep(1)
    return took
