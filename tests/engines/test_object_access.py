"""Who may do what with a bucket of each ACL, by requests to a real S3 server."""

import asyncio
import json
import operator
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import (
    BucketGrant,
    BucketSpec,
    KeySpec,
    MadeBucket,
)
from tests.support.client import until
from tests.support.s3 import S3Client, client_of

pytestmark = pytest.mark.seaweedfs

BUCKET, OTHER, MARK = "photos", "others", "1-20300131"
OK, FORBIDDEN, NOT_BUILT = 200, 403, 501


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


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    for name in (BUCKET, OTHER):
        await engine.put_bucket(BucketSpec(name, MARK, "private", False))
    for key in KEYS.values():
        if key is not None:
            await engine.put_key(key)
    yield engine
    await engine.shut_down()


@pytest.fixture(params=KEYS)
async def client(request: pytest.FixtureRequest, engine: OwnObjects) -> AsyncIterator[S3Client]:
    async with client_of(await engine.endpoint(), KEYS[request.param]) as client:
        yield client


@pytest.mark.parametrize("source", ["a", "%61", "./a"])
async def test_nobody_copies_what_they_cannot_read(
    engine: OwnObjects, client: S3Client, source: str
) -> None:
    await engine.put_bucket(BucketSpec(BUCKET, MARK, "private", False))
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


async def test_what_makes_no_bucket(engine: OwnObjects, client: S3Client) -> None:
    """Names that are no labels, and settings, which are the API's."""
    before = await engine.buckets()
    for name in ("pho.tos", "Photos", "ph", "-photos", "a" * 64):
        assert await client.status("PUT", name) in (400, FORBIDDEN), name
    assert await client.status("PUT", BUCKET) in (OK, FORBIDDEN, 409)
    everybody = 'uri="http://acs.amazonaws.com/groups/global/AllUsers"'
    for header, value in (
        ("x-amz-acl", "public-read"),
        ("x-amz-grant-read", everybody),
    ):
        assert await client.status("PUT", "settings", headers={header: value}) == FORBIDDEN
    locked = {"x-amz-bucket-object-lock-enabled": "true"}
    wanted = NOT_BUILT if client.key is not None and client.key.makes else FORBIDDEN
    assert await client.status("PUT", "settings", headers=locked) == wanted
    assert await engine.buckets() == before


async def test_who_makes_a_bucket_is_answered_when_it_can_be_used(
    engine: OwnObjects, client: S3Client
) -> None:
    """The control plane makes it, and lets the key use it, or refuses it."""
    if client.key is None:
        assert await client.status("PUT", "made") == FORBIDDEN
        return
    name, key = f"made-by-{client.key.name}", client.key
    async with aclosing(engine.made()) as heard:
        asking = asyncio.create_task(client.status("PUT", name))
        assert await anext(heard) == MadeBucket(name, key.name)
        assert name not in await engine.buckets()
        assert await client.status("GET", name) == 404
        await engine.purge_bucket(name, None)
        assert await asking == FORBIDDEN
        asking = asyncio.create_task(client.status("PUT", name))
        assert await anext(heard) == MadeBucket(name, key.name)
        await engine.put_bucket(BucketSpec(name, MARK, "private", False))
        await engine.put_key(replace(key, grants=(*key.grants, BucketGrant(name, True))))
        assert await asking == OK
    assert await client.status("PUT", name) == OK
    assert await client.status("PUT", f"{name}/a", b"x") == OK
    for method, path, status in (
        ("GET", f"{name}?acl", OK),
        ("PUT", f"{name}?acl", 400),
        ("PUT", f"{name}?policy", FORBIDDEN),
        ("PUT", f"{name}?ownershipControls", NOT_BUILT),
        ("PUT", f"{name}?versioning", NOT_BUILT),
        ("DELETE", name, FORBIDDEN),
    ):
        assert await client.status(method, path, b"{}") == status, (method, path)
    await engine.purge_bucket(name, MARK)
    assert await client.status("GET", name) == 404
    await engine.put_key(key)


_ROLE = "RoleArn=arn:aws:iam::000000000000:role/a&RoleSessionName=abc"


_KEY_CALLS = (
    "CreateAccessKey&UserName=key-1",
    "ListAccessKeys&UserName=key-1",
    "UpdateAccessKey&UserName=key-1&AccessKeyId=A&Status=Inactive",
    "DeleteAccessKey&UserName=key-1&AccessKeyId=A",
    "ListUsers",
    "GetUser&UserName=key-1",
    "CreateUser&UserName=key-1",
    "UpdateUser&UserName=key-1&NewUserName=b",
    "DeleteUser&UserName=key-1",
    "PutUserPolicy&UserName=key-1&PolicyName=a&PolicyDocument={}",
    "GetUserPolicy&UserName=key-1&PolicyName=key-1",
    "CreatePolicy&PolicyName=a&PolicyDocument={}",
    "AttachUserPolicy&UserName=key-1&PolicyArn=arn:aws:iam::000000000000:policy/key-1",
    "CreateServiceAccount&ParentUser=key-1",
    "CreateRole&RoleName=a&AssumeRolePolicyDocument={}",
    "CreateGroup&GroupName=a",
    f"AssumeRole&{_ROLE}",
    f"AssumeRoleWithWebIdentity&{_ROLE}&WebIdentityToken=abcd",
    f"AssumeRoleWithLDAPIdentity&{_ROLE}&LDAPUsername=a&LDAPPassword=b",
    "GetSessionToken",
    "GetFederationToken&Name=abc",
    "GetCallerIdentity",
)


