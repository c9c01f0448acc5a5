"""Objects: get, head, put, copy, delete one and many, tags and attributes."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from http import HTTPStatus
from urllib.parse import quote

from roost.engines.gateway import access, acls, bodies, names
from roost.engines.gateway.behind import Connection
from roost.engines.gateway.bodies import Body
from roost.engines.gateway.call import Call, check_name
from roost.engines.gateway.faults import S3Error, invalid
from roost.engines.gateway.headers import answered_headers, sent_headers
from roost.engines.gateway.http import Request, Response
from roost.engines.gateway.register import Bucket
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Incoming, Outgoing, refused
from roost.engines.gateway.xml import document, parsed, tag

_MOST_XML = 2 << 20
_MOST_DELETED = 1000
_DELETED_AT_ONCE = 16
_LARGEST_PUT = 5 << 30
_STREAM_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
_OVERRIDES = frozenset(
    f"response-{each}"
    for each in (
        *("content-type", "content-language", "expires", "cache-control"),
        *("content-disposition", "content-encoding"),
    )
)
_WHOLE = 64 << 10
"""Bytes of an answer that is sent as a whole, in one piece with its head."""
_NO_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


def path_of(bucket: Bucket, name: str) -> str:
    return f"/{bucket.place}/{names.encoded(name)}"


async def get(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """GET and HEAD, of the whole, a range or a part."""
    check_read(call, bucket)
    if call.query.get("versionId", "null") != "null":
        raise invalid("Invalid version id specified")
    query = [each for each in call.pairs if each[0] in _OVERRIDES or each[0] == "partNumber"]
    if call.identity.anonymous and any(name in _OVERRIDES for name, _ in query):
        message = "Request specific response headers cannot be used for anonymous GET requests."
        raise invalid(message, "InvalidRequest")
    path, headers = path_of(bucket, call.object_name), sent_headers(call.headers)
    outgoing = Outgoing(call.method, path, query, headers, passes=call.method == "GET")
    incoming = await gateway.upstream.send(outgoing)
    try:
        if acls.is_other(bucket, call.object_name, incoming):
            bucket = await gateway.register.end_acl(bucket, call.object_name)
            check_read(call, bucket)
        if incoming.status == 404:
            access.check_told(call, bucket)
        if incoming.status >= 400 and call.method == "GET":
            raise refused(incoming.status, await incoming.read())
        return await _passed_on(gateway, call, bucket, incoming)
    finally:
        gateway.upstream.release(incoming)


def check_read(call: Call, bucket: Bucket) -> None:
    access.check(call, bucket, "s3:GetObject", call.object_name)
    if "versionId" in call.query:
        access.check(call, bucket, "s3:GetObjectVersion", call.object_name)


async def _passed_on(gateway: Gateway, call: Call, bucket: Bucket, incoming: Incoming) -> Response:
    headers = answered_headers(incoming)
    length = int(headers.get("content-length", _WHOLE + 1))
    if call.method != "HEAD" and incoming.status not in _NO_BODY and length <= _WHOLE:
        return Response(status=incoming.status, headers=headers, body=await incoming.read())
    response = Response(status=incoming.status, headers=headers)
    complete(call, bucket, response)
    await call.request.begin(response)
    if call.method != "HEAD" and incoming.status not in _NO_BODY:
        async with aclosing(_written(call.request, incoming.connection)) as parts:
            async for size in parts:
                gateway.sent[bucket.label] += size
    await call.request.finish()
    return response


async def _written(request: Request, source: Connection) -> AsyncGenerator[int, None]:
    """Write the body of an answer; bytes of each part. Raises ConnectionError."""
    if not source.left:
        async for piece in source.pieces():
            await request.write(piece)
            yield len(piece)
        return
    for piece in source.begun():
        await request.write(piece)
        yield len(piece)
    async with aclosing(request.splice(source, source.left)) as parts:
        async for size in parts:
            yield size
    source.moved()


def complete(call: Call, bucket: Bucket | None, response: Response) -> None:
    """With what all answers have."""
    response.headers["x-amz-request-id"] = call.id
    response.headers["Server"] = "Roost"
    origin = call.headers.get("origin")
    if bucket is not None and bucket.cors and origin is not None:
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] = "*"
        response.headers["Vary"] = "Origin"


def check_put(call: Call, bucket: Bucket) -> None:
    """Raises S3Error unless the caller may put the object with what comes with it."""
    access.check(call, bucket, "s3:PutObject", call.object_name)
    if "x-amz-tagging" in call.headers:
        access.check(call, bucket, "s3:PutObjectTagging", call.object_name, need="write")
    access.check_no_acl(call.headers)


async def put(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """An object, of a body or as a copy."""
    check_put(call, bucket)
    path = path_of(bucket, call.object_name)
    async with gateway.writing(bucket):
        if "x-amz-copy-source" in call.headers:
            response = await _copied(gateway, call, bucket, path)
        else:
            response = await put_body(gateway, call, bucket, path, [])
        await acls.ended(gateway, bucket, call.object_name)
    return response


async def put_body(
    gateway: Gateway, call: Call, bucket: Bucket, path: str, query: list[tuple[str, str]]
) -> Response:
    """What the request holds is what the server behind has, or neither."""
    body, headers = call.body(), sent_headers(call.headers)
    if body.length > _LARGEST_PUT:
        message = "Your proposed upload exceeds the maximum allowed size"
        raise invalid(message, "EntityTooLarge")
    with gateway.room.taken(bucket.label, body.length):
        incoming, answer = await gateway.upstream.call(_outgoing(path, query, headers, body))
        if incoming.status >= 400:
            raise refused(incoming.status, answer)
    kept = {k: v for k, v in answered_headers(incoming).items() if not k.startswith("content-")}
    return Response(status=incoming.status, headers=kept)


def _outgoing(
    path: str, query: list[tuple[str, str]], headers: dict[str, str], body: Body
) -> Outgoing:
    if body.checksum is None:
        return Outgoing("PUT", path, query, headers, body.length, body.pieces)
    more = {"x-amz-decoded-content-length": str(body.length), "x-amz-trailer": body.checksum}
    pieces = body.framed()
    return Outgoing(
        "PUT", path, query, {**headers, **more}, body.framed_length, pieces, _STREAM_TRAILER
    )


async def _source_of(gateway: Gateway, call: Call) -> tuple[Bucket, str]:
    """The object to copy, which the caller may read. Raises S3Error."""
    source = call.copy_source
    assert source is not None
    if source.version not in ("", "null"):
        raise invalid("Invalid version id specified")
    if not source.name:
        raise invalid("Copy Source must mention the source bucket and key: sourcebucket/sourcekey")
    check_name(source.name)
    bucket = access.bucket_of(gateway.register, source.label)
    check_settled(bucket)
    bucket = await acls.current(gateway, bucket, source.name)
    access.check(call, bucket, "s3:GetObject", source.name)
    if source.version:
        access.check(call, bucket, "s3:GetObjectVersion", source.name)
    return bucket, source.name


async def _copied(gateway: Gateway, call: Call, bucket: Bucket, path: str) -> Response:
    if call.headers.get("content-length", "0") != "0":
        raise invalid("A copy has no body", "InvalidRequest")
    return await copy(gateway, call, bucket, path, [])


async def copy(
    gateway: Gateway,
    call: Call,
    bucket: Bucket,
    path: str,
    query: list[tuple[str, str]],
    size: int | None = None,
) -> Response:
    """Copy an object, or a range of so many bytes into a part. The answer holds no names."""
    origin, name = await _source_of(gateway, call)
    if size is None:
        size = await _looked_at(gateway, call, origin, name)
    source = quote(path_of(origin, name), safe="/-_.~")
    headers = sent_headers(call.headers) | {"x-amz-copy-source": source}
    with gateway.room.taken(bucket.label, size):
        incoming, answer = await gateway.upstream.call(Outgoing("PUT", path, query, headers))
        if incoming.status >= 400:
            raise refused(incoming.status, answer)
    return Response(status=incoming.status, body=answer, content_type="application/xml")


async def _looked_at(gateway: Gateway, call: Call, bucket: Bucket, name: str) -> int:
    """Bytes of an object to copy; none of one that is not there, of which the server behind tells.
    Raises S3Error when its tags would be copied, and the caller may not read them."""
    incoming = await gateway.upstream.send(Outgoing("HEAD", path_of(bucket, name)))
    gateway.upstream.release(incoming)
    if incoming.status == 404:
        access.check_told(call, bucket)
    keeps = call.headers.get("x-amz-tagging-directive", "COPY").upper() != "REPLACE"
    if keeps and incoming.header("x-amz-tagging-count") is not None:
        access.check(call, bucket, "s3:GetObjectTagging", name, need="read")
    return int(incoming.header("content-length") or 0) if incoming.status == 200 else 0


async def delete(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    access.check(call, bucket, "s3:DeleteObject", call.object_name)
    if call.query.get("versionId", "null") != "null":
        raise invalid("Invalid version id specified")
    if "versionId" in call.query:
        access.check(call, bucket, "s3:DeleteObjectVersion", call.object_name)
    async with gateway.writing(bucket):
        conditions = {k: v for k, v in call.headers.items() if k.startswith("if-")}
        await _delete(gateway, bucket, call.object_name, conditions)
    return Response(status=204)


async def _delete(
    gateway: Gateway, bucket: Bucket, name: str, conditions: Mapping[str, str] | None = None
) -> None:
    outgoing = Outgoing("DELETE", path_of(bucket, name), (), conditions)
    incoming, answer = await gateway.upstream.call(outgoing)
    if incoming.status >= 400 and incoming.status != 404:
        raise refused(incoming.status, answer)
    await acls.ended(gateway, bucket, name)


async def delete_many(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    root = parsed(await bodies.whole(call.body(), _MOST_XML))
    quiet = (root.findtext("{*}Quiet") or root.findtext("Quiet") or "").strip() == "true"
    wanted = [each.findtext("{*}Key") for each in root.iterfind("{*}Object")]
    versions = [each.findtext("{*}VersionId") for each in root.iterfind("{*}Object")]
    if not wanted or len(wanted) > _MOST_DELETED or None in wanted:
        message = "The XML you provided was not well-formed or did not validate"
        raise invalid(message, "MalformedXML")
    at_once = asyncio.Semaphore(_DELETED_AT_ONCE)

    async def one(name: str, version: str | None) -> str:
        try:
            check_name(name)
            if not name:
                raise invalid("A name is empty", "UserKeyMustBeSpecified")
            if version not in (None, "", "null"):
                raise invalid("The specified version does not exist.", "NoSuchVersion")
            now = await acls.current(gateway, bucket, name)
            access.check(call, now, "s3:DeleteObject", name)
            if version:
                access.check(call, now, "s3:DeleteObjectVersion", name)
            async with at_once:
                await _delete(gateway, bucket, name)
        except S3Error as error:
            parts = (tag("Key", name), tag("Code", error.code), tag("Message", error.message))
            return f"<Error>{''.join(parts)}</Error>"
        return "" if quiet else f"<Deleted>{tag('Key', name)}</Deleted>"

    async with gateway.writing(bucket):
        pairs = zip(wanted, versions, strict=True)
        parts = await asyncio.gather(*(one(name or "", version) for name, version in pairs))
    return Response(body=document("DeleteResult", parts), content_type="application/xml")


def check_settled(bucket: Bucket) -> None:
    """503 while its objects are given the names by which they are found."""
    if bucket.moving_from is not None:
        raise S3Error(503, "SlowDown", "The bucket is being made ready after an upgrade")
