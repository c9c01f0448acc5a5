"""What every engine for objects promises: the simulated one, and a real S3 server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.server import Server
from roost.engines.simulated.objects import SimulatedObjects
from roost.resources.object_storage.engine import (
    BucketGrant,
    BucketSpec,
    KeySpec,
    NotEmptyError,
    ObjectEngine,
)
from tests.support.s3 import client_of

KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))
PHOTOS = BucketSpec("photos", "private", False)


@pytest.fixture(scope="module")
async def seaweed(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SeaweedObjects]:
    engine = SeaweedObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    yield engine
    await engine.shut_down()


@pytest.fixture(params=["simulated", pytest.param("seaweedfs", marks=pytest.mark.seaweedfs)])
async def engine(
    request: pytest.FixtureRequest, tmp_path: Path, seaweed: SeaweedObjects
) -> AsyncIterator[ObjectEngine]:
    """Empty, and empty again afterwards."""
    engine: ObjectEngine = seaweed
    if request.param == "simulated":
        engine = SimulatedObjects(tmp_path, 0)
    yield engine
    for name in await engine.keys():
        await engine.delete_key(name)
    for name in await engine.buckets():
        await remove(engine, name, "a")
        await engine.delete_bucket(name)
    await engine.close()


async def write(engine: ObjectEngine, bucket: str, name: str) -> None:
    if isinstance(engine, SimulatedObjects):
        await engine.write(bucket, name)
        return
    async with client_of(await engine.endpoint(), KEY) as client:
        assert await client.status("PUT", f"{bucket}/{name}", b"x") == 200


async def remove(engine: ObjectEngine, bucket: str, name: str) -> None:
    if isinstance(engine, SimulatedObjects):
        await engine.remove(bucket, name)
        return
    await engine.put_key(KEY)
    async with client_of(await engine.endpoint(), KEY) as client:
        await client.status("DELETE", f"{bucket}/{name}")
    await engine.delete_key(KEY.name)


async def test_nothing_is_there_at_first(engine: ObjectEngine) -> None:
    assert (await engine.buckets(), await engine.keys()) == ([], [])
    await engine.delete_bucket("photos")
    await engine.delete_key("key-1")
    assert await engine.is_empty("photos")
    assert (await engine.health()).ok


async def test_everything_can_be_put_twice(engine: ObjectEngine) -> None:
    for spec in (PHOTOS, PHOTOS, BucketSpec("photos", "public-read", True)):
        await engine.put_bucket(spec)
        await engine.put_key(KEY)
    assert (await engine.buckets(), await engine.keys()) == (["photos"], ["key-1"])
    for _ in range(2):
        await engine.delete_key("key-1")
        await engine.delete_bucket("photos")
    assert (await engine.buckets(), await engine.keys()) == ([], [])


async def test_a_bucket_with_objects_stays(engine: ObjectEngine) -> None:
    await engine.put_bucket(PHOTOS)
    await engine.put_key(KEY)
    await write(engine, "photos", "a")
    await engine.put_bucket(PHOTOS)
    assert not await engine.is_empty("photos")
    with pytest.raises(NotEmptyError):
        await engine.delete_bucket("photos")
    await remove(engine, "photos", "a")
    assert await engine.is_empty("photos")
    await engine.delete_bucket("photos")
    assert await engine.buckets() == []
