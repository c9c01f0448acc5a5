"""Policies of buckets that S3 clients set: who may, what they give and take, and when they end."""

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec, Signature
from tests.support.s3 import S3Client, botocore_client, client_of, get, refusal

pytestmark = pytest.mark.seaweedfs

BUCKET, OTHERS, MARK = "governed", "others", "1-20300131"
SPEC = BucketSpec(BUCKET, MARK, "private", False)
DENIED = (403, "AccessDenied")

Client = Any
"""That of botocore has no types."""


def _key(letter: str, *grants: BucketGrant, unlimited: bool = False) -> KeySpec:
    return KeySpec(f"key-{letter}", letter * 20, letter * 40, grants, unlimited=unlimited)


OWNER = _key("A", BucketGrant(BUCKET, True), unlimited=True)
WRITER = _key("B", BucketGrant(BUCKET, True))
READER = _key("C", BucketGrant(BUCKET, False))
STRANGER = _key("D", BucketGrant(OTHERS, True), unlimited=True)
FRIEND = _key("E", BucketGrant(OTHERS, True), unlimited=True)
KEYS = (OWNER, WRITER, READER, STRANGER, FRIEND)


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    await engine.put_bucket(BucketSpec(OTHERS, MARK, "private", False))
    yield engine
    await engine.shut_down()


@pytest.fixture
async def owner(engine: OwnObjects) -> AsyncIterator[Client]:
    """Each test has the bucket anew, with two objects."""
    await engine.put_bucket(SPEC)
    for key in KEYS:  # With a bucket its grants end.
        await engine.put_key(key)
    client = botocore_client(await engine.endpoint(), OWNER)
    for name in ("public/a", "secret/a"):
        client.put_object(Bucket=BUCKET, Key=name, Body=name.encode())
    yield client
    await engine.purge_bucket(BUCKET, MARK)


@pytest.fixture
async def nobody(engine: OwnObjects) -> AsyncIterator[S3Client]:
    async with client_of(await engine.endpoint(), None) as client:
        yield client


def say(client: Client, *statements: dict[str, object]) -> None:
    policy = {"Version": "2012-10-17", "Statement": list(statements)}
    client.put_bucket_policy(Bucket=BUCKET, Policy=json.dumps(policy))


def rule(
    action: object,
    place: str | None = "*",
    effect: str = "Allow",
    principal: object = "*",
    condition: object = None,
) -> dict[str, object]:
    """Of objects, or of the bucket itself."""
    arn = f"arn:aws:s3:::{BUCKET}" + ("" if place is None else f"/{place}")
    whole = {"Effect": effect, "Principal": principal, "Action": action, "Resource": arn}
    return whole if condition is None else {**whole, "Condition": condition}


async def test_it_is_in_force_when_it_is_answered(owner: Client, nobody: S3Client) -> None:
    for _ in range(5):
        say(owner, rule("s3:GetObject", "public/*"))
        assert await nobody.send("GET", f"{BUCKET}/public/a") == (200, b"public/a")
        assert await nobody.status("HEAD", f"{BUCKET}/public/a") == 200
        assert await nobody.status("GET", f"{BUCKET}/secret/a") == 403
        owner.delete_bucket_policy(Bucket=BUCKET)
        assert await nobody.status("GET", f"{BUCKET}/public/a") == 403


async def test_no_more_is_allowed_than_it_says(owner: Client, nobody: S3Client) -> None:
    """Neither by another method, nor by parameters, nor by a name that looks alike. Who may not
    list learns nothing of what is not there."""
    say(owner, rule("s3:GetObject", "public/*"))
    for method, path in (
        ("PUT", "public/a"),
        ("DELETE", "public/a"),
        ("GET", ""),
        ("GET", "?list-type=2&prefix=public/"),
        ("GET", "?versions"),
        ("GET", "?uploads"),
        ("GET", "?policy"),
        ("GET", "?policyStatus"),
        ("DELETE", "?policy"),
        ("PUT", "?policy"),
        ("GET", "public/a?tagging"),
        ("GET", "public/a?acl"),
        ("GET", "public/a?attributes"),
        ("GET", "public/a?versionId=null"),
        ("GET", "public/none"),
        ("HEAD", "public/none"),
        ("GET", "secret/a?prefix=public/"),
        ("GET", "public/../secret/a"),
        ("GET", "public%2F..%2Fsecret%2Fa"),
        ("GET", "public"),
    ):
        assert await nobody.status(method, f"{BUCKET}/{path}", b"x") == 403, (method, path)
    for name in ("public/a", "secret/a"):
        assert owner.get_object(Bucket=BUCKET, Key=name)["Body"].read() == name.encode()


