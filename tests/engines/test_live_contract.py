"""The contract of guests that go to another host of their region while they run."""

import asyncio
import os
from collections.abc import Coroutine, Iterator
from dataclasses import replace

import pytest

from roost.core.engine import EngineError
from roost.resources.compute.engine import InstanceSpec, VolumeDevice
from roost.resources.compute.live_engine import Destination, UnfitError
from roost.resources.volumes.engine import VolumeSpec, VolumeState
from tests.engines.conftest import ids
from tests.engines.harness import claim_pools, ignore, root_disk
from tests.engines.live_pair import LiveHost, Pair, QemuPair, SimulatedHost
from tests.support.images import ensure_mini

AnyPair = Pair | QemuPair


@pytest.fixture(scope="module", params=["simulated", pytest.param("qemu", marks=pytest.mark.qemu)])
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AnyPair]:
    folder = tmp_path_factory.mktemp("pair")
    if request.param == "simulated":
        pair: AnyPair = Pair(SimulatedHost(folder / "here"), SimulatedHost(folder / "there"))
    elif os.geteuid() != 0:
        pytest.skip("virtual machines with networks need root")
    else:
        pair = QemuPair(folder, ensure_mini(), claim_pools())
    yield pair
    pair.close()


@pytest.fixture
def volume() -> VolumeSpec:
    return VolumeSpec(next(ids), 1)


@pytest.fixture
def spec(pair: AnyPair, volume: VolumeSpec) -> Iterator[InstanceSpec]:
    """A guest that runs here, with a volume of which there is an empty one there."""
    here, there, spec = pair.here, pair.there, pair.spec(next(ids))
    here.run(here.engine.disks.make(root_disk(here.harness, spec.id)))
    for each in (here, there):
        each.run(each.volumes.create(volume))
    here.run(here.harness.write_volume(volume.id, "written before"))
    spec = replace(spec, devices=(*spec.devices, VolumeDevice(None, volume.id, "data")))
    here.run(here.engine.start(spec))
    yield spec
    for each in (there, here):
        each.run(each.engine.live.turn_away(spec.id))
        each.run(each.engine.delete(spec.id))
        each.run(each.volumes.delete(volume.id))


def expect(pair: AnyPair, spec: InstanceSpec) -> Destination:
    """Up to where it can be sent."""
    offer = pair.here.run(pair.here.engine.live.offer(spec.id, pair.here.address))
    receive = pair.there.engine.live.receive(spec, offer, pair.there.address)
    return pair.there.run(receive)


def send(
    pair: AnyPair, spec: InstanceSpec, destination: Destination, limit: int | None = None
) -> list[int]:
    """What was told of how far it is."""
    seen: list[int] = []

    async def progress(percent: int) -> None:
        seen.append(percent)

    pair.here.run(pair.here.engine.live.send(spec.id, destination, limit, progress))
    return seen


def ids_of(host: LiveHost) -> list[int]:
    return [each.id for each in host.run(host.engine.list())]


def test_a_guest_goes_on_there(pair: AnyPair, spec: InstanceSpec, volume: VolumeSpec) -> None:
    here, there = pair.here, pair.there
    before = here.run(here.engine.inspect(spec.id))
    destination = expect(pair, spec)
    assert here.runs(spec.id)
    assert spec.id not in ids_of(there)
    told = send(pair, spec, destination)
    assert told == sorted(told)
    assert all(0 <= each <= 100 for each in told)
    assert not here.runs(spec.id)
    assert not there.runs(spec.id)
    assert spec.id not in ids_of(there)

    there.run(there.engine.live.enter(spec))
    assert there.runs(spec.id)
    assert not here.runs(spec.id)
    here.run(here.engine.delete(spec.id))
    here.run(here.volumes.delete(volume.id))
    assert here.remains(spec.id) == []
    assert there.run(there.engine.inspect(spec.id)) == before
    assert there.run(there.engine.addresses.list())[spec.id] == spec.addresses
    assert there.run(there.volumes.inspect(volume.id)) == VolumeState(volume.id, 1, spec.id)
    there.run(there.engine.stop(spec.id, 0))
    assert there.run(there.harness.read_volume(volume.id)) == "written before"
    there.run(there.engine.start(spec))
    assert there.runs(spec.id)


def test_one_that_is_turned_away_goes_on_here(
    pair: AnyPair, spec: InstanceSpec, volume: VolumeSpec
) -> None:
    here, there = pair.here, pair.there
    destination = expect(pair, spec)
    there.run(there.engine.live.turn_away(spec.id))
    with pytest.raises(EngineError, match="could not be moved"):
        send(pair, spec, destination)
    here.run(here.engine.live.stay(spec.id))
    assert here.runs(spec.id)
    assert there.remains(spec.id) == []
    there.run(there.volumes.delete(volume.id))
    with pytest.raises(EngineError, match="not arrived"):
        there.run(there.engine.live.enter(spec))


