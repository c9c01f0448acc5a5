"""What an account costs this month."""

from roost.app.roost import Roost
from roost.core.billing.charges import month_start, next_month
from tests.support.client import Client
from tests.support.instances import made

PATH = "/account/estimate"


async def test_nothing(client: Client, roost: Roost) -> None:
    start = month_start(roost.clock.now())
    assert await client.get(PATH) == {
        "from": start.isoformat(),
        "to": next_month(start).isoformat(),
        "so_far": 0,
        "at_end": 0,
        "services": [],
        "tags": [],
    }


async def test_it_is_what_is_owed_at_the_moment(client: Client, stranger: Client) -> None:
    await made(client, tags=["web"])
    row = await client.get(PATH)
    assert row["so_far"] == (await client.get("/account"))["balance_uninvoiced"]
    assert 0 < row["so_far"] <= row["at_end"]
    assert [tag["tag"] for tag in row["tags"]] == ["web"]
    assert (await stranger.get(PATH))["at_end"] == 0
