"""What S3 clients rely on: names, lists in the order of bytes, bodies that are what was signed."""

import asyncio
import base64
import hashlib
import operator
import random
import zlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
from botocore.auth import HmacV1QueryAuth, S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from yarl import URL

from roost.engines.gateway import uploads
from roost.engines.gateway.register import Register
from roost.engines.gateway.upstream import Upstream
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import ROOT, Server
from roost.resources.object_storage.engine import (
    BucketGrant,
    BucketSpec,
    KeySpec,
    NotEmptyError,
    Signature,
    Wanted,
)
from tests.support.client import until
from tests.support.s3 import S3Client, botocore_client, client_of, refusal

pytestmark = pytest.mark.seaweedfs

BUCKET, MARK = "names", "1-20300131"
KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant(BUCKET, True), BucketGrant("empty", True)))
HARD = (
    *("a", "a/", "a//b", "a/b", "a\\b", "a b.txt", "a-b.txt", "a.txt", "a/1", "a0", "a!", "a\x7f"),
    *("docs.old/x", "docs/x", "docs-1/x", "../x", ".", "..", "/", "//", "/a", "é", "中/文", "\n\t"),
    *(".uploads/x", "x.versions/1", "[b]", "~", " ", "%2F", "a%2Fb", "+", "\U0010ffff", "z" * 1000),
    *("z" * 240, "z" * 241, "z" * 240 + "/", "é" * 500),
)

Client = Any
"""That of botocore has no types."""


@pytest.fixture(scope="module")
async def engine(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path_factory.mktemp("seaweedfs") / "objects", "s3.test"))
    await engine.put_key(KEY)
    for name in (BUCKET, "empty"):
        await engine.put_bucket(BucketSpec(name, MARK, "private", False))
    yield engine
    await engine.shut_down()


@pytest.fixture
async def s3(engine: OwnObjects) -> Client:
    """Each test begins without objects."""
    client = botocore_client(await engine.endpoint(), KEY)
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
    for name in [each["Key"] for page in pages for each in page.get("Contents", ())]:
        client.delete_object(Bucket=BUCKET, Key=name)
    return client


@pytest.fixture
async def raw(engine: OwnObjects) -> AsyncIterator[S3Client]:
    async with client_of(await engine.endpoint(), KEY) as client:
        yield client


def fill(s3: Client, names: tuple[str, ...] = HARD) -> None:
    for name in names:
        s3.put_object(Bucket=BUCKET, Key=name, Body=name.encode())


def by_bytes(names: set[str]) -> list[str]:
    return sorted(names, key=str.encode)


def test_each_name_is_an_object_of_its_own(s3: Client) -> None:
    fill(s3)
    for name in HARD:
        got = s3.get_object(Bucket=BUCKET, Key=name)
        assert got["Body"].read() == name.encode(), name
        assert s3.head_object(Bucket=BUCKET, Key=name)["ContentLength"] == len(name.encode())
    for number, name in enumerate(HARD):
        s3.delete_object(Bucket=BUCKET, Key=name)
        left = s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())
        assert {each["Key"] for each in left} == set(HARD[number + 1 :])


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("call", ["list_objects", "list_objects_v2"])
def test_lists_are_in_the_order_of_bytes(s3: Client, call: str, size: int) -> None:
    fill(s3)
    for prefix in ("", "a", "a/", "z" * 240, "docs"):
        pages = s3.get_paginator(call).paginate(
            Bucket=BUCKET, Prefix=prefix, PaginationConfig={"PageSize": size}
        )
        names = [each["Key"] for page in pages for each in page.get("Contents", ())]
        assert names == by_bytes({each for each in HARD if each.startswith(prefix)})


