"""Samples of maintenance and the notifications of it."""

from datetime import datetime

from roost.app.roost import Roost
from roost.resources.maintenance.service import schedule
from tests.api.conftest import Account
from tests.api.samples.sample import Samples, Value
from tests.support.client import Client
from tests.support.instances import made


async def _maintenance(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    compute_id = int((await made(client))["id"])
    async with roost.store.transaction() as db:
        return await schedule(db, compute_id, "reboot", datetime(2126, 12, 1), "a fan is loud")


SAMPLES = Samples({}, rows={"list_maintenance": _maintenance, "list_notifications": _maintenance})
