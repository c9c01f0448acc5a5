"""An instance whose image is still being built is made when the image is there."""

from pathlib import Path

import aiohttp

from tests.support.client import Client, Contract, until
from tests.support.instances import INSTANCES, create_body
from tests.support.server import running_roost, simulated


async def test_creation_waits_for_the_image(database_url: str, tmp_path: Path) -> None:
    coming = {"roost/debian12"}
    async with (
        running_roost(simulated(tmp_path, database_url)) as running,
        aiohttp.ClientSession() as session,
    ):
        async with session.get(f"{running.url}/v4/openapi.json") as response:
            contract = Contract(await response.json())
        client = Client(session, contract, running.url).as_user(running.token)
        running.roost.catalog.limit_images("us-lake", lambda _: False, coming.__contains__)
        made = await client.post(INSTANCES, create_body(booted=True))
        waits = "select count(*) from job where kind = 'compute_create' and status = 'waiting'"
        await until(lambda: running.roost.store.fetchval(waits), lambda count: count == 1)
        row = await client.get(f"{INSTANCES}/{made['id']}")
        assert row["status"] == "provisioning"
        coming.clear()
        await until(
            lambda: client.get(f"{INSTANCES}/{made['id']}"), lambda row: row["status"] == "running"
        )
