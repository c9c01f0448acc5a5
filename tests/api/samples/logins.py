"""Samples of logins."""

from roost.app.roost import Roost
from roost.resources.logins.queries import record_login
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _login(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    now = roost.clock.now()
    await record_login(roost.store, account.user_id, "192.0.2.1", "successful", now)
    return int((await client.get("/profile/logins"))["data"][0]["id"])


SAMPLES = Samples({"view_account_login": Sample(_login), "view_profile_login": Sample(_login)})
