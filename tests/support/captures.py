"""Private images over HTTP, and what becomes of them."""

from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made

IMAGES = "/images"
_OPEN = ("scheduled", "started")


async def first_disk(client: Client, compute_id: int) -> Json:
    disk: Json = (await client.get(f"{INSTANCES}/{compute_id}/disks"))["data"][0]
    return disk


async def captured(client: Client, **changes: object) -> Json:
    """A private image, available, of the disk of a new instance unless one is named."""
    if "disk_id" not in changes:
        changes["disk_id"] = (await first_disk(client, (await made(client))["id"]))["id"]
    row = await client.post(IMAGES, changes)
    return await until(
        lambda: client.get(f"{IMAGES}/{row['id']}"), lambda found: found["status"] == "available"
    )


async def image_events(client: Client, action: str) -> list[Json]:
    """Those that are over, the newest first."""
    listed = await until(
        lambda: client.get("/account/events?page_size=500", filter={"action": action}),
        lambda found: not any(event["status"] in _OPEN for event in found["data"]),
    )
    events: list[Json] = listed["data"]
    return events
