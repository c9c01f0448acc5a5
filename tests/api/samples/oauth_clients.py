"""Samples of OAuth clients."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.pictures import picture


async def make_oauth_client(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """One with a thumbnail, which is public."""
    body = {"label": "app", "redirect_uri": "https://app.example.com/done"}
    row = await client.post("/account/oauth-clients", body)
    path = f"/account/oauth-clients/{row['id']}/thumbnail"
    headers = {"Content-Type": "image/png"}
    assert (await client.send("PUT", path, headers=headers, data=picture())).status == 200
    return str(row["id"])


SAMPLES = Samples({"view_oauth_client": Sample(make_oauth_client, "0" * 20)})
