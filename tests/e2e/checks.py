"""What must hold of a Roost when nothing is under way."""

from roost.app.fsck import check_all
from roost.app.roost import Roost, open_roost
from roost.core.addresses.queries import all_held
from roost.resources.compute.engine import INSTANCE_PLANE
from tests.e2e.cloud import Cloud
from tests.support.client import Json, until

SETTLE_SECONDS = 120.0


async def settled(cloud: Cloud) -> dict[int, Json]:
    """The instances, when none of them is in a transitional status any more."""
    return await until(
        cloud.instances,
        lambda rows: all(row["status"] in ("running", "offline") for row in rows.values()),
        SETTLE_SECONDS,
    )


async def check_sound(cloud: Cloud, expected: dict[int, str]) -> None:
    """Exactly these instances with these statuses; rows, guests and addresses agree."""
    rows = await settled(cloud)
    assert {compute_id: row["status"] for compute_id, row in rows.items()} == expected
    async with open_roost(cloud.settings, beside=True) as roost:
        assert await _guests(roost) == sorted(expected.items())
        held = await all_held(roost.store)
        assert held == {compute_id: row["ipv4"] for compute_id, row in rows.items()}
        await until(lambda: _unfinished(roost), lambda jobs: not jobs)
        findings: list[str] = []
        assert (await check_all(roost, False, findings.append)).found == 0, findings


async def events_of(cloud: Cloud, compute_id: int) -> list[tuple[str, str]]:
    """Action and status, the oldest first; also of an instance that is gone."""
    client = await cloud.client()
    wanted = {"entity.id": compute_id, "entity.type": "compute"}
    page = await client.get("/account/events", filter=wanted)
    return [(row["action"], row["status"]) for row in reversed(page["data"])]


async def _guests(roost: Roost) -> list[tuple[int, str]]:
    engines = roost.engines.by_region(INSTANCE_PLANE).values()
    guests = [guest for engine in engines for guest in await engine.list()]
    return sorted((guest.id, guest.power) for guest in guests)


async def _unfinished(roost: Roost) -> list[str]:
    rows = await roost.store.fetch(
        """
        select format('%s of %s is %s', kind, resource, status) as text from job
        where schedule is null and status in ('queued', 'running', 'waiting')
        """
    )
    return [row["text"] for row in rows]
