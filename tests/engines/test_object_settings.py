"""Settings that S3 clients ask for: what holds is told, what nobody has is refused by name."""

from collections.abc import AsyncIterator
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec, ObjectAcl
from tests.support.s3 import S3Client, botocore_client, client_of, refusal

pytestmark = pytest.mark.seaweedfs

BUCKET, OPEN, OTHERS, MARK = "settings", "open", "others", "1-20300131"
KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant(BUCKET, True), BucketGrant(OPEN, True)))
READS = KeySpec("key-2", "B" * 20, "s" * 40, (BucketGrant(BUCKET, False),))
STRANGER = KeySpec("key-3", "C" * 20, "s" * 40, (BucketGrant(OTHERS, True),))

Client = Any
"""That of botocore has no types."""


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects"))
    await engine.put_bucket(BucketSpec(BUCKET, MARK, "private", False))
    await engine.put_bucket(BucketSpec(OPEN, MARK, "public-read-write", True))
    for key in (KEY, READS, STRANGER):
        await engine.put_key(key)
    yield engine
    await engine.shut_down()


@pytest.fixture
async def s3(engine: OwnObjects) -> Client:
    """Each test begins with two objects."""
    client = botocore_client(await engine.endpoint(), KEY)
    for each in client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        client.delete_object(Bucket=BUCKET, Key=each["Key"])
    for name in ("shown", "a"):
        client.put_object(Bucket=BUCKET, Key=name, Body=b"content")
    await show(engine)
    return client


async def show(engine: OwnObjects) -> None:
    """Let everybody read the object, until it is written anew."""
    own = {"shown": ObjectAcl("public-read", uuid4().hex)}
    await engine.put_bucket(BucketSpec(BUCKET, MARK, "private", False, own))


@pytest.fixture
async def raw(engine: OwnObjects) -> AsyncIterator[S3Client]:
    async with client_of(await engine.endpoint(), KEY) as client:
        yield client


MISSING = (
    ("get_bucket_policy", "NoSuchBucketPolicy"),
    ("get_bucket_cors", "NoSuchCORSConfiguration"),
    ("get_bucket_lifecycle_configuration", "NoSuchLifecycleConfiguration"),
    ("get_bucket_encryption", "ServerSideEncryptionConfigurationNotFoundError"),
    ("get_bucket_ownership_controls", "OwnershipControlsNotFoundError"),
    ("get_public_access_block", "NoSuchPublicAccessBlockConfiguration"),
    ("get_object_lock_configuration", "ObjectLockConfigurationNotFoundError"),
    ("get_bucket_replication", "ReplicationConfigurationNotFoundError"),
    ("get_bucket_website", "NoSuchWebsiteConfiguration"),
    ("get_bucket_tagging", "NoSuchTagSet"),
)


def test_what_a_bucket_lacks_is_404(s3: Client) -> None:
    """Also before and after an attempt to delete it."""
    for call, code in MISSING:
        assert refusal(getattr(s3, call), Bucket=BUCKET) == (404, code)
    for call in ("policy", "cors", "lifecycle", "encryption", "website", "tagging", "replication"):
        deleted = getattr(s3, f"delete_bucket_{call}")(Bucket=BUCKET)
        assert deleted["ResponseMetadata"]["HTTPStatusCode"] == 204


def test_what_was_never_set_is_empty(s3: Client) -> None:
    assert "Status" not in s3.get_bucket_versioning(Bucket=BUCKET)
    assert "LoggingEnabled" not in s3.get_bucket_logging(Bucket=BUCKET)
    assert "TopicConfigurations" not in s3.get_bucket_notification_configuration(Bucket=BUCKET)
    assert "Status" not in s3.get_bucket_accelerate_configuration(Bucket=BUCKET)
    assert s3.get_bucket_request_payment(Bucket=BUCKET)["Payer"] == "BucketOwner"


