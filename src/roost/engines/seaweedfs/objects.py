"""Buckets and keys on a cluster of the operator's, whose gateways S3 clients reach."""

import asyncio
import hashlib
import hmac
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from roost.core.engine import EngineError, Health
from roost.engines.seaweedfs.cluster import Cluster
from roost.engines.seaweedfs.http import send
from roost.engines.seaweedfs.pages import is_clean, read_page
from roost.engines.seaweedfs.policies import (
    bucket_policy,
    closed_policy,
    key_policy,
    signer_policy,
    with_probe,
)
from roost.engines.seaweedfs.s3 import S3
from roost.resources.object_storage.engine import (
    BucketSpec,
    Door,
    HeldBucket,
    KeySpec,
    MadeBucket,
    ObjectPage,
    Share,
    Signature,
    Traffic,
    Usage,
    Wanted,
)
from roost.threads import COMPUTING

if TYPE_CHECKING:  # gRPC takes 9 MB: it is loaded when somebody makes a key.
    from roost.engines.seaweedfs.folders import Folders
    from roost.engines.seaweedfs.identities import Identities

CLUSTER = "seaweedfs-cluster"
"""Name of the engine."""
_CORS = (
    "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin>"
    "<AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod>"
    "<AllowedMethod>POST</AllowedMethod><AllowedMethod>DELETE</AllowedMethod>"
    "<AllowedMethod>HEAD</AllowedMethod><AllowedHeader>*</AllowedHeader>"
    "</CORSRule></CORSConfiguration>"
)


_KEY, _SIGNER = "key-", "sign-"
"""A key of a bucket's row, by which URLs are signed. Who has one of these could copy another object
into what it writes, with headers that are not signed, but none of other buckets."""
_NO_OBJECT = "roost.no-object"
_FORBIDDEN = 403
_PAGE = 1000
_TRIES = 3
_POLL_SECONDS = 0.02
_UPLOAD_SECONDS = 5.0
_KNOWN_SECONDS = 10.0
_SENT = re.compile(
    r'^SeaweedFS_s3_bucket_traffic_sent_bytes_total\{bucket="([a-z0-9-]+)"\} ([0-9.e+]+)$', re.M
)
_UNDER_WAY = re.compile(r'^SeaweedFS_s3_in_flight_requests\{type="(?:PUT|POST)"\} ([0-9]+)$', re.M)
_STARTED = re.compile(r"^process_start_time_seconds ([0-9.e+]+)$", re.M)


