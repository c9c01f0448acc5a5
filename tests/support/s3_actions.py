"""What an S3 client can try with a bucket, each answering whether it came to pass."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlencode

import aiohttp
from botocore.auth import S3SigV4PostAuth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.support.s3 import S3Client

Headers: TypeAlias = dict[str, str]
PUBLIC = {"x-amz-acl": "public-read"}


@dataclass
class Attempt:
    """A caller with a bucket, which holds `a` and `b`, and a place of its own."""

    caller: S3Client
    owner: S3Client
    """Who puts things where they belong before each try, and sees what became of it."""
    bucket: str
    own: str
    """A bucket that the caller may write to, if there is one."""
    requests: int = field(default=0)

    async def send(
        self, method: str, path: str, body: bytes = b"", headers: Headers | None = None
    ) -> tuple[int, bytes]:
        self.requests += 1
        return await self.caller.send(method, path, body, headers)

    async def done(
        self, method: str, path: str, body: bytes = b"", headers: Headers | None = None
    ) -> bool:
        """Whether it was answered as done; else it has to be refused, for want of access or as
        nobody has it."""
        status, answer = await self.send(method, f"{self.bucket}{path}", body, headers)
        assert status in (200, 204, 206, 403, 501), (method, path, status, answer)
        return status not in (403, 501)

    async def lies(self, name: str) -> bool:
        """Whether an object is there."""
        return await self.owner.status("HEAD", f"{self.bucket}/{name}") == 200


Action: TypeAlias = Callable[[Attempt], Awaitable[bool]]


def plain(method: str, path: str, body: bytes = b"", headers: Headers | None = None) -> Action:
    """One request."""

    async def act(attempt: Attempt) -> bool:
        return await attempt.done(method, path, body, headers)

    return act


async def ask_for_policy(attempt: Attempt) -> bool:
    """Whether it tells that there is none."""
    status, _ = await attempt.send("GET", f"{attempt.bucket}?policy")
    assert status in (403, 404)
    return status == 404


async def list_buckets(attempt: Attempt) -> bool:
    """Whether it shows the name of the bucket."""
    _, body = await attempt.send("GET", "")
    return f"<Name>{attempt.bucket}</Name>".encode() in body


async def delete_many(attempt: Attempt) -> bool:
    """It is answered 200, with the refusals inside."""
    body = b"<Delete><Object><Key>b</Key></Object></Delete>"
    await attempt.send("POST", f"{attempt.bucket}?delete", body)
    return not await attempt.lies("b")


async def copy_from(attempt: Attempt) -> bool:
    headers = {"x-amz-copy-source": f"/{attempt.bucket}/a"}
    status, _ = await attempt.send("PUT", f"{attempt.own}/copy", b"", headers)
    return status == 200


async def copy_part_from(attempt: Attempt) -> bool:
    """Into an upload of the caller's own; nothing where it has none."""
    status, body = await attempt.send("POST", f"{attempt.own}/parts?uploads")
    if status != 200:
        return False
    path = f"{attempt.own}/parts?partNumber=1&uploadId={_upload(body)}"
    headers = {"x-amz-copy-source": f"/{attempt.bucket}/a"}
    status, _ = await attempt.send("PUT", path, b"", headers)
    return status == 200


async def multipart(attempt: Attempt) -> bool:
    """From the first request to the object."""
    path = f"{attempt.bucket}/large"
    status, body = await attempt.send("POST", f"{path}?uploads")
    if status != 200:
        assert status == 403
        return False
    upload = _upload(body)
    status, _ = await attempt.send("PUT", f"{path}?partNumber=1&uploadId={upload}", b"part")
    assert status == 200
    _, listed = await attempt.owner.send("GET", f"{path}?uploadId={upload}")
    etag = re.findall(rb"<ETag>(.*?)</ETag>", listed)[0].decode()
    whole = (
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>"
        f"<ETag>{etag}</ETag></Part></CompleteMultipartUpload>"
    )
    status, _ = await attempt.send("POST", f"{path}?uploadId={upload}", whole.encode())
    return status == 200 and await attempt.lies("large")


async def put_part_of_others(attempt: Attempt) -> bool:
    """Into an upload that the owner has begun."""
    upload = await _begun(attempt)
    return await attempt.done("PUT", f"/theirs?partNumber=1&uploadId={upload}", b"x")


async def list_parts_of_others(attempt: Attempt) -> bool:
    return await attempt.done("GET", f"/theirs?uploadId={await _begun(attempt)}")


async def abort_of_others(attempt: Attempt) -> bool:
    return await attempt.done("DELETE", f"/theirs?uploadId={await _begun(attempt)}")


async def get_by_url(attempt: Attempt) -> bool:
    """Pre-signed with the key."""
    return await _by_url(attempt, "GET", "a")


async def put_by_url(attempt: Attempt) -> bool:
    return await _by_url(attempt, "PUT", "c")