def _expected(
    names: list[str], prefix: str, delimiter: str, after: str, most: int
) -> tuple[list[str], list[str], bool]:
    """Objects, common prefixes and whether there is more, as S3 has it."""
    found = dict[str, bool]()
    for name in names:
        if not name.startswith(prefix):
            continue
        place = name.find(delimiter, len(prefix)) if delimiter else -1
        shown = name if place < 0 else name[: place + len(delimiter)]
        if shown.encode() > after.encode() and not (place < 0 and name.encode() <= after.encode()):
            found.setdefault(shown, place >= 0)
    shown_ = list(found)[:most]
    return (
        [each for each in shown_ if not found[each]],
        [each for each in shown_ if found[each]],
        len(found) > most,
    )


def test_lists_are_those_of_a_model(s3: Client) -> None:
    """Of names, prefixes, delimiters, markers and sizes of pages by chance."""
    chance = random.Random(20_261)
    alphabet = "aab//\\.-! é~"
    names = {"".join(chance.choices(alphabet, k=chance.randint(1, 6))) for _ in range(80)}
    fill(s3, tuple(names))
    ordered = by_bytes(names)
    for _ in range(250):
        some = chance.choice(ordered)
        prefix = chance.choice(("", some[: chance.randint(0, 3)], "a"))
        delimiter = chance.choice(("", "/", "//", "-", "a", "é"))
        after = chance.choice(("", some, some[:2], f"{some}!", "a/", "zz"))
        most = chance.choice((1, 2, 3, 10, 1000))
        got = s3.list_objects_v2(
            Bucket=BUCKET, Prefix=prefix, Delimiter=delimiter, StartAfter=after, MaxKeys=most
        )
        seen = (
            [each["Key"] for each in got.get("Contents", ())],
            [each["Prefix"] for each in got.get("CommonPrefixes", ())],
            got["IsTruncated"],
        )
        assert seen == _expected(ordered, prefix, delimiter, after, most), (
            prefix,
            delimiter,
            after,
            most,
        )


@pytest.mark.parametrize("size", [1, 3])
def test_pages_of_folders_show_each_once(s3: Client, size: int) -> None:
    names = {f"{folder}/{number}" for folder in ("a", "a-b", "b", "a.b") for number in range(5)}
    fill(s3, tuple(names | {"a!", "a0"}))
    for call in ("list_objects", "list_objects_v2"):
        pages = s3.get_paginator(call).paginate(
            Bucket=BUCKET, Delimiter="/", PaginationConfig={"PageSize": size}
        )
        groups, objects = list[str](), list[str]()
        for page in pages:
            groups += [each["Prefix"] for each in page.get("CommonPrefixes", ())]
            objects += [each["Key"] for each in page.get("Contents", ())]
        assert groups == ["a-b/", "a.b/", "a/", "b/"]
        assert objects == ["a!", "a0"]


async def test_a_body_that_is_not_what_was_signed_is_not_stored(raw: S3Client) -> None:
    """Neither are longer and shorter ones, of any size."""
    other = {"x-amz-content-sha256": hashlib.sha256(b"other").hexdigest()}
    for size in (0, 5, 300_000):
        status, answer = await _sent(raw, "wrong", b"x" * size, other)
        assert (status, b"XAmzContentSHA256Mismatch" in answer) == (400, True)
        assert await raw.status("HEAD", f"{BUCKET}/wrong") == 404
    wrong = {"Content-MD5": base64.b64encode(hashlib.md5(b"other").digest()).decode()}
    status, answer = await raw.send("PUT", f"{BUCKET}/wrong", b"x", wrong)
    assert (status, b"BadDigest" in answer) == (400, True)
    for kind, value in (("crc32", zlib.crc32(b"other").to_bytes(4)), ("sha1", b"x" * 20)):
        checksum = {f"x-amz-checksum-{kind}": base64.b64encode(value).decode()}
        assert await raw.status("PUT", f"{BUCKET}/wrong", b"x", checksum) == 400
    assert await raw.status("HEAD", f"{BUCKET}/wrong") == 404


