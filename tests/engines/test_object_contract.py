"""What every engine for objects promises: the simulated one, and a real S3 server."""

import asyncio
import operator
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from roost.engines.seaweedfs.cluster import Cluster, ClusterEntry
from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.engines.simulated.objects import SimulatedObjects
from roost.resources.object_storage.engine import (
    BucketGrant,
    BucketSpec,
    HeldBucket,
    KeySpec,
    NotEmptyError,
    ObjectEngine,
    Signature,
    TakenError,
    Usage,
    Wanted,
)
from tests.support.client import until
from tests.support.s3 import client_of, finish_late, get
from tests.support.seaweed import small_cluster

KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))
MARK, LATER = "1-20300131", "2-20300201"
PHOTOS = BucketSpec("photos", MARK, "private", False)
NEW = BucketSpec("photos", LATER, "private", False, is_new=True)
URL = Signature("photos", MARK, "a", "GET", 3600)


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnObjects]:
    """With the gateway."""
    engine = OwnObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    yield engine
    await engine.shut_down()


@pytest.fixture(scope="module")
async def cluster(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ClusterEntry]:
    """Without one."""
    async with small_cluster(tmp_path_factory.mktemp("cluster")) as entry:
        yield entry


@pytest.fixture
def seaweed(cluster: ClusterEntry) -> SeaweedObjects:
    return SeaweedObjects(Cluster(cluster))


_REAL = [pytest.param(each, marks=pytest.mark.seaweedfs) for each in ("seaweedfs", "gateway")]


@pytest.fixture(params=["simulated", *_REAL])
async def engine(
    request: pytest.FixtureRequest, tmp_path: Path, own: OwnObjects, seaweed: SeaweedObjects
) -> AsyncIterator[ObjectEngine]:
    """Empty, and empty again afterwards."""
    if request.param == "simulated":
        engine: ObjectEngine = SimulatedObjects(tmp_path, 0)
    else:
        engine = own if request.param == "gateway" else seaweed
    yield engine
    for name in await engine.keys():
        await engine.delete_key(name)
    for name, held in (await engine.buckets()).items():
        await engine.purge_bucket(name, held.mark)
    await engine.close()


BY_LABEL = pytest.mark.parametrize("engine", ["simulated", _REAL[0]], indirect=True)
"""The gateway waits for uploads, and with it no bucket has the place of another."""


async def holds(engine: ObjectEngine, is_open: Callable[[], Awaitable[bool]]) -> None:
    """What was opened is open at once. The server of a cluster hears of each change twice, and may
    go by an older one for a moment (docs/object-storage.md)."""
    if isinstance(engine, SeaweedObjects):
        await until(is_open, bool)
    else:
        assert await is_open()


async def refuses(engine: ObjectEngine, is_open: Callable[[], Awaitable[bool]]) -> None:
    """The same of what was closed."""
    if isinstance(engine, SeaweedObjects):
        await until(is_open, operator.not_)
    else:
        assert not await is_open()


async def write(engine: ObjectEngine, bucket: str, name: str) -> None:
    if isinstance(engine, SimulatedObjects):
        await engine.write(bucket, name)
        return
    async with client_of(await engine.endpoint(), KEY) as client:

        async def put() -> bool:
            return await client.status("PUT", f"{bucket}/{name}", b"x") == 200

        await holds(engine, put)


async def remove(engine: ObjectEngine, bucket: str, name: str) -> None:
    if isinstance(engine, SimulatedObjects):
        await engine.remove(bucket, name)
        return
    await engine.put_key(KEY)
    async with client_of(await engine.endpoint(), KEY) as client:
        await client.status("DELETE", f"{bucket}/{name}")
    await engine.delete_key(KEY.name)


@pytest.fixture
def arrive(engine: ObjectEngine, cluster: ClusterEntry) -> Callable[[], Awaitable[None]]:
    """An upload of the object `a` ends that had begun while it was still allowed."""

    async def arrive() -> None:
        if isinstance(engine, SimulatedObjects):
            await engine.write("photos", "a")
        else:
            await finish_late(cluster.filer, "photos", "a")

    return arrive


async def lets_in(engine: ObjectEngine, key: KeySpec = KEY) -> bool:
    """Whether a client with the key reads and writes."""
    if isinstance(engine, SimulatedObjects):
        return await engine.lets_in(key.name, "photos", writes=True)
    async with client_of(await engine.endpoint(), key) as client:
        return await client.status("PUT", "photos/b", b"x") == 200


async def opens(engine: ObjectEngine, url: str) -> bool:
    """Whether a signed URL finds its object."""
    if isinstance(engine, SimulatedObjects):
        return await engine.signed(url)
    return await get(url) == 200


async def under_way(engine: SeaweedObjects) -> int:
    """Requests that put something."""
    return await engine.under_way()


async def names(engine: ObjectEngine) -> list[str]:
    return [each.name for each in (await engine.list_objects("photos", Wanted(10))).objects]


