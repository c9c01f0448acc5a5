"""SIGTERM ends a server within ten seconds, whatever is running."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roost.store.cluster import Cluster
from tests.e2e.cloud import Cloud, opened
from tests.support.client import until
from tests.support.instances import INSTANCES, create_body

_MODULE = "tests.e2e.stubborn_serve"
_SECONDS = 30.0
"""Ten, and those that a machine with other work may add; what hangs does so for minutes."""


@pytest.fixture
async def cloud(tmp_path: Path) -> AsyncIterator[Cloud]:
    options = {"engines": "simulated", "dns_private_networks": "127.0.0.0/8"}
    async with opened(tmp_path / "state", **options) as cloud:
        yield cloud


async def test_a_stop_waits_for_nothing_that_hangs(cloud: Cloud) -> None:
    await cloud.start(program=(sys.executable, "-m", _MODULE))
    assert cloud.server is not None
    client = await cloud.client()
    made = await client.post(INSTANCES, create_body(booted=True))
    await cloud.server.said("hangs in a thread")
    async with _silent_server() as port, _slow_request(cloud.url):
        body = {"domain": "slow.example", "remote_nameserver": f"127.0.0.1:{port}"}
        await client.post("/domains/import", body)
        code, seconds = await cloud.server.terminate()
    assert (code, seconds < _SECONDS) == (0, True)
    assert Cluster(cloud.state / "postgres").postmaster() is None
    await cloud.start()
    await until(cloud.instances, lambda rows: rows[made["id"]]["status"] == "running")


async def test_a_task_that_heeds_no_cancellation_is_left_behind(cloud: Cloud) -> None:
    await cloud.start(program=(sys.executable, "-m", _MODULE))
    assert cloud.server is not None
    client = await cloud.client()
    made = await client.post(INSTANCES, create_body(booted=True))
    await client.delete(f"{INSTANCES}/{made['id']}")
    await cloud.server.said("hangs in a task")
    _, seconds = await cloud.server.terminate()
    assert seconds < _SECONDS
    assert "stop_forced" in cloud.log.read_text()
    await cloud.start()
    await until(cloud.instances, lambda rows: made["id"] not in rows)


@asynccontextmanager
async def _silent_server() -> AsyncIterator[int]:
    """Accepts connections and never answers."""
    ended = asyncio.Event()

    async def hold(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await ended.wait()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            ended.set()


@asynccontextmanager
async def _slow_request(url: str) -> AsyncIterator[None]:
    """A request whose body does not come."""
    host, _, port = url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    head = "POST /v4/volumes HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"
    writer.write(head.encode())
    await writer.drain()
    yield
    writer.close()
