"""What can happen to the servers of a cluster of databases, whichever program they are."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import pytest

from roost.engines.databases.folder import Folder
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
