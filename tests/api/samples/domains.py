"""Samples of domains and their records."""

from roost.app.roost import Roost
from roost.ids import new_uuid
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _domain(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    name = f"{new_uuid()}.example"
    body = {"domain": name, "type": "master", "soa_email": "me@example.com", "tags": ["blue"]}
    return int((await client.post("/domains", body))["id"])


async def _record(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    body = {"type": "TXT", "target": new_uuid()}
    return int((await client.post(f"{parent}/records", body))["id"])


SAMPLES = Samples({"view_domain": Sample(_domain), "view_record": Sample(_record)})
