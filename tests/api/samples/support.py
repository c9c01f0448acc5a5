"""Samples of tickets."""

from roost.app.roost import Roost
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client


async def _ticket(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    body = {"summary": "No connection", "description": "Since this morning."}
    ticket_id = int((await client.post("/support/tickets", body))["id"])
    await _reply(client, roost, account, f"/support/tickets/{ticket_id}")
    return ticket_id


async def _reply(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    reply = await client.post(f"{parent}/replies", {"description": "It is back."})
    return int(reply["id"])


SAMPLES = Samples({"view_ticket": Sample(_ticket)}, rows={"list_ticket_replies": _reply})
