"""Samples of volumes."""

from roost.app.roost import Roost
from roost.ids import new_uuid
from tests.api.conftest import Account
from tests.api.samples.sample import Sample, Samples, Value
from tests.support.client import Client
from tests.support.volumes import attached, made_volume


async def _volume(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    return int((await made_volume(client, label=f"v{new_uuid()[:8]}", tags=["blue"]))["id"])


async def _attached_volume(client: Client, roost: Roost, account: Account, parent: str) -> Value:
    """To the instance of that path."""
    volume_id = int(await _volume(client, roost, account, ""))
    return int((await attached(client, volume_id, int(parent.rpartition("/")[2])))["id"])


SAMPLES = Samples(
    {"view_volume": Sample(_volume)}, rows={"list_volumes_of_instance": _attached_volume}
)