async def post_form(attempt: Attempt) -> bool:
    """An upload by a form of a web page, with a policy that the key has signed."""
    fields: dict[str, str] = {"key": "form"}
    if attempt.caller.key is not None:
        request = AWSRequest("POST", f"{attempt.caller.url}/{attempt.bucket}")
        request.context["s3-presign-post-fields"] = fields
        request.context["s3-presign-post-policy"] = {
            "expiration": "2999-01-01T00:00:00Z",
            "conditions": [{"bucket": attempt.bucket}, {"key": "form"}],
        }
        S3SigV4PostAuth(_credentials(attempt), "s3", "us-east-1").add_auth(request)
    form = aiohttp.FormData(fields)
    form.add_field("file", b"content", filename="form")
    attempt.requests += 1
    url = f"{attempt.caller.url}/{attempt.bucket}"
    async with attempt.caller.session.post(url, data=form) as answer:
        await answer.read()
    return await attempt.lies("form")


ACTIONS: dict[str, Action] = {
    "list buckets": list_buckets,
    "list": plain("GET", ""),
    "list v2": plain("GET", "?list-type=2&prefix=a"),
    "head bucket": plain("HEAD", ""),
    "location": plain("GET", "?location"),
    "list uploads": plain("GET", "?uploads"),
    "list versions": plain("GET", "?versions"),
    "get": plain("GET", "/a"),
    "head": plain("HEAD", "/a"),
    "get range": plain("GET", "/a", b"", {"Range": "bytes=0-100"}),
    "get by url": get_by_url,
    "copy from": copy_from,
    "copy part from": copy_part_from,
    "get tags": plain("GET", "/a?tagging"),
    "put": plain("PUT", "/c", b"x"),
    "put by url": put_by_url,
    "post form": post_form,
    "copy to": plain("PUT", "/c", b"", {"x-amz-copy-source": "/photos/a"}),
    "delete": plain("DELETE", "/b"),
    "delete many": delete_many,
    "multipart": multipart,
    "put tags": plain("PUT", "/a?tagging", b"<Tagging><TagSet/></Tagging>"),
    "part of others": put_part_of_others,
    "parts of others": list_parts_of_others,
    "abort of others": abort_of_others,
    "put with acl": plain("PUT", "/c", b"x", PUBLIC),
    "multipart with acl": plain("POST", "/c?uploads", b"", PUBLIC),
    "get bucket acl": plain("GET", "?acl"),
    "put bucket acl": plain("PUT", "?acl", b"", PUBLIC),
    "get object acl": plain("GET", "/a?acl"),
    "put object acl": plain("PUT", "/a?acl", b"", PUBLIC),
    "get policy": ask_for_policy,
    "put policy": plain(
        "PUT",
        "?policy",
        b'{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",'
        b'"Action":["s3:*"],"Resource":["arn:aws:s3:::photos/*"]}]}',
    ),
    "delete policy": plain("DELETE", "?policy"),
    "put cors": plain("PUT", "?cors", b"<CORSConfiguration/>"),
    "put versioning": plain("PUT", "?versioning", b"<VersioningConfiguration/>"),
    "put lifecycle": plain("PUT", "?lifecycle", b"<LifecycleConfiguration/>"),
    "put encryption": plain("PUT", "?encryption", b"<ServerSideEncryptionConfiguration/>"),
    "put ownership": plain("PUT", "?ownershipControls", b"<OwnershipControls/>"),
    "put public block": plain("PUT", "?publicAccessBlock", b"<PublicAccessBlockConfiguration/>"),
    "put bucket tags": plain("PUT", "?tagging", b"<Tagging><TagSet/></Tagging>"),
    "put object lock": plain("PUT", "?object-lock", b"<ObjectLockConfiguration/>"),
    "delete bucket": plain("DELETE", ""),
}


async def _begun(attempt: Attempt) -> str:
    status, body = await attempt.owner.send("POST", f"{attempt.bucket}/theirs?uploads")
    assert status == 200
    return _upload(body)


async def _by_url(attempt: Attempt, method: str, name: str) -> bool:
    url = f"{attempt.caller.url}/{attempt.bucket}/{name}"
    body = b"x" if method == "PUT" else b""
    if attempt.caller.key is not None:
        request = AWSRequest(method, url)
        S3SigV4QueryAuth(_credentials(attempt), "s3", "us-east-1", 600).add_auth(request)
        url = f"{url}?{urlencode(request.params)}" if request.params else str(request.url)
    attempt.requests += 1
    async with attempt.caller.session.request(method, url, data=body) as answer:
        await answer.read()
        assert answer.status in (200, 403)
        return answer.status == 200


def _credentials(attempt: Attempt) -> Credentials:
    key = attempt.caller.key
    assert key is not None
    return Credentials(key.access_key, key.secret_key)


def _upload(body: bytes) -> str:
    found: list[bytes] = re.findall(rb"<UploadId>(.*?)</UploadId>", body)
    return found[0].decode()