async def test_every_action_that_can_be_allowed(owner: Client, engine: OwnObjects) -> None:
    """To a key of another account, and to no other."""
    everything = [
        rule("s3:*", place, principal={"AWS": FRIEND.access_key}) for place in ("*", None)
    ]
    say(owner, *everything)
    url = await engine.endpoint()
    friend, stranger = botocore_client(url, FRIEND), botocore_client(url, STRANGER)
    named = {"Bucket": BUCKET, "Key": "made"}
    tags = {"TagSet": [{"Key": "kind", "Value": "a"}]}
    for call, more in (
        ("put_object", {**named, "Body": b"x", "Tagging": "kind=b"}),
        ("get_object", named),
        ("get_object_acl", named),
        ("put_object_tagging", {**named, "Tagging": tags}),
        ("get_object_tagging", named),
        ("get_object_attributes", {**named, "ObjectAttributes": ["ObjectSize"]}),
        ("list_objects_v2", {"Bucket": BUCKET}),
        ("list_object_versions", {"Bucket": BUCKET}),
        ("list_multipart_uploads", {"Bucket": BUCKET}),
        ("get_bucket_location", {"Bucket": BUCKET}),
        ("head_bucket", {"Bucket": BUCKET}),
        ("copy_object", {**named, "CopySource": {"Bucket": BUCKET, "Key": "secret/a"}}),
        ("create_multipart_upload", named),
        ("delete_object_tagging", named),
        ("delete_object", named),
    ):
        assert refusal(getattr(stranger, call), **more)[0] == 403, call
        getattr(friend, call)(**more)
    upload = {**named, "UploadId": friend.create_multipart_upload(**named)["UploadId"]}
    part = {**upload, "PartNumber": 1, "Body": b"x"}
    assert refusal(stranger.upload_part, **part) == DENIED
    friend.upload_part(**part)
    for call in ("list_parts", "abort_multipart_upload"):
        assert refusal(getattr(stranger, call), **upload) == DENIED
        getattr(friend, call)(**upload)
    assert BUCKET not in [each["Name"] for each in friend.list_buckets()["Buckets"]]


async def test_whom_it_lets_in_sets_nothing(owner: Client, engine: OwnObjects) -> None:
    everything = [
        rule("s3:*", place, principal={"AWS": FRIEND.access_key}) for place in ("*", None)
    ]
    say(owner, *everything)
    friend = botocore_client(await engine.endpoint(), FRIEND)
    for call, more in (
        ("get_bucket_policy", {}),
        ("put_bucket_policy", {"Policy": "{}"}),
        ("delete_bucket_policy", {}),
        ("put_bucket_acl", {"ACL": "public-read"}),
        ("get_bucket_acl", {}),
        ("put_object_acl", {"Key": "public/a", "ACL": "public-read"}),
        ("delete_bucket", {}),
    ):
        assert refusal(getattr(friend, call), Bucket=BUCKET, **more) == DENIED, call


async def test_a_denial_holds_for_the_accounts_own(owner: Client, engine: OwnObjects) -> None:
    """Also by a URL that the API signs; but who governs the bucket is never locked out."""
    await engine.put_access(BucketSpec(BUCKET, MARK, "public-read-write", False))
    say(owner, *(rule("s3:*", place, "Deny") for place in ("*", None)))
    url = await engine.endpoint()
    for key in (OWNER, WRITER, READER, STRANGER, None):
        async with client_of(url, key) as client:
            for method, path in (("GET", "public/a"), ("PUT", "new"), ("GET", ""), ("GET", "?acl")):
                assert await client.status(method, f"{BUCKET}/{path}", b"x") == 403
            body = b"<Delete><Object><Key>public/a</Key></Object></Delete>"
            await client.send("POST", f"{BUCKET}?delete", body)
    assert await get(await engine.sign(Signature(BUCKET, MARK, "public/a", "GET", 600))) == 403
    for key in (WRITER, READER, STRANGER):
        assert refusal(botocore_client(url, key).get_bucket_policy, Bucket=BUCKET) == DENIED
    assert "Deny" in owner.get_bucket_policy(Bucket=BUCKET)["Policy"]
    owner.delete_bucket_policy(Bucket=BUCKET)
    assert owner.get_object(Bucket=BUCKET, Key="public/a")["Body"].read() == b"public/a"


async def test_who_may_set_one(owner: Client, engine: OwnObjects) -> None:
    """Keys that open all buckets of the account. Others with the bucket read it."""
    url = await engine.endpoint()
    policy = {"Bucket": BUCKET, "Policy": json.dumps({"Statement": rule("s3:GetObject")})}
    for key in (WRITER, READER, STRANGER):
        assert refusal(botocore_client(url, key).put_bucket_policy, **policy) == DENIED
    owner.put_bucket_policy(**policy)
    for key in (WRITER, READER):
        client = botocore_client(url, key)
        assert client.get_bucket_policy(Bucket=BUCKET)["Policy"] == policy["Policy"]
        assert client.get_bucket_policy_status(Bucket=BUCKET)["PolicyStatus"]["IsPublic"]
        assert refusal(client.delete_bucket_policy, Bucket=BUCKET) == DENIED
    stranger = botocore_client(url, STRANGER)
    for call in (stranger.get_bucket_policy, stranger.delete_bucket_policy):
        assert refusal(call, Bucket=BUCKET) == DENIED