async def test_no_key_reaches_keys(engine: OwnObjects, client: S3Client) -> None:
    """By calls of IAM and STS, however they are sent."""
    before = await engine.keys()
    for action in _KEY_CALLS:
        await _check_refused(client, action)
    assert await engine.keys() == before


async def _check_refused(client: S3Client, action: str) -> None:
    body = f"Action={action}&Version=2010-05-08".encode()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for method, path, sent in (("POST", "", body), ("POST", f"?{body.decode()}", b"")):
        status, answer = await client.send(method, path, sent, form)
        assert status >= 400
        assert b"key-1" not in answer
    _, answer = await client.send("GET", f"?{quote(body.decode(), safe='=&')}")
    assert b"AccessKeyId" not in answer
    assert b"SecretAccessKey" not in answer


_TABLE_CALLS = (
    *("CreateTableBucket", "GetTableBucket", "DeleteTableBucket", "CreateNamespace"),
    *("PutTableBucketPolicy", "GetTableBucketPolicy", "CreateTable", "ListTables"),
    "ListTableBuckets",
)


async def test_there_are_no_buckets_of_tables(engine: OwnObjects, client: S3Client) -> None:
    """The server has S3 Tables, at the same port, which cannot be switched off."""
    before = await engine.buckets()
    for operation, name in product(_TABLE_CALLS, (BUCKET, OTHER, "tables")):
        arn = f"arn:aws:s3tables:us-east-1:000000000000:bucket/{name}"
        body = {"name": name, "tableBucketARN": arn, "resourcePolicy": "{}", "format": "ICEBERG"}
        sent = json.dumps({**body, "namespace": "a" if operation == "CreateTable" else ["a"]})
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"S3Tables.{operation}",
        }
        status, answer = await client.send("POST", "", sent.encode(), headers)
        assert status >= 400 or (operation.startswith("List") and b"name" not in answer), operation
    assert await engine.buckets() == before


async def test_nothing_is_behind_the_buckets(client: S3Client) -> None:
    for path in (
        *("metrics", "debug/pprof/", "_health", "buckets/photos", ".system", "etc/iam"),
        *("..%2f..%2fetc%2fiam", "photos/..%2f..%2fetc", "photos//etc/iam/identity.json"),
        *(".iceberg/v1/config", "v1/config", "buckets?list-type=2", "%2e%2e/etc", ".uploads/"),
    ):
        assert await client.status("GET", path) >= 400, path


async def comes_to(client: S3Client, method: str, path: str, wanted: int) -> None:
    """The server hears of keys a moment after they are kept: 22 ms where nothing else runs."""
    ask = partial(client.status, method, path, b"x" if method == "PUT" else b"")
    await until(ask, partial(operator.eq, wanted), 120)


async def test_a_deleted_key_opens_nothing(engine: OwnObjects) -> None:
    key = _key("key-9", BucketGrant(BUCKET, True))
    await engine.put_key(key)
    async with client_of(await engine.endpoint(), key) as client:
        await comes_to(client, "PUT", f"{BUCKET}/d", OK)
        await engine.delete_key(key.name)
        await comes_to(client, "GET", f"{BUCKET}/d", FORBIDDEN)


async def test_grants_change_at_once(engine: OwnObjects) -> None:
    key = _key("key-8", BucketGrant(BUCKET, True))
    await engine.put_key(key)
    async with client_of(await engine.endpoint(), key) as client:
        await comes_to(client, "PUT", f"{BUCKET}/d", OK)
        await engine.put_key(_key("key-8"))
        await comes_to(client, "PUT", f"{BUCKET}/d", FORBIDDEN)
    await engine.delete_key(key.name)


@pytest.mark.parametrize("enabled", [True, False])
async def test_cors(engine: OwnObjects, enabled: bool) -> None:
    await engine.put_bucket(BucketSpec(BUCKET, MARK, "public-read", enabled))
    async with client_of(await engine.endpoint(), None) as client:
        headers = {"Origin": "https://example.com", "Access-Control-Request-Method": "GET"}
        async with client.session.options(f"{client.url}/{BUCKET}/a", headers=headers) as answer:
            allowed = answer.headers.get("Access-Control-Allow-Origin")
    assert (allowed in ("*", "https://example.com")) is enabled


async def test_another_process_adopts_the_server(
    engine: OwnObjects, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = next(tmp_path_factory.getbasetemp().glob("seaweedfs*/objects"))
    again = OwnObjects(Server(folder))
    assert await again.endpoint() == await engine.endpoint()
    assert await again.keys() == await engine.keys()


async def test_a_server_whose_folder_was_deleted_makes_way(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    first = Server(folder)
    await first.ensure()
    shutil.rmtree(folder)
    again = OwnObjects(Server(folder))
    try:
        await again.put_bucket(BucketSpec(BUCKET, MARK, "private", False))
        assert list(await again.buckets()) == [BUCKET]
    finally:
        await again.shut_down()
