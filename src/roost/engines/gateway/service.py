"""What is done with a request."""

import asyncio
import re
from datetime import UTC, datetime

from roost.engines.gateway import access, acls, attributes, lists, objects, settings, uploads
from roost.engines.gateway.call import Call, authenticate, check_name, read
from roost.engines.gateway.faults import S3Error, denied, invalid, not_built, unavailable
from roost.engines.gateway.http import Request, Response
from roost.engines.gateway.register import Bucket
from roost.engines.gateway.state import Gateway, Pending
from roost.engines.gateway.xml import document, tag

_LABEL = re.compile("[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_DECISION_SECONDS = 30.0
_XML = "application/xml"
_OBJECT_OTHERS = ("torrent", "restore", "select", "append", "renameObject")


async def answer(gateway: Gateway, request: Request) -> None:
    """Also of what is refused."""
    call = read(request, gateway.domain)
    bucket = gateway.register.buckets.get(call.label)
    try:
        if call.method == "OPTIONS":
            response: Response = _preflight(call, bucket)
        else:
            authenticate(call, gateway.register)
            response = await _done(gateway, call)
    except S3Error as error:
        body = error.body(call.path, call.id) if call.method != "HEAD" else None
        response = Response(status=error.status, body=body, content_type=_XML)
        if error.status == 503:
            response.headers["Retry-After"] = "1"
    if not response.begun:
        if bucket is not None and response.body:
            gateway.sent[call.label] += len(response.body)
        objects.complete(call, bucket, response)
        await request.send(response)


def _preflight(call: Call, bucket: Bucket | None) -> Response:
    if bucket is None or not bucket.cors or "origin" not in call.headers:
        raise denied("CORSResponse: This CORS request is not allowed.")
    wanted = call.headers.get("access-control-request-headers")
    headers = {
        "Access-Control-Allow-Methods": "GET, PUT, POST, DELETE, HEAD",
        "Access-Control-Max-Age": "600",
    }
    if wanted:
        headers["Access-Control-Allow-Headers"] = wanted
    return Response(headers=headers)


async def _done(gateway: Gateway, call: Call) -> Response:
    if not call.label:
        if call.method != "GET":
            raise denied()
        return _buckets(gateway, call)
    if call.name is None and call.method == "PUT" and not settings.OF_BUCKETS & call.query.keys():
        return await _make(gateway, call)
    bucket = access.bucket_of(gateway.register, call.label)
    if call.name is None:
        return await _on_bucket(gateway, call, bucket)
    check_name(call.name)
    objects.check_settled(bucket)
    return await _on_object(gateway, call, await acls.current(gateway, bucket, call.name))


async def _on_bucket(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    query, method = call.query, call.method
    if settings.OF_BUCKETS & query.keys():
        objects.check_settled(bucket)
        return await settings.of_bucket(gateway, call, bucket)
    if method == "DELETE":
        raise denied("Buckets are deleted by the API of the platform")
    objects.check_settled(bucket)
    if method == "HEAD":
        access.check(call, bucket, "s3:ListBucket")
        return Response(headers={"x-amz-bucket-region": "us-east-1"})
    if method == "GET" and "location" in query:
        access.check(call, bucket, "s3:GetBucketLocation")
        return Response(body=document("LocationConstraint", ()), content_type=_XML)
    if method == "GET" and "uploads" in query:
        return await uploads.listed(gateway, call, bucket)
    if method == "GET":
        access.check(call, bucket, "s3:ListBucket")
        body = await lists.answer(gateway.upstream, bucket, dict(query), "owner")
        return Response(body=body, content_type=_XML)
    if method == "POST" and "delete" in query:
        return await objects.delete_many(gateway, call, bucket)
    if method == "POST":
        raise denied("Uploads by forms are not taken: use a pre-signed URL")
    raise _not_allowed()


async def _on_object(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    query, method = call.query, call.method
    if settings.OF_OBJECTS & query.keys():
        return await settings.of_object(gateway, call, bucket)
    if any(each in query for each in _OBJECT_OTHERS):
        raise not_built("This operation")
    if "tagging" in query and method in ("GET", "PUT", "DELETE"):
        return await attributes.tags(gateway, call, bucket)
    if "attributes" in query and method == "GET":
        return await attributes.answer(gateway, call, bucket)
    if "uploadId" in query:
        return await _on_upload(gateway, call, bucket)
    if method in ("GET", "HEAD"):
        return await objects.get(gateway, call, bucket)
    if method == "PUT":
        return await objects.put(gateway, call, bucket)
    if method == "DELETE":
        return await objects.delete(gateway, call, bucket)
    if method == "POST" and "uploads" in query:
        return await uploads.begin(gateway, call, bucket)
    raise _not_allowed()


async def _on_upload(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    acts = {
        "PUT": uploads.put_part,
        "POST": uploads.complete,
        "DELETE": uploads.abort,
        "GET": uploads.parts,
    }
    act = acts.get(call.method)
    if act is None:
        raise _not_allowed()
    return await act(gateway, call, bucket)


def _buckets(gateway: Gateway, call: Call) -> Response:
    """Those that a key may use, or list."""
    key = call.identity.key
    if key is None:
        raise denied()
    labels = sorted({*key.grants, *key.lists})
    found = [
        each
        for each in map(gateway.register.buckets.get, labels)
        if each is not None and not each.closed
    ]
    prefix, after = call.query.get("prefix", ""), call.query.get("continuation-token", "")
    found = [each for each in found if each.label.startswith(prefix) and each.label > after]
    most = lists.number(dict(call.query), "max-buckets", 10_000)
    shown, rest = found[:most], found[most:]
    parts = [
        f"<Bucket>{tag('Name', each.label)}{tag('CreationDate', _moment(each.created))}</Bucket>"
        for each in shown
    ]
    body = [f"<Owner>{tag('ID', 'owner')}{tag('DisplayName', 'owner')}</Owner>"]
    body.append(f"<Buckets>{''.join(parts)}</Buckets>")
    if rest and shown:
        body.append(tag("ContinuationToken", shown[-1].label))
    return Response(body=document("ListAllMyBucketsResult", body), content_type=_XML)


async def _make(gateway: Gateway, call: Call) -> Response:
    """The control plane makes it, and lets the key use it, before the answer."""
    key = call.identity.key
    if key is None or not key.makes:
        raise denied()
    access.check_no_acl(call.headers)
    if call.headers.get("x-amz-bucket-object-lock-enabled", "false").lower() == "true":
        raise not_built("Object lock")
    if not _LABEL.fullmatch(call.label):
        raise invalid("The specified bucket is not valid.", "InvalidBucketName")
    if _is_own(gateway, call):
        return Response(headers={"Location": f"/{call.label}"})
    pending = gateway.pending.get(call.label)
    if pending is not None and pending.key != key.name:
        raise S3Error(409, "OperationAborted", "Somebody else makes a bucket of this name")
    if pending is None:
        pending = gateway.pending[call.label] = Pending(call.label, key.name)
        async with gateway.asked:
            gateway.asked.notify_all()
    try:
        async with asyncio.timeout(_DECISION_SECONDS):
            await pending.decided.wait()
    except TimeoutError:
        raise unavailable() from None
    finally:
        if gateway.pending.get(call.label) is pending:
            del gateway.pending[call.label]
    if pending.refusal is not None:
        raise denied(pending.refusal)
    return Response(headers={"Location": f"/{call.label}"})


def _is_own(gateway: Gateway, call: Call) -> bool:
    """Whether it is there already, and the caller's: as in us-east-1, that is no fault. Raises
    S3Error for another's."""
    bucket = gateway.register.buckets.get(call.label)
    if bucket is None:
        return False
    granted = call.identity.grant(bucket)
    if granted is None:
        raise S3Error(409, "BucketAlreadyExists", "The requested bucket name is not available.")
    if bucket.closed:
        raise S3Error(409, "OperationAborted", "The bucket is being deleted")
    if not granted:
        message = "The bucket is there already, and may be read with this key only."
        raise S3Error(409, "BucketAlreadyOwnedByYou", message)
    return True


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _not_allowed() -> S3Error:
    message = "The specified method is not allowed against this resource."
    return S3Error(405, "MethodNotAllowed", message)
