"""A cloud with real guests is saved while they write, and gets up again from what was saved."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from roost.engines.qemu.images.mini import MINI
from tests.e2e.checks import SETTLE_SECONDS, check_sound, settled
from tests.e2e.cloud import opened
from tests.e2e.host import Host
from tests.e2e.region import Region, opened_region
from tests.e2e.story import Story
from tests.support.client import Json, until
from tests.support.instances import INSTANCES

pytestmark = [pytest.mark.qemu, pytest.mark.timeout(600)]

_VOLUME = "/dev/disk/by-id/scsi-0Roost_Volume_data"
_MOUNT = f"mount {_VOLUME} /mnt"
_DIGEST = "sha256sum </root/data"
_READ = "sha256sum </root/data; sha256sum </mnt/data"
_FILL = "dd if=/dev/urandom bs=64k count=48 2>/dev/null"

# Each number is on the root disk before it is on the volume.
_COUNT = """
cat >/root/count.sh <<'EOF'
i=0
while i=$((i+1)); do
  echo $i >/root/count.new; sync; mv /root/count.new /root/count; sync
  echo $i >/mnt/count.new; sync; mv /mnt/count.new /mnt/count; sync
done
EOF
setsid sh /root/count.sh >/dev/null 2>&1 </dev/null & echo counting
"""


async def test_guests_are_saved_while_they_write(tmp_path: Path) -> None:
    file, disks = str(tmp_path / "cloud.backup"), str(tmp_path / "disks")
    async with opened_region(tmp_path, MINI) as region:
        await region.cloud.start()
        story = Story(region)
        first, second, kept = await _fill(story)
        saved = await _save(story, str(tmp_path / "earlier.backup"), disks)
        await story.done(first, f"{_FILL} >/root/data; sync")
        before = await story.done(first, _READ), kept
        again = await _save(story, file, disks)
        assert 0 < again < saved / 2
        done = region.cloud.command("check-backup", "--disks", disks, file)
        assert "is whole" in done.stdout, done.stderr
        done = region.cloud.command("prune-backups", disks, file)
        assert "removed 0 pieces" not in done.stdout, done.stderr
        await region.cloud.close()
        await _refuses_damage(region, tmp_path, file, disks)
        async with _restored(region, tmp_path, file, disks) as restored:
            story = Story(restored)
            await restored.cloud.start()
            await until(partial(_processes, restored, first), bool, SETTLE_SECONDS)
            await story.booted(first)
            await story.done(first, f"{_MOUNT} 2>/dev/null; true")
            await story.send("POST", f"{INSTANCES}/{second}/boot")
            await story.booted(second)
            after = (
                await story.done(first, _READ),
                await story.done(second, _DIGEST),
            )
            assert after == before
            disk, volume = map(int, (await story.done(first, "cat /root/count /mnt/count")).split())
            assert disk - 1 <= volume <= disk
            third = await _create(story, "third")
            await check_sound(restored.cloud, dict.fromkeys((first, second, third), "running"))
            checked = restored.cloud.command("fsck")
            assert checked.returncode == 0, checked.stdout


async def _refuses_damage(region: Region, folder: Path, file: str, disks: str) -> None:
    """A piece that is cut short, empty or gone; nothing is left of what was tried."""
    piece = _any_piece(disks)
    content, state = piece.read_bytes(), folder / "refused"
    async with opened(state, **_options(region, folder)) as cloud:
        for damage in (content[: len(content) // 2], b"", None):
            piece.unlink() if damage is None else piece.write_bytes(damage)
            refused = cloud.command("restore", "--disks", disks, file)
            assert refused.returncode == 1
            assert refused.stderr.splitlines()[-1] == (
                f"Error: {disks} lacks 1 of the pieces that the backup lists"
                if damage is None
                else f"Error: the piece {piece.name} in {disks} is missing or damaged"
            )
            assert not state.exists()
            assert cloud.command("check-backup", "--disks", disks, file).returncode == 1
    piece.write_bytes(content)


async def _processes(region: Region, compute_id: int) -> list[int]:
    """Of a guest that the row says runs: it is booted when the state is served."""
    return region.host.pids(compute_id)


def _any_piece(disks: str) -> Path:
    return max(Path(disks).glob("??/*"))


@asynccontextmanager
async def _restored(region: Region, folder: Path, file: str, disks: str) -> AsyncIterator[Region]:
    """Images are kept in a place of its own."""
    state = folder / "restored"
    host = Host(state, region.host.pools)
    async with opened(state, **_options(region, folder)) as cloud:
        done = cloud.command("restore", "--disks", disks, file)
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "fsck: clean"), done
        yield Region(cloud, host, replace(region.shell, device=host.network), region.image)
    assert host.remains() == []


def _options(region: Region, folder: Path) -> dict[str, object]:
    catalog = region.cloud.settings.catalog
    return {"engines": "local", "catalog": catalog, "images": folder / "images"}


async def _fill(story: Story) -> tuple[int, int, str]:
    """One that runs with a volume and counts on both, one that is off, and the data of that."""
    first, second = await _create(story, "first"), await _create(story, "second")
    volume = await story.send(
        "POST", "/volumes", {"label": "data", "size": 10, "compute_id": first}
    )
    await story.ended(volume["id"], "volume_create", "volume")
    await until(lambda: story.run(first, f"test -b {_VOLUME} && echo there"), bool)
    await story.done(first, f"mkfs.ext4 -q {_VOLUME} && {_MOUNT} && {_FILL} >/mnt/data")
    for compute_id in (first, second):
        await story.done(compute_id, f"{_FILL} >/root/data; sync")
    await story.done(first, _COUNT)
    kept = await story.done(second, _DIGEST)
    await story.send("POST", f"{INSTANCES}/{second}/shutdown")
    await settled(story.region.cloud)
    return first, second, kept


async def _create(story: Story, label: str) -> int:
    row: Json = await story.send("POST", INSTANCES, story.region.body(label))
    assert (await story.ended(row["id"], "compute_create"))["status"] == "finished"
    await settled(story.region.cloud)
    await story.booted(row["id"])
    return int(row["id"])


async def _save(story: Story, file: str, disks: str) -> int:
    """Beside the server; how many bytes were new."""
    done = story.region.cloud.command("backup", "--disks", disks, file)
    assert done.returncode == 0, done.stderr
    story.tell(done.stdout)
    found = re.search(r"(\d+) new bytes", done.stdout)
    assert found is not None
    return int(found[1])
