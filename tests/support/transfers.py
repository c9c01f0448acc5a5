"""Transfers over HTTP."""

from tests.support.client import Client
from tests.support.instances import OMITTED, made

TRANSFERS = "/account/service-transfers"


async def offered(client: Client, compute_id: int | None = None) -> str:
    """The token of a transfer of one instance, by default of a new one."""
    if compute_id is None:
        compute_id = int((await made(client, image=OMITTED, root_pass=OMITTED))["id"])
    row = await client.post(TRANSFERS, {"entities": {"computes": [compute_id]}})
    return str(row["token"])
