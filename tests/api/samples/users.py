"""Samples of users."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _user(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """A restricted one beside the account's own."""
    body = {"username": f"{account.username}-2", "email": "second@example.com", "restricted": True}
    await client.post("/account/users", body)
    return str(body["username"])


SAMPLES = Samples({"view_user": Sample(_user, "nobody")})
