"""Who may do what with a bucket of each ACL, by requests to a real S3 server."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import pytest

from roost.engines.seaweedfs.objects import SeaweedObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import Acl, BucketGrant, BucketSpec, KeySpec
from tests.support.s3 import S3Client, client_of

BUCKET, OTHER = "photos", "others"
OK, NO_CONTENT, FORBIDDEN = 200, 204, 403


def _key(name: str, *grants: BucketGrant) -> KeySpec:
    return KeySpec(name, f"{name.upper():A<20}".replace("-", "X"), name * 8, grants)


WRITER = _key("key-1", BucketGrant(BUCKET, True))
READER = _key("key-2", BucketGrant(BUCKET, False))
NOTHING = _key("key-3")
FOREIGNER = _key("key-4", BucketGrant(OTHER, True))
KEYS: dict[str, KeySpec | None] = {
    "writer": WRITER,
    "reader": READER,
    "nothing": NOTHING,
    "foreigner": FOREIGNER,
    "anonymous": None,
}
READS = {
    "private": {"writer", "reader"},
    "public-read": set(KEYS),
    "authenticated-read": set(KEYS) - {"anonymous"},
    "public-read-write": set(KEYS),
}
WRITES = {
    "private": {"writer"},
    "public-read": {"writer"},
    "authenticated-read": {"writer"},
    "public-read-write": set(KEYS) - {"anonymous"},
}
"""SeaweedFS lets nobody write without a key."""

_POLICY = (
    b'{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",'
    b'"Action":["s3:*"],"Resource":["arn:aws:s3:::photos/*"]}]}'
)


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SeaweedObjects]:
    engine = SeaweedObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    for name in (BUCKET, OTHER):
        await engine.put_bucket(BucketSpec(name, "private", False))
    for key in KEYS.values():
        if key is not None:
            await engine.put_key(key)
    yield engine
    await engine.shut_down()


@pytest.fixture(params=KEYS)
async def client(request: pytest.FixtureRequest, engine: SeaweedObjects) -> AsyncIterator[S3Client]:
    async with client_of(await engine.endpoint(), KEYS[request.param]) as client:
        yield client


def who(client: S3Client) -> str:
    return next(name for name, key in KEYS.items() if key is client.key)


@pytest.mark.parametrize("acl", get_args(Acl))
async def test_objects(engine: SeaweedObjects, client: S3Client, acl: Acl) -> None:
    await engine.put_bucket(BucketSpec(BUCKET, acl, False))
    async with client_of(client.url, WRITER) as writer:
        for name in ("a", "b"):
            assert await writer.status("PUT", f"{BUCKET}/{name}", b"content") == OK
    may_read = OK if who(client) in READS[acl] else FORBIDDEN
    assert await client.status("GET", f"{BUCKET}/a") == may_read
    assert await client.status("HEAD", f"{BUCKET}/a") == may_read
    assert await client.status("GET", f"{BUCKET}?list-type=2") == may_read
    may_write = who(client) in WRITES[acl]
    assert await client.status("PUT", f"{BUCKET}/c", b"x") == (OK if may_write else FORBIDDEN)
    wanted = NO_CONTENT if may_write else FORBIDDEN
    assert await client.status("DELETE", f"{BUCKET}/b") == wanted


@pytest.mark.parametrize("source", ["a", "%61", "./a"])
async def test_nobody_copies_what_they_cannot_read(
    engine: SeaweedObjects, client: S3Client, source: str
) -> None:
    await engine.put_bucket(BucketSpec(BUCKET, "private", False))
    async with client_of(client.url, WRITER) as writer:
        assert await writer.status("PUT", f"{BUCKET}/a", b"content") == OK
    headers = {"x-amz-copy-source": f"/{BUCKET}/{source}"}
    status = await client.status("PUT", f"{OTHER}/copy", headers=headers)
    assert status in (FORBIDDEN, 404, 400)


async def test_a_key_sees_its_own_buckets(client: S3Client) -> None:
    status, body = await client.send("GET", "")
    if client.key is None:
        assert status == FORBIDDEN
        return
    granted = {grant.bucket for grant in client.key.grants}
    assert status == OK
    shown = {name for name in (BUCKET, OTHER) if f"<Name>{name}</Name>".encode() in body}
    assert shown == granted


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", f"{BUCKET}?policy", _POLICY),
        ("DELETE", f"{BUCKET}?policy", b""),
        ("PUT", f"{BUCKET}?cors", b"<CORSConfiguration/>"),
        ("DELETE", f"{BUCKET}?cors", b""),
        ("PUT", f"{BUCKET}?versioning", b"<VersioningConfiguration/>"),
        ("PUT", f"{BUCKET}?lifecycle", b"<LifecycleConfiguration/>"),
        ("DELETE", BUCKET, b""),
        ("PUT", "of-nobody", b""),
    ],
)
async def test_settings_of_buckets_are_the_operators(
    engine: SeaweedObjects, client: S3Client, method: str, path: str, body: bytes
) -> None:
    before = await engine.buckets()
    assert await client.status(method, path, body) == FORBIDDEN
    assert await engine.buckets() == before


@pytest.mark.parametrize("acl", ["public-read", "public-read-write"])
@pytest.mark.parametrize("path", [f"{BUCKET}?acl", f"{BUCKET}/a?acl"])
async def test_no_client_sets_acls(
    engine: SeaweedObjects, client: S3Client, path: str, acl: str
) -> None:
    await engine.put_bucket(BucketSpec(BUCKET, "private", False))
    assert await client.status("PUT", path, headers={"x-amz-acl": acl}) == FORBIDDEN


@pytest.mark.parametrize("action", ["CreateAccessKey", "ListUsers", "CreateUser", "PutUserPolicy"])
async def test_no_key_reaches_keys(engine: SeaweedObjects, client: S3Client, action: str) -> None:
    before = await engine.keys()
    body = f"Action={action}&UserName=key-1&Version=2010-05-08".encode()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    status, answer = await client.send("POST", "", body, form)
    assert b"key-1" not in answer
    assert b"AccessKeyId" not in answer
    assert status != OK or not answer
    assert await engine.keys() == before


async def test_a_deleted_key_opens_nothing(engine: SeaweedObjects) -> None:
    key = _key("key-9", BucketGrant(BUCKET, True))
    await engine.put_key(key)
    async with client_of(await engine.endpoint(), key) as client:
        assert await client.status("PUT", f"{BUCKET}/d", b"x") == OK
        await engine.delete_key(key.name)
        assert await client.status("GET", f"{BUCKET}/d") == FORBIDDEN


async def test_grants_change_at_once(engine: SeaweedObjects) -> None:
    key = _key("key-8", BucketGrant(BUCKET, True))
    await engine.put_key(key)
    async with client_of(await engine.endpoint(), key) as client:
        assert await client.status("PUT", f"{BUCKET}/d", b"x") == OK
        await engine.put_key(_key("key-8"))
        assert await client.status("PUT", f"{BUCKET}/d", b"x") == FORBIDDEN
    await engine.delete_key(key.name)


@pytest.mark.parametrize("enabled", [True, False])
async def test_cors(engine: SeaweedObjects, enabled: bool) -> None:
    await engine.put_bucket(BucketSpec(BUCKET, "public-read", enabled))
    async with client_of(await engine.endpoint(), None) as client:
        headers = {"Origin": "https://example.com", "Access-Control-Request-Method": "GET"}
        async with client.session.options(f"{client.url}/{BUCKET}/a", headers=headers) as answer:
            allowed = answer.headers.get("Access-Control-Allow-Origin")
    assert (allowed in ("*", "https://example.com")) is enabled


async def test_another_process_adopts_the_server(
    engine: SeaweedObjects, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = next(tmp_path_factory.getbasetemp().glob("seaweedfs*/objects"))
    again = SeaweedObjects(Server(folder))
    assert await again.endpoint() == await engine.endpoint()
    assert await again.keys() == await engine.keys()


async def test_a_server_whose_folder_was_deleted_makes_way(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    first = Server(folder)
    await first.ensure()
    shutil.rmtree(folder)
    again = SeaweedObjects(Server(folder))
    try:
        await again.put_bucket(BucketSpec(BUCKET, "private", False))
        assert await again.buckets() == [BUCKET]
    finally:
        await again.shut_down()