def test_acls_are_those_of_the_api(s3: Client) -> None:
    def groups(answer: dict[str, Any]) -> list[tuple[str, str]]:
        return [
            (each["Grantee"]["URI"].rpartition("/")[2], each["Permission"])
            for each in answer["Grants"]
            if each["Grantee"]["Type"] == "Group"
        ]

    private = s3.get_bucket_acl(Bucket=BUCKET)
    assert groups(private) == []
    assert [each["Permission"] for each in private["Grants"]] == ["FULL_CONTROL"]
    both = [("AllUsers", "READ"), ("AllUsers", "WRITE")]
    assert groups(s3.get_bucket_acl(Bucket=OPEN)) == both
    assert groups(s3.get_object_acl(Bucket=BUCKET, Key="shown")) == [("AllUsers", "READ")]
    assert groups(s3.get_object_acl(Bucket=BUCKET, Key="a")) == []
    assert refusal(s3.get_object_acl, Bucket=BUCKET, Key="none") == (404, "NoSuchKey")
    assert s3.get_bucket_policy_status(Bucket=OPEN)["PolicyStatus"]["IsPublic"]
    assert not s3.get_bucket_policy_status(Bucket=BUCKET)["PolicyStatus"]["IsPublic"]
    rules = s3.get_bucket_cors(Bucket=OPEN)["CORSRules"]
    assert [each["AllowedOrigins"] for each in rules] == [["*"]]


def test_an_acl_may_be_set_to_what_it_is(s3: Client) -> None:
    """By its name and as it was read; anything else is refused, and nothing has changed."""
    s3.put_bucket_acl(Bucket=BUCKET, ACL="private")
    s3.put_bucket_acl(Bucket=OPEN, ACL="public-read-write")
    s3.put_object_acl(Bucket=BUCKET, Key="shown", ACL="public-read")
    read = s3.get_object_acl(Bucket=BUCKET, Key="shown")
    policy = {"Grants": read["Grants"], "Owner": read["Owner"]}
    s3.put_object_acl(Bucket=BUCKET, Key="shown", AccessControlPolicy=policy)
    put = partial(s3.put_object_acl, Bucket=BUCKET, Key="a")
    assert refusal(put, AccessControlPolicy=policy) == (403, "AccessDenied")
    policy["Grants"][0]["Grantee"]["ID"] = "other"
    again = partial(s3.put_object_acl, Bucket=BUCKET, Key="shown")
    assert refusal(again, AccessControlPolicy=policy) == (403, "AccessDenied")
    assert refusal(again, GrantRead="uri=http://acs.amazonaws.com/groups/global/AllUsers")[0] == 403
    missing = partial(s3.put_object_acl, Bucket=BUCKET, Key="none", ACL="private")
    assert refusal(missing) == (404, "NoSuchKey")
    put_new = partial(s3.put_object, Bucket=BUCKET, Key="a", Body=b"")
    assert refusal(put_new, ACL="everybody") == (400, "InvalidArgument")


def test_settings_belong_to_the_api_or_are_not_built(s3: Client) -> None:
    """403 and 501, and the reason says which."""
    for call in (
        partial(s3.put_bucket_acl, ACL="public-read"),
        partial(s3.put_object_acl, Key="a", ACL="public-read"),
        partial(s3.put_bucket_cors, CORSConfiguration={"CORSRules": []}),
    ):
        assert refusal(call, Bucket=BUCKET) == (403, "AccessDenied")
    assert refusal(s3.delete_bucket_cors, Bucket=OPEN) == (403, "AccessDenied")
    for call in (
        partial(s3.put_bucket_versioning, VersioningConfiguration={"Status": "Enabled"}),
        partial(s3.put_bucket_lifecycle_configuration, LifecycleConfiguration={"Rules": []}),
        partial(s3.put_bucket_tagging, Tagging={"TagSet": []}),
        partial(s3.put_bucket_logging, BucketLoggingStatus={}),
        s3.put_object_lock_configuration,
        partial(s3.get_bucket_inventory_configuration, Id="a"),
    ):
        assert refusal(call, Bucket=BUCKET) == (501, "NotImplemented")
    retention = {"Mode": "GOVERNANCE", "RetainUntilDate": 2_000_000_000}
    for call in (s3.get_object_retention, partial(s3.put_object_retention, Retention=retention)):
        assert refusal(call, Bucket=BUCKET, Key="a") == (400, "InvalidRequest")