async def test_what_is_refused_changes_nothing(owner: Client, nobody: S3Client) -> None:
    say(owner, rule("s3:GetObject", "public/*"))
    held = owner.get_bucket_policy(Bucket=BUCKET)["Policy"]
    put = partial(owner.put_bucket_policy, Bucket=BUCKET)
    assert refusal(put, Policy="{}") == (400, "MalformedPolicy")
    assert refusal(put, Policy=" " * (20 << 10) + "{}") == (400, "EntityTooLarge")
    by_address = rule("s3:GetObject", condition={"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}})
    assert refusal(put, Policy=json.dumps({"Statement": [by_address]})) == (501, "NotImplemented")
    assert owner.get_bucket_policy(Bucket=BUCKET)["Policy"] == held
    assert await nobody.status("GET", f"{BUCKET}/public/a") == 200


async def test_conditions(owner: Client, nobody: S3Client) -> None:
    """Lists of a prefix, pages that refer, and sources of copies however they are written."""
    listed = rule("s3:ListBucket", None, condition={"StringLike": {"s3:prefix": "public/*"}})
    referred = rule(
        "s3:GetObject", condition={"StringLike": {"aws:Referer": "https://example.com/*"}}
    )
    source = {"StringLike": {"s3:x-amz-copy-source": f"{BUCKET}/secret/*"}}
    say(
        owner,
        listed,
        referred,
        rule(["s3:PutObject"], "copy"),
        rule("s3:PutObject", "copy", "Deny", condition=source),
    )
    assert b"public/a" in (await nobody.send("GET", f"{BUCKET}?prefix=public/"))[1]
    for query in ("", "?prefix=", "?prefix=public", "?prefix=public/&prefix=secret/"):
        assert await nobody.status("GET", f"{BUCKET}{query}") == 403, query
    page = {"Referer": "https://example.com/a.html"}
    assert await nobody.status("GET", f"{BUCKET}/public/a", headers=page) == 200
    assert await nobody.status("GET", f"{BUCKET}/public/a") == 403
    for sent, status in (
        (f"{BUCKET}/public/a", 200),
        (f"/{BUCKET}/secret/a", 403),
        (f"{BUCKET}/secret/a", 403),
        (f"{BUCKET}/%73ecret%2Fa", 403),
    ):
        headers = {"x-amz-copy-source": sent, **page}
        assert await nobody.status("PUT", f"{BUCKET}/copy", headers=headers) == status, sent


async def test_tags_are_copied_by_those_who_may_read_them(
    owner: Client, engine: OwnObjects
) -> None:
    say(owner, rule("s3:GetObject", principal={"AWS": FRIEND.access_key}))
    owner.put_object(Bucket=BUCKET, Key="tagged", Body=b"x", Tagging="kind=secret")
    friend = botocore_client(await engine.endpoint(), FRIEND)
    copy = partial(friend.copy_object, Bucket=OTHERS, Key="copy")
    assert refusal(copy, CopySource={"Bucket": BUCKET, "Key": "tagged"}) == DENIED
    copy(CopySource={"Bucket": BUCKET, "Key": "tagged"}, TaggingDirective="REPLACE")
    copy(CopySource={"Bucket": BUCKET, "Key": "public/a"})
    say(owner, rule(["s3:GetObject", "s3:GetObjectTagging"]))
    copy(CopySource={"Bucket": BUCKET, "Key": "tagged"})


async def test_it_ends_with_its_bucket(owner: Client, engine: OwnObjects) -> None:
    """The next of the name has none; changes of the ACL, and a gateway that is started again, leave
    it as it is."""
    say(owner, rule("s3:GetObject"))
    await engine.put_access(SPEC)
    await engine.shut_down()
    async with client_of(await engine.endpoint(), None) as client:
        assert await client.status("GET", f"{BUCKET}/public/a") == 200
        await engine.purge_bucket(BUCKET, MARK)
        await engine.put_bucket(SPEC)
        await engine.put_key(OWNER)
        owner.put_object(Bucket=BUCKET, Key="public/a", Body=b"x")
        assert await client.status("GET", f"{BUCKET}/public/a") == 403
    assert refusal(owner.get_bucket_policy, Bucket=BUCKET) == (404, "NoSuchBucketPolicy")


async def test_a_key_that_is_revoked_is_let_in_no_more(owner: Client, engine: OwnObjects) -> None:
    key = _key("F", BucketGrant(OTHERS, True), unlimited=True)
    await engine.put_key(key)
    say(owner, rule("s3:GetObject", principal={"AWS": key.access_key}))
    client = botocore_client(await engine.endpoint(), key)
    client.get_object(Bucket=BUCKET, Key="public/a")
    await engine.delete_key(key.name)
    answer = refusal(client.get_object, Bucket=BUCKET, Key="public/a")
    assert answer == (403, "InvalidAccessKeyId")
