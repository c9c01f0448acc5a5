"""What every engine for NodeBalancers owes its callers."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from roost.resources.nodebalancers.engine import BalancerState, NodeSpec
from tests.engines.balancer_harness import QUICK, BalancerHarness, balancer, config, opened

_REAL = pytest.param("haproxy", marks=pytest.mark.qemu)
NODE = NodeSpec(11, "192.168.200.9", 80, 50, "accept")


@pytest_asyncio.fixture(scope="module", params=["simulated", _REAL])
async def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[BalancerHarness]:
    async with opened(request.param, tmp_path_factory.mktemp("balancers")) as harness:
        yield harness


@pytest_asyncio.fixture(autouse=True)
async def nothing_left(harness: BalancerHarness) -> AsyncIterator[None]:
    yield
    for state in await harness.engine.list():
        await harness.engine.remove(state.id)
    assert await harness.engine.list() == []


async def test_what_is_applied_is_there_and_goes(harness: BalancerHarness) -> None:
    spec = balancer(harness, config(7, NODE))
    for _ in range(2):
        await harness.engine.apply(spec)
        assert await harness.engine.list() == [BalancerState(1, spec.digest)]
    assert await harness.reopen().inspect(1) == BalancerState(1, spec.digest)
    for _ in range(2):
        await harness.engine.remove(1)
        assert await harness.engine.inspect(1) is None


async def test_a_change_is_another_digest(harness: BalancerHarness) -> None:
    spec = balancer(harness, config(7, NODE))
    await harness.engine.apply(spec)
    changed = replace(spec, configs=(config(7, replace(NODE, mode="drain"), port=81),))
    assert changed.digest != spec.digest
    await harness.engine.apply(changed)
    assert await harness.engine.inspect(1) == BalancerState(1, changed.digest)


async def test_one_without_configs_holds_its_address(harness: BalancerHarness) -> None:
    spec = balancer(harness)
    await harness.engine.apply(spec)
    assert await harness.engine.inspect(1) == BalancerState(1, spec.digest)
    assert await harness.engine.statuses() == {}


async def test_nodes_that_nothing_checks_are_unknown(harness: BalancerHarness) -> None:
    refused = replace(NODE, id=12, port=81, mode="reject")
    configs = config(7, NODE), config(8, refused, port=81, check=QUICK)
    await harness.engine.apply(balancer(harness, *configs))
    assert await harness.engine.statuses() == {11: "Unknown", 12: "DOWN"}


async def test_traffic_is_counted_for_each(harness: BalancerHarness) -> None:
    await harness.engine.apply(balancer(harness, config(7, NODE)))
    traffic = (await harness.engine.traffic())[1]
    assert (traffic.connections, traffic.bytes_out) == (0, 0)
    await harness.engine.apply(balancer(harness, config(7)))
    assert (await harness.engine.traffic())[1].epoch == traffic.epoch


async def test_several_at_once_are_all_in_force(harness: BalancerHarness) -> None:
    specs = [balancer(harness, config(n, port=8000 + n), number=n) for n in range(1, 5)]
    await asyncio.gather(*(harness.reopen().apply(each) for each in specs))
    assert await harness.engine.list() == [BalancerState(e.id, e.digest) for e in specs]


async def test_serving_goes_on(harness: BalancerHarness) -> None:
    spec = balancer(harness, config(7, NODE))
    await harness.engine.apply(spec)
    await harness.engine.keep_serving()
    assert (await harness.engine.health()).ok
    await harness.engine.close()
    assert await harness.engine.inspect(1) == BalancerState(1, spec.digest)
