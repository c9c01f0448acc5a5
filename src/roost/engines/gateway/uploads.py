"""Uploads in parts."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from roost.engines.gateway import access, acls, bodies, names
from roost.engines.gateway.call import Call
from roost.engines.gateway.faults import invalid
from roost.engines.gateway.headers import answered_headers, sent_headers
from roost.engines.gateway.http import Response
from roost.engines.gateway.lists import number, shown, url_or_not
from roost.engines.gateway.objects import check_put, copy, path_of, put_body
from roost.engines.gateway.register import Bucket
from roost.engines.gateway.signing import quoted_path
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Outgoing, Upstream, of_bytes, refused
from roost.engines.gateway.xml import document, parsed, replaced, tag

_MOST_XML = 4 << 20
_MOST = 1000
_MOST_PARTS = 10_000
_PAGE = 10_000
"""Uploads for which the server behind is asked at a time, the most that it tells."""
_XML = "application/xml"
_RANGE = re.compile("bytes=([0-9]{1,15})-([0-9]{1,15})")


async def begin(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    check_put(call, bucket)
    path = path_of(bucket, call.object_name)
    async with gateway.writing(bucket):
        gateway.room.check(bucket.label)
        outgoing = Outgoing("POST", path, [("uploads", "")], sent_headers(call.headers))
        incoming, body = await gateway.upstream.call(outgoing)
    if incoming.status >= 400:
        raise refused(incoming.status, body)
    found = {"Bucket": bucket.label, "Key": call.object_name}
    kept = {k: v for k, v in answered_headers(incoming).items() if k.startswith("x-amz-")}
    return Response(body=replaced(body, dict(found)), headers=kept, content_type=_XML)


async def put_part(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    access.check(call, bucket, "s3:PutObject", call.object_name)
    part = call.query.get("partNumber", "")
    if not part.isdecimal() or len(part) > 5 or not 1 <= int(part) <= _MOST_PARTS:
        raise invalid("Part number must be an integer between 1 and 10000, inclusive")
    query = [("partNumber", part), ("uploadId", call.query["uploadId"])]
    path = path_of(bucket, call.object_name)
    async with gateway.writing(bucket):
        if "x-amz-copy-source" in call.headers:
            size = _size(call.headers.get("x-amz-copy-source-range"))
            return await copy(gateway, call, bucket, path, query, size)
        return await put_body(gateway, call, bucket, path, query)


def _size(text: str | None) -> int | None:
    """Bytes of the range that is copied, as S3 has it: `bytes=first-last`, both given; None of the
    whole. Raises S3Error."""
    if text is None:
        return None
    found = _RANGE.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        message = "The x-amz-copy-source-range value must be of the form bytes=first-last"
        raise invalid(message)
    return int(found[2]) - int(found[1]) + 1


async def complete(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    access.check(call, bucket, "s3:PutObject", call.object_name)
    sent = await bodies.whole(call.body(), _MOST_XML)
    parsed(sent)
    path, query = path_of(bucket, call.object_name), [("uploadId", call.query["uploadId"])]
    headers = sent_headers(call.headers) | {"content-type": _XML}
    headers.pop("content-md5", None)
    outgoing = Outgoing("POST", path, query, headers, len(sent), of_bytes(sent))
    async with gateway.writing(bucket):
        incoming, body = await gateway.upstream.call(outgoing)
        if incoming.status < 400:
            await acls.ended(gateway, bucket, call.object_name)
    if incoming.status >= 400:
        raise refused(incoming.status, body)
    location = f"http://{call.headers.get('host', '')}{quoted_path(call.path)}"
    found = {"Location": location, "Bucket": bucket.label, "Key": call.object_name}
    return Response(body=replaced(body, dict(found)), content_type=_XML)


async def abort(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    access.check(call, bucket, "s3:AbortMultipartUpload", call.object_name)
    query = [("uploadId", call.query["uploadId"])]
    outgoing = Outgoing("DELETE", path_of(bucket, call.object_name), query)
    incoming, body = await gateway.upstream.call(outgoing)
    if incoming.status >= 400:
        raise refused(incoming.status, body)
    return Response(status=204)


async def parts(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    access.check(call, bucket, "s3:ListMultipartUploadParts", call.object_name)
    asked = dict(call.query)
    most, as_url = number(asked, "max-parts", _MOST), url_or_not(asked)
    after = (
        number(asked, "part-number-marker", _MOST_PARTS) if asked.get("part-number-marker") else 0
    )
    query = [("uploadId", asked["uploadId"]), ("max-parts", str(_MOST_PARTS))]
    outgoing = Outgoing("GET", path_of(bucket, call.object_name), query)
    incoming, body = await gateway.upstream.call(outgoing)
    if incoming.status >= 400:
        raise refused(incoming.status, body)
    last = _parts(body)
    left = [each for each in sorted(last) if each > after]
    shown_, more = left[:most], len(left) > most
    found = [tag("Bucket", bucket.label), tag("Key", shown(call.object_name, as_url))]
    found += [tag("UploadId", asked["uploadId"]), tag("StorageClass", "STANDARD")]
    found += [tag("PartNumberMarker", after), tag("MaxParts", most), tag("IsTruncated", more)]
    found += [tag("NextPartNumberMarker", shown_[-1])] if more and shown_ else []
    for part in shown_:
        modified, etag, size = last[part]
        rest = (
            tag("PartNumber", part),
            tag("LastModified", modified),
            tag("ETag", etag),
            tag("Size", size),
        )
        found.append(f"<Part>{''.join(rest)}</Part>")
    return Response(body=document("ListPartsResult", found), content_type=_XML)


def _parts(body: bytes) -> dict[int, tuple[str, str, str]]:
    """By number the time, ETag and size of each part, once: the server behind also lists what was
    written over. It tells times by seconds; which of two of the same second was later, nobody
    knows."""
    last = dict[int, tuple[str, str, str]]()
    for each in parsed(body).iterfind("{*}Part"):
        texts = [each.findtext(f"{{*}}{name}") or "" for name in ("LastModified", "ETag", "Size")]
        part = int(each.findtext("{*}PartNumber") or 0)
        last[part] = max(last.get(part, ("", "", "")), (texts[0], texts[1], texts[2]))
    return last


@dataclass(frozen=True, slots=True, order=True)
class Upload:
    """One that has begun, and is neither complete nor aborted."""

    name: bytes
    id: str
    initiated: str


async def listed(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """Uploads that have begun, by name."""
    access.check(call, bucket, "s3:ListBucketMultipartUploads")
    query = dict(call.query)
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    most, as_url = number(query, "max-uploads", _MOST), url_or_not(query)
    marker, id_marker = query.get("key-marker", ""), query.get("upload-id-marker", "")
    after = (marker.encode(errors="replace"), id_marker or "\U0010ffff")
    shown_, groups, last = list[Upload](), dict[str, None](), None
    truncated = False
    for each in sorted([each async for each in found(gateway.upstream, bucket)]):
        name = each.name.decode()
        if not name.startswith(prefix) or (marker and (each.name, each.id) <= after):
            continue
        place = name.find(delimiter, len(prefix)) if delimiter else -1
        group = None if place < 0 else name[: place + len(delimiter)]
        if group is not None and (group in groups or group == marker):
            continue
        if len(shown_) + len(groups) >= most:
            truncated = True
            break
        last = (group or name, "" if group else each.id)
        if group is None:
            shown_.append(each)
        else:
            groups[group] = None
    answered = [tag("Bucket", bucket.label), tag("KeyMarker", shown(marker, as_url))]
    answered += [tag("UploadIdMarker", id_marker), tag("Prefix", shown(prefix, as_url))]
    answered += [tag("Delimiter", shown(delimiter, as_url))] if delimiter else []
    answered += [tag("EncodingType", "url")] if as_url else []
    if truncated and last is not None:
        answered.append(tag("NextKeyMarker", shown(last[0], as_url)))
        answered.append(tag("NextUploadIdMarker", last[1]))
    answered += [tag("MaxUploads", most), tag("IsTruncated", truncated)]
    for each in shown_:
        rest = (
            tag("Key", shown(each.name.decode(), as_url)),
            tag("UploadId", each.id),
            tag("Initiated", each.initiated),
            tag("StorageClass", "STANDARD"),
        )
        answered.append(f"<Upload>{''.join(rest)}</Upload>")
    for group in groups:
        answered.append(f"<CommonPrefixes>{tag('Prefix', shown(group, as_url))}</CommonPrefixes>")
    return Response(body=document("ListMultipartUploadsResult", answered), content_type=_XML)


async def found(upstream: Upstream, bucket: Bucket) -> AsyncIterator[Upload]:
    """All that have begun, by their ids. The server behind does not escape names here, even where
    it is asked to."""
    after = ""
    while True:
        query = [("uploads", ""), ("max-uploads", str(_PAGE))]
        query += [("upload-id-marker", after)] if after else []
        incoming, body = await upstream.call(Outgoing("GET", f"/{bucket.place}", query))
        if incoming.status == 404:
            return
        if incoming.status >= 400:
            raise refused(incoming.status, body)
        root, before = parsed(body), after
        for each in root.iterfind("{*}Upload"):
            name = names.decoded((each.findtext("{*}Key") or "").removeprefix("/"))
            after = each.findtext("{*}UploadId") or ""
            yield Upload(name.encode(), after, each.findtext("{*}Initiated") or "")
        if after == before or root.findtext("{*}IsTruncated") != "true":
            return


async def size(upstream: Upstream, bucket: Bucket) -> int:
    """Bytes of the parts of uploads that are not complete."""
    total = 0
    async for each in found(upstream, bucket):
        query = [("uploadId", each.id), ("max-parts", str(_MOST_PARTS))]
        outgoing = Outgoing("GET", path_of(bucket, each.name.decode()), query)
        incoming, body = await upstream.call(outgoing)
        if incoming.status == 200:
            total += sum(int(size or 0) for _, _, size in _parts(body).values())
    return total


async def end(upstream: Upstream, bucket: Bucket, before: str) -> None:
    """Abort what began before then (ISO 8601, UTC)."""
    async for each in found(upstream, bucket):
        if datetime.fromisoformat(each.initiated) < datetime.fromisoformat(before):
            path = path_of(bucket, each.name.decode())
            await upstream.call(Outgoing("DELETE", path, [("uploadId", each.id)]))
