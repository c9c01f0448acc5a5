"""Anything that users, guests and the data plane may do with volumes, in any order and at once.

`make test` has two examples, `make test-real` eight; ROOST_MACHINE_SECONDS=600 lets it run for ten
minutes.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import aiohttp
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from structlog.testing import capture_logs

from roost.jobs.kinds import Retry
from tests.support.client import Client, Contract
from tests.support.database import DatabaseServer
from tests.support.server import RunningRoost, running_roost, simulated
from tests.support.volume_actors import ACTIONS, FAULTS, Actors, Deed

SECONDS = float(os.environ.get("ROOST_MACHINE_SECONDS", "0"))
STEPS = 30
UNPLANNED = ("request_failed", "job_abandoned", "job_on_failed_failed")
"""What must not be logged."""

T = TypeVar("T")

deeds = st.builds(
    Deed,
    action=st.sampled_from(ACTIONS),
    volume=st.integers(0, 7),
    instance=st.integers(0, 2),
    number=st.integers(0, 5),
    flag=st.booleans(),
)


class Volumes(RuleBasedStateMachine):
    """The rules run in a thread of their own, the server in the loop of the tests."""

    loop: ClassVar[asyncio.AbstractEventLoop]
    running: ClassVar[RunningRoost]
    client: ClassVar[Client]

    def __init__(self) -> None:
        super().__init__()
        self.actors = Actors(self.running.roost, self.client)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60)

    @initialize(plans=st.lists(st.integers(0, 2), min_size=1, max_size=3))
    def begin(self, plans: list[int]) -> None:
        self.wait(self.actors.begin(plans))

    @rule(deed=deeds)
    def one(self, deed: Deed) -> None:
        self.wait(self.actors.do(deed))

    @rule(several=st.lists(deeds, min_size=2, max_size=6))
    def at_once(self, several: list[Deed]) -> None:
        self.wait(self.actors.do_all(several))

    @rule(operation=st.sampled_from(FAULTS), calls=st.sampled_from((1, 4)))
    def let_fail(self, operation: str, calls: int) -> None:
        self.wait(self.actors.let_fail(operation, calls))

    @rule(instance=st.integers(0, 2))
    def crash(self, instance: int) -> None:
        self.wait(self.actors.crash(instance))

    @rule(volume=st.integers(0, 7), mounted=st.booleans())
    def mount(self, volume: int, mounted: bool) -> None:
        self.wait(self.actors.mount(volume, mounted))

    @rule(volume=st.integers(0, 7))
    def write(self, volume: int) -> None:
        self.wait(self.actors.write(volume))

    @rule()
    def watch(self) -> None:
        self.wait(self.actors.watch())

    @rule()
    def rest(self) -> None:
        self.wait(self.actors.rest())

    @invariant()
    def always(self) -> None:
        self.wait(self.actors.check())

    def teardown(self) -> None:
        self.wait(self.actors.clear())


@pytest.fixture
async def own(
    tmp_path: Path, database_server: DatabaseServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[RunningRoost]:
    """Its engines take a moment for everything; jobs that fail try again at once."""
    monkeypatch.setattr(Retry, "delay", lambda self, failures: 0.0)
    async with database_server.database() as url:
        options = simulated(tmp_path, url, simulated_latency=0.004)
        async with running_roost(options) as running:
            yield running


@pytest.mark.timeout(SECONDS + 300)
@pytest.mark.spec("A volume status", "A volumes attach", "A volumes detach")
@pytest.mark.parametrize("examples", [2, pytest.param(8, marks=pytest.mark.e2e)])
async def test_volumes_and_instances(own: RunningRoost, examples: int) -> None:
    options = settings(SETTINGS, max_examples=examples)
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{own.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        Volumes.loop, Volumes.running = asyncio.get_running_loop(), own
        Volumes.client = Client(session, contract, own.url).as_user(own.token)
        until, runs = time.monotonic() + SECONDS, 0
        while runs == 0 or time.monotonic() < until:
            with capture_logs() as logs:  # Planned failures would be printed with all locals.
                try:
                    await asyncio.to_thread(run_state_machine_as_test, Volumes, settings=options)
                finally:
                    unplanned = [entry for entry in logs if entry["event"] in UNPLANNED]
                    assert not unplanned, [repr(entry.get("exc_info")) for entry in unplanned]
            runs += 1
    print(f"{runs * examples} examples, {Actors.tally}")  # noqa: T201


SETTINGS = settings(
    stateful_step_count=STEPS,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
