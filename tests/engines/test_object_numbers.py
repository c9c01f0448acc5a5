"""Many objects in a bucket: pages by marker stay as quick, counts are exact, and all can go.

`ROOST_TEST_OBJECTS=1000000` is the large run.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator

import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec, Usage, Wanted
from tests.support.s3 import S3Client, client_of

pytestmark = pytest.mark.seaweedfs

MANY = int(os.environ.get("ROOST_TEST_OBJECTS", "2500"))
PAGE, WRITERS, MARK = 500, 16, "1-20300131"
KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))


@pytest.fixture
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    yield engine
    await engine.shut_down()


async def write(client: S3Client, first: int) -> None:
    for number in range(first, MANY, WRITERS):
        name = f"{number // 10_000:04}/{number % 10_000:05}"
        assert await client.status("PUT", f"photos/{name}", b"x") == 200


@pytest.mark.timeout(300 + MANY // 50)
async def test_many_objects(engine: OwnObjects) -> None:
    await engine.put_bucket(BucketSpec("photos", MARK, "private", False))
    await engine.put_key(KEY)
    url = await engine.endpoint()
    async with client_of(url, KEY) as client, asyncio.TaskGroup() as tasks:
        for first in range(WRITERS):
            tasks.create_task(write(client, first))
    names, times, marker = list[str](), list[float](), ""
    while True:
        began = time.perf_counter()
        page = await engine.list_objects("photos", Wanted(PAGE, marker))
        times.append(time.perf_counter() - began)
        names += [each.name for each in page.objects]
        if page.next_marker is None:
            break
        marker = page.next_marker
    assert names == sorted(set(names))
    assert len(names) == MANY
    tenth = max(1, len(times) // 10)
    early, late = sorted(times[:tenth]), sorted(times[-tenth:])
    print(f"a page: {early[tenth // 2] * 1e3:.0f} ms, {late[tenth // 2] * 1e3:.0f} ms")  # noqa: T201
    if len(times) > 100:
        assert late[tenth // 2] < 3 * early[tenth // 2]
    began = time.perf_counter()
    assert await engine.usage("photos") == Usage(MANY, MANY)
    counted = time.perf_counter() - began
    began = time.perf_counter()
    await engine.purge_bucket("photos", MARK)
    gone = time.perf_counter() - began
    print(f"{MANY} objects: counted in {counted:.1f} s, deleted in {gone:.1f} s")  # noqa: T201
    assert list(await engine.buckets()) == []
    await engine.put_bucket(BucketSpec("photos", MARK, "private", False))
    assert await engine.usage("photos") == Usage(0, 0)