async def test_an_old_object_outlives_a_body_that_is_refused(raw: S3Client) -> None:
    assert await raw.status("PUT", f"{BUCKET}/kept", b"old") == 200
    other = {"x-amz-content-sha256": hashlib.sha256(b"other").hexdigest()}
    assert (await _sent(raw, "kept", b"x" * 400_000, other))[0] == 400
    assert await raw.send("GET", f"{BUCKET}/kept") == (200, b"old")


async def _sent(
    raw: S3Client, name: str, body: bytes, headers: dict[str, str]
) -> tuple[int, bytes]:
    """Signed with the headers, whatever the body is."""
    url = f"{raw.url}/{BUCKET}/{name}"
    request = AWSRequest("PUT", url, headers, b"")

    class Auth(S3SigV4Auth):
        def payload(self, request: AWSRequest) -> str:
            return str(headers["x-amz-content-sha256"])

    Auth(Credentials(KEY.access_key, KEY.secret_key), "s3", "us-east-1").add_auth(request)
    sent = dict(request.headers.items())
    async with raw.session.put(url, data=body, headers=sent) as answer:
        return answer.status, await answer.read()


_TRAILED = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


def _stream(body: bytes, length: int, trailer: str | None) -> tuple[bytes, dict[str, str]]:
    frames = [body[start : start + 100_000] for start in range(0, len(body), 100_000)]
    text = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in frames) + b"0\r\n"
    headers = {"x-amz-content-sha256": _TRAILED, "x-amz-decoded-content-length": str(length)}
    headers["Content-Encoding"] = "aws-chunked"
    if trailer is not None:
        text += f"x-amz-checksum-crc32:{trailer}\r\n".encode()
        headers["x-amz-trailer"] = "x-amz-checksum-crc32"
    return text + b"\r\n", headers


@pytest.mark.parametrize("size", [0, 5, 65_536, 400_001])
async def test_bodies_in_pieces(raw: S3Client, size: int) -> None:
    """With a checksum behind, with a wrong one, with none, and of another length than said."""
    body = random.Random(size).randbytes(size)
    right = base64.b64encode(zlib.crc32(body).to_bytes(4)).decode()
    for trailer in (right, None):
        assert await _sent(raw, "pieces", *_stream(body, size, trailer)) == (200, b"")
        assert await raw.send("GET", f"{BUCKET}/pieces") == (200, body)
        await raw.status("DELETE", f"{BUCKET}/pieces")
    wrong = base64.b64encode(zlib.crc32(b"other").to_bytes(4)).decode()
    for length, trailer in ((size, wrong), (size + 5, right), (size + 5, None)):
        status, _ = await _sent(raw, "pieces", *_stream(body, length, trailer))
        assert status == 400
        assert await raw.status("HEAD", f"{BUCKET}/pieces") == 404


def test_botocore_streams_with_signed_pieces(engine: OwnObjects, s3: Client) -> None:
    for algorithm in ("CRC32", "SHA256", "SHA1"):
        s3.put_object(Bucket=BUCKET, Key="sum", Body=b"content", ChecksumAlgorithm=algorithm)
        got = s3.get_object(Bucket=BUCKET, Key="sum", ChecksumMode="ENABLED")
        assert got["Body"].read() == b"content"
        assert f"Checksum{algorithm}" in got
        assert "ContentEncoding" not in got


