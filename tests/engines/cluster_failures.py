"""What can happen to the servers of a cluster of databases, whichever program they are."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

import pytest
from pydantic import SecretStr

from roost.engines.databases.folder import Folder
from roost.engines.databases.programs import run
from roost.engines.processes import find_process
from tests.engines.database_harness import kill


class Scene(Protocol):
    """A cluster to which something happens."""

    @property
    def folder(self) -> Folder: ...

    @property
    def primary(self) -> Folder: ...

    def replicas(self) -> Sequence[Folder]: ...


async def kill_primary(scene: Scene) -> None:
    await kill(scene.primary)


async def kill_a_replica(scene: Scene) -> None:
    await kill(scene.replicas()[0])


async def kill_primary_and_a_replica(scene: Scene) -> None:
    await asyncio.gather(kill(scene.primary), kill(scene.replicas()[0]))


async def kill_replicas(scene: Scene) -> None:
    await asyncio.gather(*map(kill, scene.replicas()))


async def kill_all(scene: Scene) -> None:
    await asyncio.gather(*map(kill, scene.folder.nodes()))


async def stop_primary(scene: Scene) -> None:
    """Only a signal that cannot be caught ends it."""
    process = find_process(scene.primary.pid_file, scene.primary.marker)
    assert process is not None
    os.kill(process.pid, signal.SIGSTOP)


@asynccontextmanager
async def cut_off(primary: Folder) -> AsyncIterator[None]:
    """Replicas do not reach it while the block runs."""
    cut = f"inet roost_test_cut_{os.getpid()}"
    rules = (
        f"add table {cut}\n"
        f"add chain {cut} cut {{ type filter hook input priority -20; policy accept; }}\n"
        f"add rule {cut} cut tcp dport {primary.port} ip saddr 127.0.0.1 drop\n"
        f"add rule {cut} cut tcp sport {primary.port} ip daddr 127.0.0.1 drop\n"
    )
    await run("cut", ("nft", "-f", "-"), feed=SecretStr(rules))
    try:
        yield
    finally:
        await run("heal", ("nft", "delete", "table", *cut.split()))


Failure = Callable[[Scene], Awaitable[None]]
FAILURES = pytest.mark.parametrize(
    ("fail", "moves"),
    [
        pytest.param(fail, moves, id=fail.__name__)
        for fail, moves in (
            (kill_primary, True),
            (kill_a_replica, False),
            (kill_primary_and_a_replica, False),
            (kill_replicas, False),
            (kill_all, False),
            (stop_primary, True),
        )
    ],
)
"""And whether another node leads then, as it certainly has everything."""
