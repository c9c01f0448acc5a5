"""Samples of images."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def make_image(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    number = account.id + 10**9  # Beyond those that the server gives.
    image_id = f"private/{number}"
    await roost.store.execute(
        "insert into image (id, number, account_id, label, created, updated, created_by, size,"
        " type, status, region, engine) values ($1, $2, $3, 'mine', now(), now(), 'me', 0,"
        " 'manual', 'available', 'us-lake', 'simulated') on conflict do nothing",
        image_id,
        number,
        account.id,
    )
    return image_id


SAMPLES = Samples({"view_image": Sample(make_image, "private/999999999")})