def test_uploads_in_parts(s3: Client) -> None:
    """Onto a name that others begin with, listed once, and gone when aborted."""
    fill(s3, ("m/n",))
    upload = partial(s3.create_multipart_upload, Bucket=BUCKET)
    begun = upload(Key="m", Metadata={"kind": "b"})
    assert (begun["Bucket"], begun["Key"]) == (BUCKET, "m")
    parts = []
    named = {"Bucket": BUCKET, "Key": "m", "UploadId": begun["UploadId"]}
    for number, body in enumerate((b"1" * (5 << 20), b"2"), 1):
        answer = s3.upload_part(**named, PartNumber=number, Body=body)
        parts.append({"PartNumber": number, "ETag": answer["ETag"]})
    again = s3.upload_part(**named, PartNumber=2, Body=b"3")
    parts[1]["ETag"] = again["ETag"]
    listed = s3.list_parts(**named)
    assert (listed["Key"], [each["PartNumber"] for each in listed["Parts"]]) == ("m", [1, 2])
    other = upload(Key="a\\b/")
    found = s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
    assert [each["Key"] for each in found] == ["a\\b/", "m"]
    done = s3.complete_multipart_upload(**named, MultipartUpload={"Parts": parts})
    assert (done["Key"], done["Bucket"]) == ("m", BUCKET)
    got = s3.get_object(Bucket=BUCKET, Key="m", Range="bytes=5242879-")
    assert got["Body"].read() == b"13"
    s3.abort_multipart_upload(Bucket=BUCKET, Key="a\\b/", UploadId=other["UploadId"])
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=BUCKET)
    assert refusal(s3.list_parts, Bucket=BUCKET, Key="a\\b/", UploadId=other["UploadId"]) == (
        404,
        "NoSuchUpload",
    )
    got = s3.get_object_attributes(
        Bucket=BUCKET, Key="m", ObjectAttributes=["ETag", "ObjectSize", "ObjectParts"]
    )
    assert (got["ObjectSize"], got["ObjectParts"]["TotalPartsCount"]) == ((5 << 20) + 1, 2)


