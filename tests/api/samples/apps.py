"""Samples of authorized apps."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.oauth_clients import make_oauth_client
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.apps import let_in
from tests.support.client import Client


async def _app(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    client_id = await make_oauth_client(client, roost, account, parent)
    return await let_in(roost, account.user_id, str(client_id))


SAMPLES = Samples({"view_authorized_app": Sample(_app)})
