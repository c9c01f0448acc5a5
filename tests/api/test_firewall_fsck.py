"""`roost fsck` of firewalls: every kind of drift is found and mended; and who is late mends too."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from roost.app.roost import open_roost
from roost.engines.simulated.firewalls import SimulatedFirewalls
from roost.resources.firewalls import device_queries, queries
from roost.resources.firewalls.apply_service import put_in_force
from roost.resources.firewalls.engine import FirewallSpec
from tests.api.test_fsck import fsck
from tests.jobs.firewall_scenarios import behind, firewalls, in_force, placed
from tests.support.server import simulated
from tests.support.stage import Stage

Break = Callable[[Stage, int, int], Awaitable[object]]


@pytest.fixture
async def stage(database_url: str, tmp_path: Path) -> AsyncIterator[Stage]:
    """A Roost without a worker."""
    async with open_roost(simulated(tmp_path, database_url)) as roost:
        yield Stage(roost)


async def lose(stage: Stage, firewall_id: int, _: int) -> None:
    await firewalls(stage).lose(firewall_id)


async def change_rules(stage: Stage, firewall_id: int, _: int) -> None:
    row = await queries.find(stage.roost.store, firewall_id)
    assert row is not None
    rules = row.rules.replace('"22"', '"23"')
    await queries.set_rules(stage.roost.store, firewall_id, rules, stage.roost.clock.seconds())


async def change_addresses(stage: Stage, _: int, compute_id: int) -> None:
    await stage.change(compute_id, "ipv6 = '2001:db8::99/128'")
    await stage.readdress(compute_id)


async def disable(stage: Stage, firewall_id: int, _: int) -> None:
    now = stage.roost.clock.seconds()
    await queries.set_status(stage.roost.store, firewall_id, "disabled", now)


async def delete(stage: Stage, firewall_id: int, _: int) -> None:
    now = stage.roost.clock.seconds()
    await queries.set_status(stage.roost.store, firewall_id, "deleted", now)


async def forget(stage: Stage, firewall_id: int, _: int) -> None:
    await stage.roost.store.execute("delete from firewall where id = $1", firewall_id)


@pytest.mark.parametrize(
    ("spoil", "text", "mended"),
    [
        (lose, "does not filter", "put in force what the database says"),
        (change_rules, "filters by other rules", "put in force what the database says"),
        (change_addresses, "filters other addresses", "put in force what the database says"),
        (
            disable,
            "filters, but is disabled or has nothing behind it",
            "put in force what the database says",
        ),
        (delete, "is deleted, but no job forgets it", "forgot it"),
        (forget, "filters, but does not exist", "removed it"),
    ],
)
async def test_drift_is_found_and_mended(
    stage: Stage, spoil: Break, text: str, mended: str
) -> None:
    firewall_id, compute_id = await placed(stage)
    await in_force(stage, firewall_id, compute_id)
    name = f"firewall {firewall_id} in region us-lake"
    assert await about(stage, name) == []
    await spoil(stage, firewall_id, compute_id)
    assert await about(stage, name) == [f"{name} {text}"]
    assert await about(stage, name, repair=True) == [f"{name} {text}; {mended}"]
    assert await about(stage, name) == []


async def about(stage: Stage, name: str, *, repair: bool = False) -> list[str]:
    return [line for line in await fsck(stage, repair=repair) if line.startswith(name)]


async def test_who_is_late_takes_no_instance_from_another(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reads its rows, and before it writes, the instance moves to another firewall."""
    late, compute_id = await placed(stage)
    other, _ = await placed(stage)
    store, services = stage.roost.store, stage.roost.services
    await behind(stage, late, compute_id)
    apply, moved = SimulatedFirewalls.apply, False

    async def overtaken(engine: SimulatedFirewalls, spec: FirewallSpec) -> None:
        nonlocal moved
        if not moved:
            moved = True
            held = await device_queries.of_instance(store, compute_id)
            await device_queries.delete(store, [device.id for device in held])
            await behind(stage, other, compute_id)
            await put_in_force(store, services, other)
        await apply(engine, spec)

    monkeypatch.setattr(SimulatedFirewalls, "apply", overtaken)
    await put_in_force(store, services, late)
    assert [state.id for state in await firewalls(stage).list()] == [other]
