"""Real guests that die, and stops of all of them that somebody plans."""

import asyncio
import json
import os
import signal
import time
from pathlib import Path

import pytest

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import events_of, settled
from tests.e2e.cloud import Cloud
from tests.e2e.region import Region, opened_region
from tests.engines.harness import until

pytestmark = pytest.mark.qemu

_STOPS = 2
_NOTICE_SECONDS = 30.0
"""On a machine that is busy; the watch of all guests takes up to a minute."""


async def test_a_dead_guest_is_noticed_and_planned_stops_are_no_crashes(tmp_path: Path) -> None:
    async with opened_region(tmp_path, MINI) as region:
        cloud = region.cloud
        await cloud.start()
        client = await cloud.client()
        row = await client.post("/compute/instances", region.body("one"))
        compute_id: int = row["id"]
        assert (await settled(cloud))[compute_id]["status"] == "running"
        [pid] = region.host.pids(compute_id)
        killed = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        await until(lambda: events_of(cloud, compute_id), lambda events: _boots(events) == 1)
        assert time.monotonic() - killed < _NOTICE_SECONDS
        assert (await settled(cloud))[compute_id]["status"] == "running"
        for _ in range(_STOPS):
            await _down(cloud)
            assert region.host.pids(compute_id) == []
            checked = await asyncio.to_thread(cloud.command, "fsck")
            assert checked.stdout == "fsck: clean\n"
            await cloud.start()
            await until(lambda: _pids(region, compute_id), lambda pids: len(pids) == 1, 60)
            assert (await settled(cloud))[compute_id]["status"] == "running"
        actions = [action for action, _ in await events_of(cloud, compute_id)]
        assert actions.count("host_reboot") == _STOPS
        assert _boots(await events_of(cloud, compute_id)) == 1
        assert _told(cloud, "guest_booted_again") == ["lassie_reboot", *["host_reboot"] * _STOPS]


def _boots(events: list[tuple[str, str]]) -> int:
    return [action for action, _ in events].count("lassie_reboot")


async def _pids(region: Region, compute_id: int) -> list[int]:
    return await asyncio.to_thread(region.host.pids, compute_id)


async def _down(cloud: Cloud) -> None:
    done = await asyncio.to_thread(cloud.command, "down")
    assert done.returncode == 0, done.stderr
    assert cloud.server is not None
    assert await cloud.server.ended() == 0


def _told(cloud: Cloud, event: str) -> list[str]:
    """Actions of log lines."""
    lines = (line for line in cloud.log.read_text().splitlines() if f'"{event}"' in line)
    return [json.loads(line)["action"] for line in lines]
