"""Other users of the host get nothing of object storage but S3, which asks for a key."""

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec
from tests.support import local_attacks
from tests.support.s3 import client_of
from tests.support.seaweed import small_cluster

pytestmark = [
    pytest.mark.seaweedfs,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else"),
]

KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))
_AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seaweedfs") / "objects"


@pytest.fixture(scope="module")
async def engine(folder: Path) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(folder))
    await engine.put_bucket(BucketSpec("photos", "1-20300131", "private", False))
    await engine.put_key(KEY)
    yield engine
    await engine.shut_down()


async def attack(ports: dict[str, int]) -> list[str]:
    """What answers nobody, who is another user than ours."""
    process = await asyncio.create_subprocess_exec(
        *(*_AS_NOBODY, sys.executable, "-m", local_attacks.__name__, json.dumps(ports)),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(120):
        output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode().splitlines()


async def test_no_port_but_s3_answers_another_user(engine: OwnObjects, folder: Path) -> None:
    async with client_of(await engine.endpoint(), KEY) as client:
        assert await client.status("PUT", "photos/a", b"content") == 200
        assert await attack(json.loads((folder / "ports.json").read_text())) == []
        assert await client.send("GET", "photos/a") == (200, b"content")
    async with client_of(await engine.endpoint(), None) as stranger:
        assert await stranger.status("GET", "photos/a") == 403


async def test_the_same_attacks_open_a_server_that_is_not_kept(tmp_path: Path) -> None:
    """Or they would prove nothing."""
    async with small_cluster(tmp_path / "open") as entry:
        ports = json.loads((tmp_path / "open" / "ports.json").read_text())
        assert entry.filer.endswith(f":{ports['filer.grpc']}")
        found = {each.partition(" ")[0] for each in await attack(ports)}
    assert found == {"filer:", "master:", "volume:", "s3:"}


async def test_no_file_can_be_read_by_another_user(engine: OwnObjects, folder: Path) -> None:
    await engine.endpoint()
    assert await asyncio.to_thread(shared, folder) == []


def shared(folder: Path) -> list[Path]:
    """What others may read or write, also of the sockets that the server has elsewhere."""
    ports = {str(port) for port in json.loads((folder / "ports.json").read_text()).values()}
    sockets = Path("/tmp").glob("seaweedfs-*.sock")
    began = (folder / "secret").lstat().st_mtime
    own = [
        each
        for each in sockets
        if each.stem.rpartition("-")[2] in ports and each.lstat().st_mtime >= began
    ]
    every = (folder, *folder.iterdir(), *own)
    return [each for each in every if stat.S_IMODE(each.lstat().st_mode) & 0o077]