async def test_who_may_ask(engine: OwnObjects) -> None:
    """Keys with the bucket read its settings, those that write to it learn why they cannot change
    them; nobody else learns anything, also of what everybody may read."""
    url = await engine.endpoint()
    reads = botocore_client(url, READS)
    assert "Grants" in reads.get_bucket_acl(Bucket=BUCKET)
    versioning = {"Status": "Enabled"}
    put = partial(reads.put_bucket_versioning, VersioningConfiguration=versioning)
    assert refusal(put, Bucket=BUCKET) == (403, "AccessDenied")
    stranger = botocore_client(url, STRANGER)
    for name in (BUCKET, OPEN):
        for call in (
            stranger.get_bucket_acl,
            stranger.get_bucket_policy,
            stranger.get_bucket_versioning,
            partial(stranger.put_bucket_versioning, VersioningConfiguration=versioning),
            stranger.delete_bucket_policy,
        ):
            assert refusal(call, Bucket=name) == (403, "AccessDenied")
    for call in (stranger.list_object_versions, partial(stranger.get_object_acl, Key="shown")):
        assert refusal(call, Bucket=BUCKET) == (403, "AccessDenied")
    async with client_of(url, None) as anonymous:
        for path in ("?acl", "?policy", "?versioning", "/shown?acl"):
            assert await anonymous.status("GET", f"{BUCKET}{path}") == 403
            assert await anonymous.status("GET", f"{OPEN}{path}") == 403


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_versions_are_the_objects(s3: Client, size: int) -> None:
    """Each once, latest, without a number: so clients that empty buckets by versions do."""
    names = ["a", "b/1", "b/2", "b\\", "c", "é", "shown"]
    for name in names:
        s3.put_object(Bucket=BUCKET, Key=name, Body=b"content")
    pages = s3.get_paginator("list_object_versions").paginate(
        Bucket=BUCKET, PaginationConfig={"PageSize": size}
    )
    found = [each for page in pages for each in page.get("Versions", ())]
    assert [each["Key"] for each in found] == sorted(names, key=str.encode)
    assert {(each["VersionId"], each["IsLatest"], each["Size"]) for each in found} == {
        ("null", True, 7)
    }
    listed = s3.list_object_versions(Bucket=BUCKET, Delimiter="/", Prefix="b")
    assert [each["Prefix"] for each in listed["CommonPrefixes"]] == ["b/"]
    assert [each["Key"] for each in listed["Versions"]] == ["b\\"]
    gone = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]
    answer = s3.delete_objects(Bucket=BUCKET, Delete={"Objects": gone})
    assert len(answer["Deleted"]) == len(names)
    assert "Versions" not in s3.list_object_versions(Bucket=BUCKET)


def test_a_bucket_that_is_the_callers_can_be_made_again(s3: Client, engine: OwnObjects) -> None:
    """As in us-east-1; it keeps what it has."""
    s3.create_bucket(Bucket=BUCKET)
    assert s3.get_object(Bucket=BUCKET, Key="a")["Body"].read() == b"content"


async def test_a_bucket_of_others_cannot(engine: OwnObjects) -> None:
    url = await engine.endpoint()
    makes = KeySpec("key-4", "D" * 20, "s" * 40, (BucketGrant(OPEN, False),), makes=True)
    await engine.put_key(makes)
    client = botocore_client(url, makes)
    assert refusal(client.create_bucket, Bucket=BUCKET) == (409, "BucketAlreadyExists")
    assert refusal(client.create_bucket, Bucket=OPEN) == (409, "BucketAlreadyOwnedByYou")


METADATA = {"empty": "", "blank": "=?empty?=", "twice": "=?empty?==?empty?=", "usual": "a b"}


def test_metadata_come_back_as_they_were_sent(s3: Client) -> None:
    """Empty ones too, of objects, copies and uploads in parts."""
    s3.put_object(Bucket=BUCKET, Key="a", Body=b"x", Metadata=METADATA)
    s3.copy_object(Bucket=BUCKET, Key="copy", CopySource={"Bucket": BUCKET, "Key": "a"})
    replaced = dict(METADATA, empty="now not")
    s3.copy_object(
        Bucket=BUCKET,
        Key="replaced",
        CopySource={"Bucket": BUCKET, "Key": "a"},
        Metadata=replaced,
        MetadataDirective="REPLACE",
    )
    begun = s3.create_multipart_upload(Bucket=BUCKET, Key="parts", Metadata=METADATA)
    named = {"Bucket": BUCKET, "Key": "parts", "UploadId": begun["UploadId"]}
    part = s3.upload_part(**named, PartNumber=1, Body=b"x")
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    s3.complete_multipart_upload(**named, MultipartUpload=parts)
    for name, wanted in (("a", METADATA), ("copy", METADATA), ("parts", METADATA)):
        assert s3.head_object(Bucket=BUCKET, Key=name)["Metadata"] == wanted
        assert s3.get_object(Bucket=BUCKET, Key=name)["Metadata"] == wanted
    assert s3.head_object(Bucket=BUCKET, Key="replaced")["Metadata"] == replaced