async def test_more_uploads_than_are_told_at_once(
    engine: OwnObjects, s3: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the server behind; all of them are found, also while those that were found are ended."""
    monkeypatch.setattr(uploads, "_PAGE", 3)
    ids = {s3.create_multipart_upload(Bucket=BUCKET, Key=each)["UploadId"] for each in HARD[:8]}
    folder = engine._server.folder
    upstream = Upstream(
        "127.0.0.1",
        int(engine._server.inner_url().rpartition(":")[2]),
        (folder / "secret").read_text(),
    )
    register = Register(folder / "register.db")
    bucket = register.buckets[BUCKET]
    register.close()
    assert {each.id async for each in uploads.found(upstream, bucket)} == ids
    await uploads.end(upstream, bucket, (datetime.now(UTC) + timedelta(days=1)).isoformat())
    assert [each async for each in uploads.found(upstream, bucket)] == []


def test_where_a_completed_upload_is(s3: Client) -> None:
    """As a URL, in which names are escaped."""
    name = "a b/\u00fc?&+%.txt"
    named = {"Bucket": BUCKET, "Key": name}
    named["UploadId"] = s3.create_multipart_upload(**named)["UploadId"]
    part = {"PartNumber": 1, "ETag": s3.upload_part(**named, PartNumber=1, Body=b"x")["ETag"]}
    done = s3.complete_multipart_upload(**named, MultipartUpload={"Parts": [part]})
    base = s3.meta.endpoint_url
    assert done["Location"] == f"{base}/{BUCKET}/a%20b/%C3%BC%3F%26%2B%25.txt"
    assert done["Key"] == name


async def test_uploads_of_names_that_hurt(engine: OwnObjects, s3: Client) -> None:
    """Listed in the order of bytes, counted, and ended."""
    for name in HARD:
        begun = s3.create_multipart_upload(Bucket=BUCKET, Key=name)
        named = {"Bucket": BUCKET, "Key": name, "UploadId": begun["UploadId"]}
        s3.upload_part(**named, PartNumber=1, Body=b"x")
        parts = s3.list_parts(**named)
        assert (parts["Key"], [each["Size"] for each in parts["Parts"]]) == (name, [1])
    found = s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]
    assert [each["Key"] for each in found] == by_bytes(set(HARD))
    assert (await engine.usage(BUCKET)).size == len(HARD)
    await engine.end_uploads(BUCKET, datetime.now(UTC) + timedelta(days=1))
    assert "Uploads" not in s3.list_multipart_uploads(Bucket=BUCKET)


def test_copies_ranges_conditions_and_tags(s3: Client) -> None:
    put = s3.put_object(
        Bucket=BUCKET, Key="a//b\\", Body=b"0123456789", ContentType="text/x", Metadata={"a": "b"}
    )
    source = {"Bucket": BUCKET, "Key": "a//b\\"}
    s3.copy_object(Bucket=BUCKET, Key="c/", CopySource=source)
    got = s3.get_object(Bucket=BUCKET, Key="c/", Range="bytes=2-4")
    assert (got["Body"].read(), got["ContentType"], got["Metadata"]) == (
        b"234",
        "text/x",
        {"a": "b"},
    )
    get = partial(s3.get_object, Bucket=BUCKET, Key="c/")
    assert refusal(get, IfMatch='"other"') == (412, "PreconditionFailed")
    assert refusal(get, IfNoneMatch=put["ETag"])[0] == 304
    assert refusal(get, Range="bytes=100-") == (416, "InvalidRange")
    put_new = partial(s3.put_object, Bucket=BUCKET, Body=b"x", IfNoneMatch="*")
    assert refusal(put_new, Key="c/") == (412, "PreconditionFailed")
    put_new(Key="new")
    tags = {"TagSet": [{"Key": "k", "Value": "v"}]}
    s3.put_object_tagging(Bucket=BUCKET, Key="c/", Tagging=tags)
    assert s3.get_object_tagging(Bucket=BUCKET, Key="c/")["TagSet"] == tags["TagSet"]
    deleted = s3.delete_objects(
        Bucket=BUCKET, Delete={"Objects": [{"Key": "c/"}, {"Key": "a//b\\"}, {"Key": "none"}]}
    )
    assert [each["Key"] for each in deleted["Deleted"]] == ["c/", "a//b\\", "none"]


def test_what_is_not_there_is_404(s3: Client) -> None:
    for call in (s3.list_objects_v2, partial(s3.get_object, Key="a"), s3.delete_bucket):
        assert refusal(call, Bucket="missing") == (404, "NoSuchBucket")
    assert refusal(s3.head_bucket, Bucket="missing") == (404, "404")
    assert refusal(partial(s3.put_object, Key="a", Body=b""), Bucket="missing")[0] == 404
    assert refusal(s3.get_object, Bucket=BUCKET, Key="missing") == (404, "NoSuchKey")
    assert s3.head_bucket(Bucket=BUCKET)["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_what_is_not_built_says_so(s3: Client) -> None:
    put = partial(s3.put_object, Bucket=BUCKET, Key="a", Body=b"x")
    assert refusal(put, ServerSideEncryption="AES256") == (501, "NotImplemented")
    assert refusal(put, ObjectLockMode="GOVERNANCE", ObjectLockRetainUntilDate=2e9)[0] == 501
    assert refusal(s3.get_object_torrent, Bucket=BUCKET, Key="a")[0] == 501
    assert refusal(put, Key="n" * 1025) == (400, "KeyTooLongError")
    assert refusal(s3.head_object, Bucket=BUCKET, Key="a")[0] == 404


async def test_presigned_urls_of_both_versions(raw: S3Client, s3: Client) -> None:
    fill(s3, ("a/ b\\",))
    parameters = {
        "Bucket": BUCKET,
        "Key": "a/ b\\",
        "ResponseContentDisposition": 'attachment; filename="x y"',
    }
    for version in ("s3v4", "s3"):
        client = botocore_client(raw.url, KEY, version=version)
        url = client.generate_presigned_url("get_object", Params=parameters)
        async with aiohttp.ClientSession() as session:
            async with session.get(URL(url, encoded=True)) as answer:
                assert (answer.status, await answer.read()) == (200, b"a/ b\\")
                assert answer.headers["Content-Disposition"] == 'attachment; filename="x y"'
            async with session.get(URL(url + "0", encoded=True)) as answer:
                assert answer.status == 403
    old = AWSRequest("GET", f"{raw.url}/{BUCKET}/{quote('a/ b')}%5C")
    HmacV1QueryAuth(Credentials(KEY.access_key, KEY.secret_key), expires=-5).add_auth(old)
    async with raw.session.get(URL(str(old.url), encoded=True)) as answer:
        assert answer.status == 403


async def test_a_bucket_as_a_host(raw: S3Client, s3: Client) -> None:
    fill(s3, ("a/b",))
    client = botocore_client("http://s3.test", KEY, "virtual")
    url = client.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "a/b"})
    host, _, path = url.removeprefix("http://").partition("/")
    assert host == f"{BUCKET}.s3.test"
    sent = URL(f"{raw.url}/{path}", encoded=True)
    async with raw.session.get(sent, headers={"Host": host}) as answer:
        assert (answer.status, await answer.read()) == (200, b"a/b")


async def test_what_is_put_while_a_bucket_is_deleted_keeps_it(engine: OwnObjects) -> None:
    """Or it is refused; what was stored is never seen by the next bucket of that name."""
    async with client_of(await engine.endpoint(), KEY) as client:
        for _ in range(10):
            put = asyncio.create_task(client.status("PUT", "empty/a", b"x"))
            is_deleted = True
            try:
                await engine.delete_bucket("empty", MARK)
            except NotEmptyError:
                is_deleted = False
            assert (await put == 200) is not is_deleted
            await engine.purge_bucket("empty", MARK)
            await engine.put_bucket(BucketSpec("empty", MARK, "private", False))
            await engine.put_key(KEY)
            assert await engine.is_empty("empty")
            assert await client.status("GET", "empty/a") == 404


async def test_urls_of_a_former_bucket_open_nothing_of_the_next(engine: OwnObjects) -> None:
    async with client_of(await engine.endpoint(), KEY) as client:
        urls = [
            await engine.sign(Signature("empty", MARK, "a", each, 600)) for each in ("GET", "PUT")
        ]
        await engine.delete_bucket("empty", MARK)
        await engine.put_bucket(BucketSpec("empty", MARK, "private", False))
        await engine.put_key(KEY)
        assert await client.status("PUT", "empty/a", b"new") == 200
        for url, method in zip(urls, ("GET", "PUT"), strict=True):
            async with client.session.request(method, URL(url, encoded=True)) as answer:
                assert answer.status == 403
        assert await client.send("GET", "empty/a") == (200, b"new")
        assert await client.status("DELETE", "empty/a") == 204


async def test_buckets_from_before_the_gateway_stay_readable(tmp_path: Path) -> None:
    """Their objects get the names by which they are found now."""
    server = Server(tmp_path / "objects")
    await server.ensure()
    root = KeySpec("root", ROOT, (tmp_path / "objects" / "secret").read_text(), ())
    names = ("a", "a/b", "a-b/c", "é.txt", "d/e/f")
    async with client_of(server.inner_url(), root) as inner:
        assert await inner.status("PUT", "empty") == 200
        for name in names:
            assert await inner.status("PUT", f"empty/{quote(name)}", name.encode()) == 200
    await server.stop()
    for file in (tmp_path / "objects").glob("register.db*"):
        file.unlink()
    engine = OwnObjects(server)
    try:
        assert not await engine.buckets()
        await engine.put_key(KEY)
        await engine.put_bucket(BucketSpec("empty", MARK, "private", False))
        async with client_of(await engine.endpoint(), KEY) as client:
            ask = partial(client.status, "GET", "empty")
            await until(ask, partial(operator.eq, 200), 30)
            for name in names:
                assert await client.send("GET", f"empty/{quote(name)}") == (200, name.encode())
        page = await engine.list_objects("empty", Wanted(10))
        assert [each.name for each in page.objects] == sorted(names)
    finally:
        await engine.shut_down()