async def test_nothing_is_there_at_first(engine: ObjectEngine) -> None:
    assert (list(await engine.buckets()), await engine.keys()) == ([], [])
    await engine.delete_bucket("photos", MARK)
    await engine.delete_key("key-1")
    assert await engine.is_empty("photos")
    assert (await engine.health()).ok


async def test_everything_can_be_put_twice(engine: ObjectEngine) -> None:
    for spec in (PHOTOS, PHOTOS, BucketSpec("photos", MARK, "public-read", True)):
        await engine.put_bucket(spec)
        await engine.put_key(KEY)
    assert (list(await engine.buckets()), await engine.keys()) == (["photos"], ["key-1"])
    for _ in range(2):
        await engine.delete_key("key-1")
        await engine.delete_bucket("photos", MARK)
    assert (list(await engine.buckets()), await engine.keys()) == ([], [])


async def test_a_bucket_with_objects_stays(engine: ObjectEngine) -> None:
    await engine.put_bucket(PHOTOS)
    await engine.put_key(KEY)
    await write(engine, "photos", "a")
    await engine.put_bucket(PHOTOS)
    assert not await engine.is_empty("photos")
    with pytest.raises(NotEmptyError):
        await engine.delete_bucket("photos", MARK)
    await remove(engine, "photos", "a")
    assert await engine.is_empty("photos")
    await engine.delete_bucket("photos", MARK)
    assert list(await engine.buckets()) == []


async def test_names_of_folders_and_detours_are_no_objects(engine: ObjectEngine) -> None:
    await engine.put_bucket(PHOTOS)
    await engine.put_key(KEY)
    await write(engine, "photos", "b/1")
    others = ("b", "b/", "b//1", "/b/1", "b/./1", "../photos/b/1", "b/1/", "b\\1", "B/1", "b/1 ")
    for name in others:
        assert not await engine.has_object("photos", name), name
    assert await engine.has_object("photos", "b/1")
    for prefix in ("b//", "/b", "b/./", "../photos/", "b\\"):
        assert (await engine.list_objects("photos", Wanted(10, prefix=prefix))).objects == ()
    await write(engine, "photos", "c/")
    assert await engine.has_object("photos", "c/")
    assert await names(engine) == ["b/1", "c/"]
    for name in ("b/1", "c/"):
        await remove(engine, "photos", name)


async def test_a_closed_bucket_lets_nobody_in(engine: ObjectEngine) -> None:
    spec = replace(PHOTOS, acl="public-read-write")
    await engine.put_bucket(spec)
    await engine.put_key(KEY)
    await write(engine, "photos", "a")
    url = await engine.sign(URL)
    await holds(engine, lambda: lets_in(engine))
    await holds(engine, lambda: opens(engine, url))
    await engine.close_bucket(spec)
    await refuses(engine, lambda: lets_in(engine))
    await refuses(engine, lambda: opens(engine, url))
    with pytest.raises(NotEmptyError):
        await engine.delete_bucket("photos", MARK)
    await engine.put_bucket(spec)
    await holds(engine, lambda: lets_in(engine))
    await holds(engine, lambda: opens(engine, url))


@BY_LABEL
async def test_an_object_that_comes_before_the_end_stays(
    engine: ObjectEngine, arrive: Callable[[], Awaitable[None]]
) -> None:
    await engine.put_bucket(PHOTOS)
    await engine.close_bucket(PHOTOS)
    await arrive()
    with pytest.raises(NotEmptyError):
        await engine.delete_bucket("photos", MARK)
    await engine.put_bucket(PHOTOS)
    assert await names(engine) == ["a"]


@BY_LABEL
async def test_an_object_that_comes_after_the_end_is_found(
    engine: ObjectEngine, arrive: Callable[[], Awaitable[None]]
) -> None:
    """While the row is still there, it is the row's; then it is nobody's, and no other gets it."""
    await engine.put_bucket(PHOTOS)
    await engine.close_bucket(PHOTOS)
    await engine.delete_bucket("photos", MARK)
    await arrive()
    with pytest.raises(NotEmptyError):
        await engine.delete_bucket("photos", MARK)
    with pytest.raises(TakenError):
        await engine.put_bucket(NEW)
    assert await engine.buckets() == {"photos": HeldBucket(None, None)}
    await engine.put_bucket(PHOTOS)
    assert await engine.buckets() == {"photos": HeldBucket(MARK, None)}
    assert await names(engine) == ["a"]


@BY_LABEL
async def test_a_bucket_is_of_its_row_alone(
    engine: ObjectEngine, arrive: Callable[[], Awaitable[None]]
) -> None:
    await engine.put_bucket(PHOTOS)
    await arrive()
    for spec in (NEW, replace(NEW, is_new=False)):
        with pytest.raises(TakenError):
            await engine.put_bucket(spec)
    for mark in (LATER, None):
        await engine.purge_bucket("photos", mark)
    await engine.delete_bucket("photos", LATER)
    assert await engine.buckets() == {"photos": HeldBucket(MARK, None)}
    assert await names(engine) == ["a"]
    await engine.purge_bucket("photos", MARK)
    await arrive()
    await engine.purge_bucket("photos", None)
    await engine.put_bucket(NEW)
    assert await engine.buckets() == {"photos": HeldBucket(LATER, None)}
    assert await names(engine) == []
    await engine.put_key(KEY)
    await write(engine, "photos", "a")
    await engine.purge_bucket("photos", MARK)
    assert await names(engine) == ["a"]