class SeaweedObjects:
    """An ObjectEngine. Clients speak with SeaweedFS itself, which has its own ideas of names and of
    the order of lists (docs/object-storage.md)."""

    name = CLUSTER

    def __init__(self, server: Cluster) -> None:
        self._server = server

    async def endpoint(self) -> str:
        return (await self._server.ensure()).url

    async def address(self) -> str | None:
        host = urlsplit(await self._server.reserve()).hostname or ""
        with suppress(ValueError):
            return str(ip_address(host))
        return None

    async def put_bucket(self, bucket: BucketSpec) -> None:
        for _ in range(_TRIES):
            async with self._folders() as folders:
                await folders.make(bucket)
            await self._put_signer(bucket)
            await self.put_access(bucket)
            await self._put_cors(bucket)
            await self._wait_until_open(bucket)
            # The S3 server writes what it remembers of a bucket, also of the one before.
            async with self._folders() as folders:
                if await folders.has_mark(bucket):
                    return
        raise EngineError("The object storage does not make the bucket")

    async def _wait_until_open(self, bucket: BucketSpec) -> None:
        """The server remembers policies by names, and hears later than the filer that a bucket has
        gone: the next one of its name would be as closed as the last was, for a moment."""
        signer, deadline = await self._signer(bucket.mark), time.monotonic() + _KNOWN_SECONDS
        while (await signer.ask("HEAD", f"{bucket.name}/{_NO_OBJECT}")).status == _FORBIDDEN:
            if time.monotonic() > deadline:
                raise EngineError("The object storage does not open the bucket")
            await asyncio.sleep(_POLL_SECONDS)

    async def _put_cors(self, bucket: BucketSpec) -> None:
        s3 = await self._s3()
        if bucket.cors_enabled:
            await s3.call("PUT", bucket.name, {"cors": ""}, _CORS)
        else:
            gone = ("NoSuchCORSConfiguration",)
            await s3.call("DELETE", bucket.name, {"cors": ""}, accepts=gone)

    async def _put_signer(self, bucket: BucketSpec) -> None:
        signer = await self._signer(bucket.mark)
        key = KeySpec(_SIGNER + bucket.mark, signer.access_key, signer.secret_key, ())
        await self._put_identity(key, signer_policy(bucket.name))
        # Releases before named it by the bucket, which the next one of the name would share.
        await (await self._identities()).delete(_SIGNER + bucket.name)

    async def put_access(self, bucket: BucketSpec) -> None:
        s3, policy = await self._s3(), bucket_policy(bucket)
        if policy is None:
            gone = ("NoSuchBucketPolicy", "NoSuchBucket")
            await s3.call("DELETE", bucket.name, {"policy": ""}, accepts=gone)
        else:
            await s3.call("PUT", bucket.name, {"policy": ""}, policy, accepts=("NoSuchBucket",))

    async def attend(self, door: Door) -> None:
        """The operator starts it."""

    async def made(self) -> AsyncGenerator[MadeBucket, None]:
        if not self._server.exists:
            return
        from roost.engines.seaweedfs import filer

        async with aclosing(filer.made((await self._server.ensure()).filer)) as found:
            async for each in found:
                if _is_key(each.key):
                    yield each

    async def is_empty(self, bucket: str) -> bool:
        if not self._server.exists:
            return True
        s3, query = await self._s3(), {"list-type": "2", "max-keys": "1"}
        answer = await s3.call("GET", bucket, query, accepts=("NoSuchBucket",))
        return not answer.texts("{*}Key")

    async def close_bucket(self, bucket: BucketSpec) -> None:
        if not self._server.exists:
            return
        closed = closed_policy(bucket.name)
        s3, gone = await self._s3(), ("NoSuchBucket",)
        await s3.call("PUT", bucket.name, {"policy": ""}, closed, accepts=gone)
        await self._delete_identity(_SIGNER + bucket.mark)
        await self._let_uploads_end()

    async def _let_uploads_end(self) -> None:
        """The server checks what somebody may do when a request begins. It does not tell which
        bucket one is about, so that there may always be some."""
        deadline = time.monotonic() + _UPLOAD_SECONDS
        while time.monotonic() < deadline:
            if not await self.under_way():
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def under_way(self) -> int:
        """Requests at this moment that put something."""
        place = await self._server.ensure()
        texts = [(await send("GET", url)).body.decode() for url in place.metrics]
        return sum(int(count) for text in texts for count in _UNDER_WAY.findall(text))

    async def delete_bucket(self, bucket: str, mark: str) -> None:
        if self._server.exists:
            async with self._folders() as folders:
                await folders.delete(bucket, mark)

    async def purge_bucket(self, bucket: str, mark: str | None) -> None:
        if self._server.exists:
            if mark is not None:
                await self._delete_identity(_SIGNER + mark)
            async with self._folders() as folders:
                await folders.purge(bucket, mark)

    async def end_uploads(self, bucket: str, before: datetime) -> None:
        if self._server.exists:
            async with self._folders() as folders:
                await folders.end_uploads(bucket, int(before.replace(tzinfo=UTC).timestamp()))

    async def has_object(self, bucket: str, name: str) -> bool:
        """The server cleans names before it looks, and takes folders for objects."""
        if not is_clean(name):
            return False
        if name.endswith("/"):
            page = await self.list_objects(bucket, Wanted(1, prefix=name))
            return [each.name for each in page.objects] == [name]
        answer = await (await self._s3()).call("HEAD", f"{bucket}/{name}", accepts=("404",))
        return answer.status < 400

    async def ended_acls(self, bucket: str) -> frozenset[str]:
        """None: policies name objects, and nobody tells what becomes of these."""
        return frozenset()

    async def list_objects(self, bucket: str, wanted: Wanted) -> ObjectPage:
        query = {
            "max-keys": str(wanted.limit),
            "marker": wanted.marker,
            "prefix": wanted.prefix,
            "delimiter": wanted.delimiter,
            "encoding-type": "url",
        }
        answer = await (await self._s3()).call("GET", bucket, query, accepts=("NoSuchBucket",))
        if answer.status >= 400:
            return ObjectPage((), None)
        page = await COMPUTING.run(read_page, answer.body)
        if all(each.name.startswith(wanted.prefix) for each in page.objects):
            return page
        return ObjectPage((), None)

    async def usage(self, bucket: str) -> Usage:
        async with self._folders() as folders:
            objects, size, marker = 0, await folders.uploading(bucket), ""
        while True:
            page = await self.list_objects(bucket, Wanted(_PAGE, marker))
            objects += len(page.objects)
            size += sum(each.size or 0 for each in page.objects)
            if page.next_marker is None:
                return Usage(objects, size)
            marker = page.next_marker

    async def set_shares(self, shares: Sequence[Share]) -> None:
        """The operator sets quotas of the cluster."""

    async def traffic(self) -> Traffic:
        if not self._server.exists:
            return Traffic("", {})
        place = await self._server.ensure()
        texts = [(await send("GET", url)).body.decode() for url in place.metrics]
        sent = Counter[str]()
        for bucket, count in (found for text in texts for found in _SENT.findall(text)):
            sent[bucket] += int(float(count))
        return Traffic(" ".join(each for text in texts for each in _STARTED.findall(text)), sent)

    async def sign(self, signature: Signature) -> str:
        return (await self._signer(signature.mark)).sign(signature)

    async def buckets(self) -> Mapping[str, HeldBucket]:
        if not self._server.exists:
            return {}
        async with self._folders() as folders:
            return await folders.held()

    async def takes_keys(self) -> bool:
        return True

    async def put_key(self, key: KeySpec) -> None:
        await self._put_identity(key, key_policy(key))

    async def delete_key(self, name: str) -> None:
        if self._server.exists:
            await self._delete_identity(name)

    async def keys(self) -> list[str]:
        if not self._server.exists:
            return []
        return sorted(filter(_is_key, await (await self._identities()).names()))

    async def health(self) -> Health:
        if not self._server.exists:
            return Health(True, "SeaweedFS, not needed yet")
        try:
            await self.buckets()
        except EngineError as error:
            return Health(False, str(error))
        return Health(True, "SeaweedFS")

    async def keep_serving(self) -> None:
        if self._server.exists:
            await self._server.ensure()

    async def shut_down(self) -> None:
        await self._server.stop()

    async def close(self) -> None:
        """No connection is kept."""

    async def _s3(self) -> S3:
        place = await self._server.ensure()
        return S3(place.url, place.access_key, place.secret)

    @asynccontextmanager
    async def _folders(self) -> "AsyncIterator[Folders]":
        from roost.engines.seaweedfs.filer import reaching
        from roost.engines.seaweedfs.folders import Folders

        async with reaching((await self._server.ensure()).filer) as filer:
            yield Folders(filer)

    async def _identities(self) -> "Identities":
        from roost.engines.seaweedfs.identities import Identities

        place = await self._server.ensure()
        return Identities(place.filer, place.signing_key)

    async def _put_identity(self, key: KeySpec, policy: str) -> None:
        """It holds when this returns: the server hears of it a moment later than the filer."""
        probed, probe = with_probe(policy)
        await (await self._identities()).put(key, probed)
        await self._wait_for(key.access_key, key.secret_key, probe, ("NoSuchBucket",))

    async def _delete_identity(self, name: str) -> None:
        opened = await (await self._identities()).delete(name)
        if opened is not None:
            await self._wait_for(*opened, "", ("InvalidAccessKeyId",))

    async def _wait_for(self, key: str, secret: str, path: str, codes: tuple[str, ...]) -> None:
        s3 = S3((await self._server.ensure()).url, key, secret)
        deadline = time.monotonic() + _KNOWN_SECONDS
        while (await s3.ask("GET", path)).code not in codes:
            if time.monotonic() > deadline:
                raise EngineError("The object storage does not learn of the key")
            await asyncio.sleep(_POLL_SECONDS)

    async def _signer(self, mark: str) -> S3:
        place = await self._server.ensure()
        digest = hmac.digest(place.secret.encode(), f"sign {mark}".encode(), hashlib.sha256).hex()
        return S3(place.url, f"SIGN{digest[:16].upper()}", digest[16:])


def _is_key(name: str) -> bool:
    """Whether an identity of this name is a key that was put."""
    return name.startswith(_KEY)
