"""A real guest goes to another region of this host and back, also when the server is killed."""

from dataclasses import replace
from pathlib import Path

import pytest

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import SETTLE_SECONDS, check_sound
from tests.e2e.guest import Guest
from tests.e2e.host import Host
from tests.e2e.local_catalog import ELSEWHERE, REGION
from tests.e2e.region import Region, opened_region
from tests.engines.harness import claim_pools
from tests.support.client import Json, until
from tests.support.instances import INSTANCES
from tests.support.volumes import VOLUMES

pytestmark = [pytest.mark.qemu, pytest.mark.spec("B compute region")]

_DISK = "/dev/disk/by-id/scsi-0Roost_Volume_data"


def _arrived(row: Json, region: str) -> bool:
    return (row["region"], row["status"]) == (region, "running")


async def test_there_and_back(tmp_path: Path) -> None:
    """What is on its disk, on its volume and in its backup is there, and nowhere else."""
    pools = claim_pools()
    async with opened_region(tmp_path, MINI, pools) as here:
        there = _elsewhere(here, Host(here.host.state, pools, ELSEWHERE))
        await here.cloud.start()
        client = await here.cloud.client()
        row = await client.post(INSTANCES, here.body("wanderer", type="g1-roomy-1"))
        guest = await Guest.of(here, row)
        await until(guest.row, lambda row: row["status"] == "running", SETTLE_SECONDS)
        volume = await client.post(VOLUMES, {"label": "data", "compute_id": row["id"], "size": 10})
        await guest.says(f"test -b {_DISK}")
        await guest.says(f"echo disk >/root/mark; echo volume >{_DISK}; sync")

        await client.post(f"{guest.path}/migrate", {"region": ELSEWHERE})
        await until(guest.row, lambda row: _arrived(row, ELSEWHERE), SETTLE_SECONDS)
        moved = replace(guest, region=there)
        assert await moved.says(f"cat /root/mark; head -n 1 {_DISK}") == "disk\nvolume"
        assert here.host.held().folders == here.host.held().processes == []
        assert there.host.held().folders == [row["id"]]
        assert (await client.get(f"{VOLUMES}/{volume['id']}"))["region"] == ELSEWHERE

        await client.post(f"{guest.path}/migrate", {"region": REGION})
        assert here.cloud.server is not None
        await here.cloud.server.kill()
        await here.cloud.start()
        guest = await Guest.of(here, row)
        await until(guest.row, lambda row: _arrived(row, REGION), SETTLE_SECONDS)
        assert await guest.says(f"cat /root/mark; head -n 1 {_DISK}") == "disk\nvolume"
        await check_sound(here.cloud, {row["id"]: "running"})
        assert there.host.held().folders == []
        await here.cloud.close()
        assert there.host.remains() == []


def _elsewhere(region: Region, host: Host) -> Region:
    return replace(region, host=host, shell=replace(region.shell, device=host.network))
