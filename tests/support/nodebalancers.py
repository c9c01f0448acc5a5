"""NodeBalancers as tests make them."""

from roost.ids import new_uuid
from tests.support.client import Client, Json, until
from tests.support.instances import INSTANCES, made

BALANCERS = "/nodebalancers"


async def balancer(client: Client, **changes: object) -> Json:
    """A new one of us-lake."""
    body = {"region": "us-lake", "label": f"b-{new_uuid()[:12]}", **changes}
    return await client.post(BALANCERS, body)


async def private(client: Client, **changes: object) -> tuple[Json, str]:
    """A new instance, and its private address."""
    instance = await made(client, private_ip=True, **changes)
    held = await client.get(f"{INSTANCES}/{instance['id']}/ips")
    return instance, held["ipv4"]["private"][0]["address"]


async def told(client: Client, balancer_id: int, action: str) -> Json:
    """The newest event of an action, when it is over."""

    async def newest() -> Json:
        rows = (await client.get("/account/events?page_size=500"))["data"]
        found = (
            row
            for row in rows
            if row["action"] == action and (row["entity"] or {}).get("id") == balancer_id
        )
        return next(found, {"status": None})

    return await until(newest, lambda row: row["status"] in ("finished", "failed", "notification"))
