"""What objects have besides their content: tags and attributes."""

from roost.engines.gateway import access, bodies
from roost.engines.gateway.call import Call
from roost.engines.gateway.faults import S3Error, invalid, no_object
from roost.engines.gateway.headers import sent_headers
from roost.engines.gateway.http import Response
from roost.engines.gateway.objects import check_read, path_of
from roost.engines.gateway.register import Bucket
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Incoming, Outgoing, of_bytes, refused
from roost.engines.gateway.xml import document, parsed, tag

_TAGGING = {
    "GET": "s3:GetObjectTagging",
    "PUT": "s3:PutObjectTagging",
    "DELETE": "s3:DeleteObjectTagging",
}


async def tags(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """Get, put or delete the tags of an object."""
    reads = call.method == "GET"
    access.check(call, bucket, _TAGGING[call.method], call.object_name)
    path, query = path_of(bucket, call.object_name), [("tagging", "")]
    sent = b"" if reads else await bodies.whole(call.body(), 64 << 10)
    if sent:
        parsed(sent)
    outgoing = Outgoing(call.method, path, query, {}, len(sent), of_bytes(sent) if sent else None)
    async with gateway.writing(*(() if reads else (bucket,))):
        incoming, answer = await gateway.upstream.call(outgoing)
    if incoming.status == 404:
        access.check_told(call, bucket)
    if incoming.status >= 400:
        raise refused(incoming.status, answer)
    kind = "application/xml" if answer else None
    return Response(status=incoming.status, body=answer or None, content_type=kind)


async def answer(gateway: Gateway, call: Call, bucket: Bucket) -> Response:
    """Those of a head, as XML."""
    check_read(call, bucket)
    access.check(call, bucket, "s3:GetObjectAttributes", call.object_name)
    wanted = {
        each.strip() for each in call.headers.get("x-amz-object-attributes", "").split(",")
    } - {""}
    if not wanted or wanted - {"ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"}:
        raise invalid("Invalid attribute name specified")
    headers = sent_headers(call.headers) | {"x-amz-checksum-mode": "ENABLED"}
    outgoing = Outgoing("HEAD", path_of(bucket, call.object_name), (), headers)
    incoming = await gateway.upstream.send(outgoing)
    gateway.upstream.release(incoming)
    if incoming.status == 404:
        access.check_told(call, bucket)
        raise no_object()
    if incoming.status >= 400:
        raise S3Error(incoming.status, "PreconditionFailed", "The head is refused")
    etag = (incoming.header("etag") or "").strip('"')
    parts = []
    if "ETag" in wanted:
        parts.append(tag("ETag", etag))
    if "Checksum" in wanted:
        parts.append(_checksums(incoming))
    count = etag.rpartition("-")[2] if "-" in etag else ""
    if "ObjectParts" in wanted and count:
        parts.append(f"<ObjectParts>{tag('PartsCount', count)}</ObjectParts>")
    if "StorageClass" in wanted:
        parts.append(tag("StorageClass", incoming.header("x-amz-storage-class") or "STANDARD"))
    if "ObjectSize" in wanted:
        parts.append(tag("ObjectSize", incoming.header("content-length") or "0"))
    kept = {"Last-Modified": incoming.header("last-modified") or ""}
    body = document("GetObjectAttributesResponse", parts)
    return Response(body=body, headers=kept, content_type="application/xml")


def _checksums(incoming: Incoming) -> str:
    found = ""
    for kind in ("CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"):
        value = incoming.header(f"x-amz-checksum-{kind.lower()}")
        if value is not None:
            found += tag(f"Checksum{kind}", value)
    return f"<Checksum>{found}</Checksum>" if found else ""
