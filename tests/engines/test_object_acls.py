"""The ACL of an object is that object's alone: it ends when this is deleted or written anew."""

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.s3 import S3
from roost.engines.seaweedfs.server import ROOT, Server
from roost.engines.simulated.objects import SimulatedObjects
from roost.resources.object_storage.engine import (
    Acl,
    BucketGrant,
    BucketSpec,
    KeySpec,
    NotEmptyError,
    ObjectAcl,
    ObjectEngine,
)
from tests.support.s3 import S3Client, client_of

KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant("photos", True),))
MARK, LATER = "1-20300131", "2-20300201"
_REAL = pytest.param("gateway", marks=pytest.mark.seaweedfs)
Way: TypeAlias = Callable[[S3Client], Awaitable[None]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seaweedfs") / "objects"


@pytest.fixture(scope="module")
def server(folder: Path) -> Server:
    return Server(folder)


@pytest.fixture(scope="module")
async def own(server: Server) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(server)
    yield engine
    await engine.shut_down()


@pytest.fixture(params=["simulated", _REAL])
async def engine(
    request: pytest.FixtureRequest, tmp_path: Path, own: OwnObjects
) -> AsyncIterator[ObjectEngine]:
    """With a key for an empty bucket."""
    engine: ObjectEngine = own if request.param == "gateway" else SimulatedObjects(tmp_path, 0)
    await engine.put_bucket(spec("private"))
    await engine.put_key(KEY)
    yield engine
    await engine.delete_key(KEY.name)
    for name, held in (await engine.buckets()).items():
        await engine.purge_bucket(name, held.mark)


def spec(acl: Acl, **objects: ObjectAcl) -> BucketSpec:
    return BucketSpec("photos", MARK, acl, False, objects)


async def write(engine: ObjectEngine, name: str = "a") -> None:
    if isinstance(engine, SimulatedObjects):
        await engine.write("photos", name)
        return
    async with client_of(await engine.endpoint(), KEY) as client:
        assert await client.status("PUT", f"photos/{name}", b"x") == 200


async def remove(engine: ObjectEngine) -> None:
    if isinstance(engine, SimulatedObjects):
        await engine.remove("photos", "a")
        return
    async with client_of(await engine.endpoint(), KEY) as client:
        assert await client.status("DELETE", "photos/a") == 204


async def is_open(engine: ObjectEngine, name: str = "a") -> bool:
    """Whether strangers read it."""
    if isinstance(engine, SimulatedObjects):
        return await engine.acl("photos", name) == "public-read"
    async with client_of(await engine.endpoint(), None) as stranger:
        statuses = {await stranger.status(each, f"photos/{name}") for each in ("GET", "HEAD")}
        statuses.add(await stranger.status("GET", f"photos/{name}", headers={"Range": "bytes=0-0"}))
    return statuses <= {200, 206}


@pytest.mark.parametrize(
    ("around", "own_acl"), [("private", "public-read"), ("public-read", "private")]
)
@pytest.mark.parametrize("deletes", [True, False])
async def test_an_object_written_anew_has_the_acl_of_its_bucket(
    engine: ObjectEngine, around: Acl, own_acl: Acl, deletes: bool
) -> None:
    before, after = own_acl == "public-read", around == "public-read"
    given = ObjectAcl(own_acl, "first")
    await write(engine)
    await engine.put_bucket(spec(around, a=given))
    assert (await is_open(engine), await engine.ended_acls("photos")) == (before, frozenset())
    if deletes:
        await remove(engine)
    await write(engine)
    for _ in range(2):
        assert await is_open(engine) == after
        assert await engine.ended_acls("photos") == {"first"}
        # Whoever has not heard of that says the same again, which brings nothing back.
        await engine.put_bucket(spec(around, a=given))
    await engine.put_bucket(spec(around, a=ObjectAcl(own_acl, "second")))
    assert (await is_open(engine), await engine.ended_acls("photos")) == (before, frozenset())


async def test_acls_of_others_stay(engine: ObjectEngine) -> None:
    for name in ("a", "b"):
        await write(engine, name)
    both = {name: ObjectAcl("public-read", f"of {name}") for name in ("a", "b")}
    await engine.put_bucket(spec("private", **both))
    await write(engine)
    assert (await is_open(engine), await is_open(engine, "b")) == (False, True)
    await engine.put_access(spec("private", b=both["b"]))
    assert (await is_open(engine, "b"), await engine.ended_acls("photos")) == (True, frozenset())


async def test_a_bucket_of_the_name_has_no_acls_of_the_one_before(engine: ObjectEngine) -> None:
    await write(engine)
    await engine.put_bucket(spec("private", a=ObjectAcl("public-read", "first")))
    with pytest.raises(NotEmptyError):
        await engine.delete_bucket("photos", MARK)
    await remove(engine)
    await engine.delete_bucket("photos", MARK)
    await engine.put_bucket(BucketSpec("photos", LATER, "private", False))
    await engine.put_key(KEY)
    await write(engine)
    assert (await is_open(engine), await engine.ended_acls("photos")) == (False, frozenset())


async def _over(client: S3Client) -> None:
    assert await client.status("PUT", "photos/a", b"first") == 200


async def _copy(client: S3Client) -> None:
    headers = {"x-amz-copy-source": "/photos/b"}
    assert await client.status("PUT", "photos/a", headers=headers) == 200


async def _copy_onto_itself(client: S3Client) -> None:
    headers = {"x-amz-copy-source": "/photos/a", "x-amz-metadata-directive": "REPLACE"}
    assert await client.status("PUT", "photos/a", headers=headers) == 200


async def _delete(client: S3Client) -> None:
    assert await client.status("DELETE", "photos/a") == 204
    await _over(client)


async def _delete_many(client: S3Client) -> None:
    body = b"<Delete><Object><Key>a</Key></Object></Delete>"
    assert await client.status("POST", "photos?delete", body) == 200
    await _over(client)


async def _parts(client: S3Client) -> None:
    status, answer = await client.send("POST", "photos/a?uploads")
    assert status == 200
    found = re.search(rb"<UploadId>([^<]+)", answer)
    assert found is not None
    query = f"uploadId={found[1].decode()}"
    assert await client.status("PUT", f"photos/a?partNumber=1&{query}", b"first") == 200
    _, answer = await client.send("GET", f"photos/a?{query}")
    etag = re.search(rb"<ETag>([^<]+)", answer)
    assert etag is not None
    part = b"<Part><PartNumber>1</PartNumber><ETag>%b</ETag></Part>" % etag[1]
    body = b"<CompleteMultipartUpload>%b</CompleteMultipartUpload>" % part
    assert await client.status("POST", f"photos/a?{query}", body) == 200


@pytest.mark.seaweedfs
@pytest.mark.parametrize("way", [_over, _copy, _copy_onto_itself, _delete, _delete_many, _parts])
async def test_each_way_to_write_an_object_ends_its_acl(own: OwnObjects, way: Way) -> None:
    """Also with the same content, and within a second of the one before."""
    await own.put_bucket(spec("private"))
    await own.put_key(KEY)
    try:
        async with client_of(await own.endpoint(), KEY) as client:
            for name in ("a", "b"):
                assert await client.status("PUT", f"photos/{name}", b"first") == 200
            both = {name: ObjectAcl("public-read", f"of {name}") for name in ("a", "b")}
            await own.put_bucket(spec("private", **both))
            assert await is_open(own)
            await way(client)
        assert (await is_open(own), await is_open(own, "b")) == (False, True)
        assert await own.ended_acls("photos") == frozenset({"of a"})
    finally:
        await own.purge_bucket("photos", MARK)


@pytest.mark.seaweedfs
async def test_what_is_refused_and_what_describes_an_object_leave_its_acl(own: OwnObjects) -> None:
    await own.put_bucket(spec("private"))
    await own.put_key(KEY)
    tags = b"<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>"
    try:
        await write(own)
        await own.put_bucket(spec("private", a=ObjectAcl("public-read", "first")))
        async with client_of(await own.endpoint(), KEY) as client:
            headers = {"If-None-Match": "*"}
            assert await client.status("PUT", "photos/a", b"y", headers) == 412
            assert await client.status("PUT", "photos/a?tagging", tags) == 200
            assert await client.status("POST", "photos/a?uploads") == 200
        assert await is_open(own)
        async with client_of(await own.endpoint(), None) as stranger:
            assert await stranger.status("PUT", "photos/a", b"y") == 403
        assert (await is_open(own), await own.ended_acls("photos")) == (True, frozenset())
    finally:
        await own.purge_bucket("photos", MARK)


@pytest.mark.seaweedfs
async def test_an_acl_ends_also_when_nobody_was_there_to_note_it(
    folder: Path, server: Server, own: OwnObjects
) -> None:
    """As when the gateway is killed between the end of a write and its note of that."""
    await own.put_bucket(spec("private"))
    await own.put_key(KEY)
    try:
        await write(own)
        await own.put_bucket(spec("private", a=ObjectAcl("public-read", "first")))
        behind = S3(server.inner_url(), ROOT, (folder / "secret").read_text())
        await behind.call("PUT", f"{_place(folder)}/a", body="another")
        assert not await is_open(own)
        assert await own.ended_acls("photos") == {"first"}
    finally:
        await own.purge_bucket("photos", MARK)


def _place(folder: Path) -> str:
    """What the bucket is called behind the gateway."""
    with closing(sqlite3.connect(folder / "register.db")) as register:
        sql = "select value from held where kind = 'bucket' and name = 'photos'"
        found: str = json.loads(register.execute(sql).fetchone()[0])["place"]
    return found
