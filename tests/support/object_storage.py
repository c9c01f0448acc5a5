"""Object storage over HTTP, and what becomes of it."""

from contextlib import AbstractAsyncContextManager

from roost.app.roost import Roost
from roost.core.planes import Engines
from roost.engines.simulated.objects import SimulatedObjects
from roost.engines.simulated.plane import Operation
from roost.ids import new_uuid
from roost.resources.object_storage.engine import OBJECT_PLANE
from tests.support.client import Client, Json, until
from tests.support.instances import OMITTED
from tests.support.volumes import failing

BUCKETS = "/object-storage/buckets"
KEYS = "/object-storage/keys"
CLUSTER = "us-lake-1"
_OPEN = ("scheduled", "started")


def object_engine(roost: Roost, region: str = "us-lake") -> SimulatedObjects:
    engine = roost.services.get(Engines).of(OBJECT_PLANE, region)
    assert isinstance(engine, SimulatedObjects)
    return engine


def planned(roost: Roost, operation: Operation) -> AbstractAsyncContextManager[None]:
    """While the block runs, each call of the operation fails with the reason `planned`."""
    return failing(roost, operation, "planned")


def new_label() -> str:
    return f"b-{new_uuid()[:18]}"


def bucket_body(**changes: object) -> Json:
    """A body that is accepted, with some fields set or OMITTED."""
    body = {"label": new_label(), "cluster": CLUSTER, **changes}
    return {field: value for field, value in body.items() if value is not OMITTED}


def path_of(bucket: Json) -> str:
    return f"{BUCKETS}/{bucket['cluster']}/{bucket['label']}"


def access_to(bucket: Json, permissions: str = "read_write") -> Json:
    """An entry of `bucket_access`."""
    return {
        "cluster": bucket["cluster"],
        "bucket_name": bucket["label"],
        "permissions": permissions,
    }


async def made_bucket(client: Client, **changes: object) -> Json:
    """A new bucket, when S3 clients can use it."""
    row = await client.post(BUCKETS, bucket_body(**changes))
    await settled(client)
    return row


async def made_key(client: Client, **changes: object) -> Json:
    """A new key, when S3 clients can use it."""
    row = await client.post(KEYS, {"label": "key", **changes})
    await settled(client)
    return row


async def settled(client: Client) -> list[tuple[str, str]]:
    """Actions and statuses of the account's events, the oldest first, when all are over."""

    async def events() -> list[Json]:
        return list(reversed((await client.get("/account/events"))["data"]))

    rows = await until(events, lambda rows: all(row["status"] not in _OPEN for row in rows))
    return [(row["action"], row["status"]) for row in rows]