async def test_urls_of_before_open_nothing(engine: ObjectEngine) -> None:
    await engine.put_bucket(PHOTOS)
    url = await engine.sign(URL)
    await engine.close_bucket(PHOTOS)
    await engine.delete_bucket("photos", MARK)
    await engine.put_bucket(NEW)
    await engine.put_key(KEY)
    await write(engine, "photos", "a")
    await refuses(engine, lambda: opens(engine, url))
    later = await engine.sign(replace(URL, mark=LATER))
    await holds(engine, lambda: opens(engine, later))


async def test_what_is_made_again_is_open_at_once(engine: ObjectEngine) -> None:
    """A bucket of the same label, and the same key."""
    for number in range(10):
        spec = replace(NEW, mark=f"{number}-20300131")
        await engine.put_bucket(spec)
        await engine.put_key(KEY)
        await write(engine, "photos", "a")
        await engine.delete_key(KEY.name)
        await engine.close_bucket(spec)
        await engine.purge_bucket("photos", spec.mark)


async def test_uploads_that_are_not_complete_count_until_they_end(engine: ObjectEngine) -> None:
    await engine.put_bucket(PHOTOS)
    await engine.put_key(KEY)
    now = datetime.now(UTC).replace(tzinfo=None)
    if isinstance(engine, SimulatedObjects):
        await engine.upload("photos", "a", 5_000_000, now)
    else:
        async with client_of(await engine.endpoint(), KEY) as client:
            body = (await client.send("POST", "photos/a?uploads"))[1].decode()
            upload = body.partition("<UploadId>")[2].partition("</UploadId>")[0]
            part = f"photos/a?partNumber=1&uploadId={upload}"
            for _ in range(2):  # As clients do that had no answer.
                assert await client.status("PUT", part, bytes(5_000_000)) == 200
    assert await engine.usage("photos") == Usage(0, 5_000_000)
    await engine.end_uploads("photos", now - timedelta(days=1))
    assert await engine.usage("photos") == Usage(0, 5_000_000)
    await engine.end_uploads("photos", now + timedelta(days=1))
    assert await engine.usage("photos") == Usage(0, 0)


@pytest.mark.seaweedfs
async def test_an_upload_that_has_begun_is_waited_for(seaweed: SeaweedObjects) -> None:
    """An object that the server has acknowledged is not lost."""
    await seaweed.put_bucket(PHOTOS)
    await seaweed.put_key(KEY)
    begun, goes_on = asyncio.Event(), asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield bytes(100_000)
        begun.set()
        await goes_on.wait()
        yield bytes(100_000)

    async with client_of(await seaweed.endpoint(), KEY) as client, asyncio.TaskGroup() as tasks:
        upload = tasks.create_task(client.stream("photos/a", body()))
        await begun.wait()
        await until(lambda: under_way(seaweed), lambda count: count > 0)
        closing = tasks.create_task(seaweed.close_bucket(PHOTOS))
        await until(lambda: lets_in(seaweed), lambda open_: not open_)
        assert not closing.done()
        goes_on.set()
        await closing
        assert await upload == 200
    with pytest.raises(NotEmptyError):
        await seaweed.delete_bucket("photos", MARK)
    await seaweed.purge_bucket("photos", MARK)
    await seaweed.delete_key(KEY.name)


@pytest.mark.seaweedfs
async def test_a_key_of_a_former_name_opens_nothing(seaweed: SeaweedObjects) -> None:
    """Numbers of keys come again when the database is an older one."""
    await seaweed.put_bucket(PHOTOS)
    await seaweed.put_key(KEY)
    other = replace(KEY, access_key="B" * 20, secret_key="t" * 40)
    await seaweed.put_key(other)
    await holds(seaweed, lambda: lets_in(seaweed, other))
    await refuses(seaweed, lambda: lets_in(seaweed, KEY))
    await seaweed.delete_key(other.name)
    await refuses(seaweed, lambda: lets_in(seaweed, other))
    await seaweed.purge_bucket("photos", MARK)


@pytest.mark.seaweedfs
async def test_a_key_that_nobody_told_opens_no_later_bucket_of_the_name(own: OwnObjects) -> None:
    """Whoever ended the first one, and whatever else had still to be done."""
    await own.put_bucket(PHOTOS)
    await own.put_key(replace(KEY, lists=("photos",)))
    await holds(own, lambda: lets_in(own))
    await own.purge_bucket("photos", MARK)
    await own.put_bucket(NEW)
    assert not await lets_in(own)
    async with client_of(await own.endpoint(), KEY) as client:
        assert b"photos" not in (await client.send("GET", ""))[1]
    await own.delete_key(KEY.name)
    await own.purge_bucket("photos", LATER)
