"""What goes on behind requests: what nobody knows any more is removed, and objects from before
names were kept flat get their new ones."""

import asyncio
from urllib.parse import quote, unquote_plus

import structlog

from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.objects import path_of
from roost.engines.gateway.register import Bucket
from roost.engines.gateway.state import Gateway
from roost.engines.gateway.upstream import Outgoing, refused
from roost.engines.gateway.xml import parsed

_AGAIN_SECONDS = 30.0

_log = structlog.get_logger(__name__)


async def work(gateway: Gateway) -> None:
    """For ever."""
    while True:
        gateway.trashed.clear()
        try:
            await _look_at_once(gateway)
        except S3Error as error:
            _log.warning("object_storage_not_tidied", code=error.code)
        except (OSError, ValueError) as error:
            _log.warning("object_storage_not_tidied", reason=str(error))
        try:
            async with asyncio.timeout(_AGAIN_SECONDS):
                await gateway.trashed.wait()
        except TimeoutError:
            pass


async def find_legacy(gateway: Gateway) -> None:
    """What the server behind has had before there was a register."""
    await gateway.register.set_legacy(await places(gateway))


async def places(gateway: Gateway) -> list[str]:
    """What the server behind calls its buckets."""
    incoming, body = await gateway.upstream.call(Outgoing("GET", "/"))
    if incoming.status != 200:
        raise refused(incoming.status, body)
    return [each.text or "" for each in parsed(body).iterfind(".//{*}Bucket/{*}Name")]


async def _look_at_once(gateway: Gateway) -> None:
    for bucket in list(gateway.register.buckets.values()):
        if bucket.moving_from is not None:
            await _move(gateway, bucket, bucket.moving_from)
    for place in list(gateway.register.trash):
        outgoing = Outgoing("DELETE", f"/{place}")
        incoming, body = await gateway.upstream.call(outgoing)
        if incoming.status >= 400 and incoming.status != 404:
            raise refused(incoming.status, body)
        await gateway.register.forget_trash(place)


async def _move(gateway: Gateway, bucket: Bucket, source: str) -> None:
    """By copies, so that all is there until all is here."""
    marker = ""
    while True:
        query = [("max-keys", "1000"), ("encoding-type", "url"), ("marker", marker)]
        incoming, body = await gateway.upstream.call(Outgoing("GET", f"/{source}", query))
        if incoming.status >= 400:
            raise refused(incoming.status, body)
        root = parsed(body)
        keys = [unquote_plus(each.text or "") for each in root.iterfind("{*}Contents/{*}Key")]
        for key in keys:
            path = quote(f"/{source}/{key}", safe="/-_.~")
            # A folder that was put as an object has never held anything.
            headers = None if key.endswith("/") else {"x-amz-copy-source": path}
            outgoing = Outgoing("PUT", path_of(bucket, key), (), headers)
            copied, answer = await gateway.upstream.call(outgoing)
            if copied.status >= 400:
                raise refused(copied.status, answer)
        if root.findtext("{*}IsTruncated") != "true" or not keys:
            break
        marker = unquote_plus(root.findtext("{*}NextMarker") or "") or keys[-1]
    await gateway.register.moved(bucket)
    _log.info("bucket_has_flat_names", bucket=bucket.label)
