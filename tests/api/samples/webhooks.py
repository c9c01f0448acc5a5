"""Samples of webhooks."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client

URL = "https://hooks.example.com/roost"


async def make_webhook(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    row = await client.post("/account/webhooks", {"label": "deploys", "url": URL})
    await client.put(f"/account/webhooks/{row['id']}", {"enabled": False})
    return int(row["id"])


async def _deliver(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    delivery: int = await roost.store.fetchval(
        """
        insert into webhook_delivery (webhook_id, created, status, attempt, events, first_event,
            last_event, code, duration)
        values ($1, $2, 'delivered', 1, 1, 1, 1, 200, 0.1) returning id
        """,
        int(parent.rpartition("/")[2]),
        roost.clock.seconds(),
    )
    return delivery


SAMPLES = Samples(
    {"view_webhook": Sample(make_webhook)}, rows={"list_webhook_deliveries": _deliver}
)
