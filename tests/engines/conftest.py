"""Engines under test: each contract is held by the simulated one and by the real ones."""

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from roost.resources.compute.engine import InstanceSpec
from tests.engines.ceph_host import lab
from tests.engines.harness import Harness, SimulatedHarness, root_disk
from tests.engines.qemu_host import open_qemu

ids = itertools.count(100_001)
"""Of all that tests make."""

_QEMU = pytest.param("qemu", marks=pytest.mark.qemu)


@pytest_asyncio.fixture(scope="module", params=["simulated", _QEMU])
async def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Harness]:
    state_dir = tmp_path_factory.mktemp("engine")
    harness: Harness = SimulatedHarness(state_dir)
    if request.param == "qemu":
        harness = await open_qemu(state_dir)
    yield harness
    await harness.engine.shut_down()
    await harness.engine.close()
    await harness.volumes.close()


@pytest.fixture(scope="session")
def ceph_conf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The configuration file of a storage cluster, which all tests share."""
    with lab(tmp_path_factory.mktemp("ceph")) as conf:
        yield conf


@pytest_asyncio.fixture
async def spec(harness: Harness) -> AsyncIterator[InstanceSpec]:
    """A guest of this test alone, which is gone afterwards."""
    spec = harness.spec(next(ids))
    yield spec
    await harness.engine.delete(spec.id)


@pytest_asyncio.fixture
async def offline(harness: Harness, spec: InstanceSpec) -> InstanceSpec:
    await harness.engine.disks.make(root_disk(harness, spec.id))
    return spec


@pytest_asyncio.fixture
async def running(harness: Harness, offline: InstanceSpec) -> InstanceSpec:
    await harness.engine.start(offline)
    return offline