async def test_metadata_that_are_no_ascii(engine: OwnObjects, raw: S3Client) -> None:
    """They come back as the bytes of UTF-8 that some clients send."""
    headers = {"x-amz-meta-name": "é中"}
    assert await raw.status("PUT", f"{BUCKET}/shown", b"x", headers) == 200
    await show(engine)
    async with raw.session.get(f"{raw.url}/{BUCKET}/shown") as answer:
        assert (answer.status, answer.headers["x-amz-meta-name"]) == (200, "é中")


def test_ranges_of_copies(s3: Client) -> None:
    """Both ends, and no others."""
    s3.put_object(Bucket=BUCKET, Key="a", Body=b"0123456789")
    begun = s3.create_multipart_upload(Bucket=BUCKET, Key="ranges")
    named = {"Bucket": BUCKET, "Key": "ranges", "UploadId": begun["UploadId"], "PartNumber": 1}
    source = {"Bucket": BUCKET, "Key": "a"}
    copy = partial(s3.upload_part_copy, **named, CopySource=source)
    for wrong in ("0-2", "bytes=0", "bytes=a-b", "bytes=0-b", "bytes=0-2,3-5", "bytes=3-2"):
        assert refusal(copy, CopySourceRange=wrong) == (400, "InvalidArgument")
    assert copy(CopySourceRange="bytes=2-4")["CopyPartResult"]["ETag"]
    listed = s3.list_parts(Bucket=BUCKET, Key="ranges", UploadId=begun["UploadId"])
    assert [each["Size"] for each in listed["Parts"]] == [3]


def test_signatures_of_version_2(engine: OwnObjects, s3: Client, raw: S3Client) -> None:
    """In headers, of buckets and of names that hurt."""
    old = botocore_client(raw.url, KEY, version="s3")
    old.head_bucket(Bucket=BUCKET)
    old.create_bucket(Bucket=BUCKET)
    for name in ("a", "a b", "a//b", "é\\"):
        old.put_object(Bucket=BUCKET, Key=name, Body=name.encode(), Metadata={"kind": "old"})
        assert old.get_object(Bucket=BUCKET, Key=name)["Body"].read() == name.encode()
    assert "a//b" in [each["Key"] for each in old.list_objects(Bucket=BUCKET)["Contents"]]
    wrong = KeySpec("key-1", KEY.access_key, "other", KEY.grants)
    other = botocore_client(raw.url, wrong, version="s3")
    assert refusal(other.list_objects, Bucket=BUCKET) == (403, "SignatureDoesNotMatch")


def test_a_list_tells_both_of_its_places(s3: Client) -> None:
    s3.put_object(Bucket=BUCKET, Key="b", Body=b"")
    first = s3.list_objects_v2(Bucket=BUCKET, MaxKeys=1)
    token = first["NextContinuationToken"]
    found = s3.list_objects_v2(Bucket=BUCKET, ContinuationToken=token, StartAfter="0")
    assert (found["ContinuationToken"], found["StartAfter"]) == (token, "0")


def test_a_key_of_the_clients_own(s3: Client) -> None:
    """Nothing is stored in the clear that was to be encrypted."""
    own = customer_key("")
    for call in (s3.put_object, s3.get_object, s3.create_multipart_upload):
        refused = refusal(partial(call, Bucket=BUCKET, Key="sealed", **own))
        assert refused == (501, "NotImplemented")
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="parts")["UploadId"]
    part = {"Bucket": BUCKET, "Key": "parts", "UploadId": upload, "PartNumber": 1}
    assert refusal(partial(s3.upload_part, **part, **own)) == (501, "NotImplemented")
    of_source = customer_key("CopySource")
    copy = partial(s3.copy_object, Bucket=BUCKET, Key="copied", CopySource=f"{BUCKET}/a")
    assert refusal(partial(copy, **of_source)) == (501, "NotImplemented")
    assert refusal(partial(s3.head_object, Bucket=BUCKET, Key="sealed"))[0] == 404


def customer_key(whose: str) -> dict[str, str]:
    names = (f"{whose}SSECustomerAlgorithm", f"{whose}SSECustomerKey")
    return dict(zip(names, ("AES256", "k" * 32), strict=True))
