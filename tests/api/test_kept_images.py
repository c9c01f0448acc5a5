"""Images that are kept of deleted instances (reference: Image, type and expiry)."""

from datetime import datetime, timedelta

import pytest

from roost.app.roost import Roost
from roost.core.limits.queries import set_limit
from roost.core.planes import Engines
from roost.engines.simulated.instances import SimulatedInstances
from roost.jobs.kinds import JobArgs
from roost.resources.compute.engine import INSTANCE_PLANE
from roost.resources.images import rules
from roost.resources.images.kept_jobs import EXPIRE
from tests.api.conftest import Account
from tests.support.captures import IMAGES, first_disk, image_events
from tests.support.client import Client, Json, until
from tests.support.drift import drift
from tests.support.instances import INSTANCES, made
from tests.support.volumes import failing

_AUTOMATIC = {"type": "automatic"}


async def old(client: Client, roost: Roost, **changes: object) -> Json:
    """An instance that has been there for as long as one must be to be kept."""
    row = await made(client, **changes)
    await roost.store.execute(
        "update compute_instance set created = created - $2::interval where id = $1",
        row["id"],
        rules.KEPT_AFTER,
    )
    return row


async def deleted(client: Client, compute_id: int) -> list[Json]:
    """The images that are kept once it is gone, and its jobs are done."""
    path = f"{INSTANCES}/{compute_id}"
    await client.delete(path)
    await until(lambda: client.send("GET", path), lambda found: found.status == 404)
    listed = await until(
        lambda: client.get(IMAGES, filter=_AUTOMATIC),
        lambda found: all(image["status"] == "available" for image in found["data"]),
    )
    images: list[Json] = listed["data"]
    return images


async def test_a_disk_is_kept_until_it_expires(
    client: Client, roost: Roost, account: Account
) -> None:
    instance = await old(client, roost)
    disk = await first_disk(client, instance["id"])
    await set_limit(roost.store, account.id, "images", 0)
    [image] = await deleted(client, instance["id"])
    assert (image["label"], image["size"]) == (instance["label"], disk["size"])
    assert image["description"] == f"{disk['label']} of a deleted instance, {instance['label']}"
    assert (image["is_public"], image["capabilities"]) == (False, ["cloud-init"])
    kept = datetime.fromisoformat(image["expiry"]) - datetime.fromisoformat(image["created"])
    assert kept == timedelta(days=7)
    [event] = await image_events(client, "disk_imagize")
    assert (event["status"], event["entity"]["id"]) == ("finished", instance["id"])
    assert event["secondary_entity"]["id"] == image["id"]
    assert (await made(client, image=image["id"]))["image"] == image["id"]
    number = int(image["id"].partition("/")[2])
    assert await drift(roost, f"image {number}") == []
    await roost.queue.enqueue(roost.store, EXPIRE, JobArgs())
    await roost.store.execute("update image set expiry = $2 where number = $1", number, _PAST)
    await roost.queue.enqueue(roost.store, EXPIRE, JobArgs())
    path = f"{IMAGES}/{image['id']}"
    await until(lambda: client.send("GET", path), lambda found: found.status == 404)
    [event] = await image_events(client, "image_delete")
    assert (event["status"], event["entity"]["id"]) == ("finished", image["id"])


_PAST = datetime(2020, 1, 1)


async def test_what_is_young_is_not_kept(client: Client) -> None:
    assert await deleted(client, (await made(client))["id"]) == []


async def test_what_holds_too_much_is_not_kept(client: Client, roost: Roost) -> None:
    instance = await old(client, roost)
    disk = await first_disk(client, instance["id"])
    engine = roost.services.get(Engines).of(INSTANCE_PLANE, "us-lake")
    assert isinstance(engine, SimulatedInstances)
    await engine.disks.write(instance["id"], disk["id"], "much", 6145)
    assert await deleted(client, instance["id"]) == []


async def test_a_disk_that_cannot_be_kept_is_no_reason_to_stay(
    client: Client, roost: Roost
) -> None:
    instance = await old(client, roost)
    async with failing(roost, "image_set_aside", "no room"):
        assert await deleted(client, instance["id"]) == []
    [event] = await image_events(client, "compute_delete")
    assert event["status"] == "finished"


async def test_no_more_than_so_many_are_kept(
    client: Client, roost: Roost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MOST_KEPT", 1)
    [image] = await deleted(client, (await old(client, roost))["id"])
    assert await deleted(client, (await old(client, roost))["id"]) == [image]


@pytest.mark.parametrize(
    ("hours", "days", "kept"), [(12, 7, True), (11, 7, False), (1000, 0, False)]
)
def test_what_is_kept(hours: int, days: int, kept: bool) -> None:
    deleted = datetime(2030, 1, 1)
    until_ = rules.kept_until(deleted - timedelta(hours=hours), deleted, days)
    assert until_ == (deleted + timedelta(days=days) if kept else None)
