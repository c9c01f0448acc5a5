"""Commands of image builds leave nothing on the host, however they end."""

import asyncio
from pathlib import Path

import pytest

from roost.engines.qemu.images.commands import IN_OWN_MOUNTS, run
from roost.threads import DISK
from tests.support.client import until


def is_mount_point(folder: Path) -> bool:
    return str(folder) in Path("/proc/self/mountinfo").read_text()


@pytest.mark.qemu
async def test_mounts_end_with_the_command(tmp_path: Path) -> None:
    tree, ready = tmp_path / "tree", tmp_path / "ready"
    tree.mkdir()
    script = 'mount -t tmpfs none "$0" && touch "$0/inside" "$1" && tail -f /dev/null'
    build = asyncio.create_task(run(*IN_OWN_MOUNTS, "sh", "-c", script, tree, ready))
    await until(lambda: DISK.run(ready.exists), bool)
    assert list(tree.iterdir()) == []
    build.cancel()
    with pytest.raises(asyncio.CancelledError):
        await build
    assert not is_mount_point(tree)
