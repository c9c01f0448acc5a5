"""What a region's register is for: without it nobody knows which objects are whose."""

import operator
import shutil
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import (
    BucketGrant,
    BucketSpec,
    HeldBucket,
    KeySpec,
    Signature,
)
from tests.support.client import until
from tests.support.s3 import client_of

pytestmark = pytest.mark.seaweedfs

MARK = "1-20300131"
KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))


async def test_a_copy_of_it_and_of_the_objects_is_the_region_again(tmp_path: Path) -> None:
    """They come back one after the other, as from a backup and from a copy of the folder."""
    first, second = tmp_path / "first", tmp_path / "second"
    server = Server(first)
    engine = OwnObjects(server)
    await engine.put_bucket(BucketSpec("photos", MARK, "private", False))
    await engine.put_key(KEY)
    async with client_of(await engine.endpoint(), KEY) as client:
        assert await client.status("PUT", "photos/a", b"kept") == 200
    await server.stop()
    second.mkdir(mode=0o700)
    shutil.copy(first / "register.db", second)
    restored = Server(second)
    engine = OwnObjects(restored)
    try:
        assert await engine.buckets() == {}, "it was not started yet"
        await restored.ensure()
        assert await engine.buckets() == {"photos": HeldBucket(MARK, None, lost=True)}
        await restored.stop()
        shutil.rmtree(second / "data")
        shutil.copytree(first / "data", second / "data")
        await restored.ensure()
        assert await engine.buckets() == {"photos": HeldBucket(MARK, None)}
        async with client_of(await engine.endpoint(), KEY) as client:
            ask = partial(client.send, "GET", "photos/a")
            await until(ask, partial(operator.eq, (200, b"kept")), 30)
        url = await engine.sign(Signature("photos", MARK, "a", "GET", 60, None))
        assert await _read(url) == b"kept"
    finally:
        await engine.shut_down()


async def _read(url: str) -> bytes:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return await answer.read()
