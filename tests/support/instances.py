"""Bodies that create instances, and what an account holds."""

import asyncio
from collections.abc import Mapping

from roost.app.roost import Roost
from tests.support.client import Client, Json, until

INSTANCES = "/compute/instances"
PASSWORD = "correct-Horse7battery"
OMITTED = object()

_VALID = {
    "type": "g1-nano-1",
    "region": "us-lake",
    "image": "roost/debian12",
    "root_pass": PASSWORD,
    "booted": False,
}
_HELD = {
    "instances": "select count(*) from compute_instance where account_id = $1",
    "events": "select count(*) from event where account_id = $1",
    "addresses": "select count(*) from ip_address where account_id = $1",
    "jobs": "select count(*) from job where account_id = $1",
    "kept answers": "select count(*) from idempotency where account_id = $1",
}


def create_body(**changes: object) -> Json:
    """A body that is accepted, with some fields set or OMITTED."""
    body = {**_VALID, **changes}
    return {field: value for field, value in body.items() if value is not OMITTED}


async def made(client: Client, **changes: object) -> Json:
    """A new instance, when it rests."""
    row = await client.post(INSTANCES, create_body(**changes))
    return await settled(client, row["id"])


async def settled(client: Client, compute_id: int) -> Json:
    return await until(
        lambda: client.get(f"{INSTANCES}/{compute_id}"),
        lambda row: row["status"] in ("running", "offline"),
    )


async def held(roost: Roost, account_id: int) -> Mapping[str, int]:
    """How many rows of each kind an account has."""
    counts = await asyncio.gather(
        *(roost.store.fetchval(query, account_id) for query in _HELD.values())
    )
    return dict(zip(_HELD, counts, strict=True))