def test_one_that_is_about_to_come_can_be_deleted(pair: AnyPair, spec: InstanceSpec) -> None:
    here, there = pair.here, pair.there
    send(pair, spec, expect(pair, spec))
    there.run(there.engine.delete(spec.id))
    assert there.remains(spec.id) == []
    here.run(here.engine.live.stay(spec.id))
    assert here.runs(spec.id)


def test_one_that_was_sent_can_still_stay(
    pair: AnyPair, spec: InstanceSpec, volume: VolumeSpec
) -> None:
    here, there = pair.here, pair.there
    send(pair, spec, expect(pair, spec))
    there.run(there.engine.live.turn_away(spec.id))
    assert not here.runs(spec.id)
    here.run(here.engine.live.stay(spec.id))
    assert here.runs(spec.id)
    assert there.remains(spec.id) == []
    assert there.run(there.volumes.inspect(volume.id)) == VolumeState(volume.id, 1, None)


def test_every_step_may_be_repeated(pair: AnyPair, spec: InstanceSpec) -> None:
    here, there = pair.here, pair.there
    expect(pair, spec)
    destination = expect(pair, spec)
    send(pair, spec, destination)
    assert send(pair, spec, destination) == []
    for _ in range(2):
        there.run(there.engine.live.enter(spec))
    assert there.runs(spec.id)
    for _ in range(2):
        there.run(there.engine.live.turn_away(spec.id))
    assert there.runs(spec.id)
    here.run(here.engine.delete(spec.id))
    here.run(here.engine.live.stay(spec.id))
    assert ids_of(here) == []


def test_one_that_has_come_goes_back(pair: AnyPair, spec: InstanceSpec, volume: VolumeSpec) -> None:
    here, there = pair.here, pair.there
    send(pair, spec, expect(pair, spec))
    there.run(there.engine.live.enter(spec))
    here.run(here.engine.delete(spec.id))
    offer = there.run(there.engine.live.offer(spec.id, there.address))
    destination = here.run(here.engine.live.receive(spec, offer, here.address))
    there.run(there.engine.live.send(spec.id, destination, None, ignore))
    here.run(here.engine.live.enter(spec))
    there.run(there.engine.delete(spec.id))
    assert here.runs(spec.id)
    assert there.remains(spec.id) == []
    assert here.run(here.volumes.inspect(volume.id)) == VolumeState(volume.id, 1, spec.id)


def test_one_that_is_off_is_not_offered(pair: AnyPair, spec: InstanceSpec) -> None:
    here = pair.here
    here.run(here.engine.stop(spec.id, 0))
    with pytest.raises(EngineError, match="it is off"):
        here.run(here.engine.live.offer(spec.id, here.address))
    here.run(here.engine.live.stay(spec.id))
    state = here.run(here.engine.inspect(spec.id))
    assert state is not None
    assert state.power == "offline"


def test_one_whose_configuration_has_changed_is_not_received(
    pair: AnyPair, spec: InstanceSpec
) -> None:
    here, there = pair.here, pair.there
    offer = here.run(here.engine.live.offer(spec.id, here.address))
    larger = replace(spec, memory=spec.memory * 2)
    with pytest.raises(UnfitError, match="configuration has changed"):
        there.run(there.engine.live.receive(larger, offer, there.address))
    here.run(here.engine.live.stay(spec.id))
    assert here.runs(spec.id)
    assert there.remains(spec.id) == []


def test_one_that_is_there_is_not_received_over(pair: AnyPair, spec: InstanceSpec) -> None:
    here = pair.here
    offer = here.run(here.engine.live.offer(spec.id, here.address))
    with pytest.raises(EngineError, match="is there already"):
        here.run(here.engine.live.receive(spec, offer, here.address))
    here.run(here.engine.live.stay(spec.id))
    assert here.runs(spec.id)


def test_one_goes_on_here_when_its_move_is_cancelled(pair: AnyPair, spec: InstanceSpec) -> None:
    here, there = pair.here, pair.there
    destination = expect(pair, spec)
    here.run(_cancelled(here.engine.live.send(spec.id, destination, 1 << 20, ignore)))
    assert here.runs(spec.id)
    there.run(there.engine.live.turn_away(spec.id))
    assert there.remains(spec.id) == []
    send(pair, spec, expect(pair, spec))
    there.run(there.engine.live.enter(spec))
    assert there.runs(spec.id)


async def _cancelled(work: Coroutine[object, object, None]) -> None:
    """Once it has begun."""
    task = asyncio.ensure_future(work)
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
