"""Buckets and keys that exist only as records."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from roost.core.engine import Health
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.state import Documents
from roost.resources.object_storage.engine import (
    BucketGrant,
    BucketSpec,
    Door,
    HeldBucket,
    KeySpec,
    MadeBucket,
    NotEmptyError,
    ObjectPage,
    Share,
    Signature,
    StoredObject,
    TakenError,
    Traffic,
    Usage,
    Wanted,
)

_BUCKET, _KEY, _OBJECT, _SENT = "object bucket", "object key", "object", "object traffic"
_UPLOAD = "object upload"


class SimulatedObjects:
    """An ObjectEngine without a server."""

    name = "simulated"

    def __init__(self, state_dir: Path, latency: float) -> None:
        """`latency`: seconds that each operation takes."""
        self._plane = Plane(state_dir, latency)
        self.shares: Sequence[Share] = ()
        """What was set last."""
        self._heard: asyncio.Queue[MadeBucket] | None = None

    async def endpoint(self) -> str:
        return "http://objects.invalid"

    async def address(self) -> str | None:
        return None

    async def put_bucket(self, bucket: BucketSpec) -> None:
        def put(documents: Documents) -> None:
            held = _held(documents, bucket.name)
            if held is not None and held.mark not in (None, bucket.mark):
                raise TakenError("The object storage has another bucket of this name")
            left = held is not None and held.mark is None and bucket.is_new
            if left and _objects(documents, bucket.name):
                raise TakenError("The object storage has objects of another bucket")
            _put(documents, bucket)

        await self._plane.begin("bucket_put", put)
        await self._plane.plan.wait("bucket_put", bucket.name)

    async def put_access(self, bucket: BucketSpec) -> None:
        def put(documents: Documents) -> None:
            if documents.read(_BUCKET, bucket.name) is not None:
                _put(documents, bucket)

        await self._plane.begin("bucket_put", put)

    async def attend(self, door: Door) -> None:
        """Nobody comes."""

    async def made(self) -> AsyncGenerator[MadeBucket, None]:
        """Only those of this very object."""
        heard = self._heard = asyncio.Queue[MadeBucket]()
        try:
            while True:
                yield await heard.get()
        finally:
            self._heard = None

    async def is_empty(self, bucket: str) -> bool:
        return await self._plane.survey(lambda documents: not _objects(documents, bucket))

    async def close_bucket(self, bucket: BucketSpec) -> None:
        def close(documents: Documents) -> None:
            if documents.read(_BUCKET, bucket.name) is not None:
                _put(documents, bucket, closed=True)

        await self._plane.begin("bucket_close", close)

    async def delete_bucket(self, bucket: str, mark: str) -> None:
        def delete(documents: Documents) -> None:
            held = _held(documents, bucket)
            if held is None or held.mark not in (None, mark):
                return
            if _objects(documents, bucket):
                raise NotEmptyError("The bucket is not empty")
            _drop(documents, bucket)

        await self._plane.begin("bucket_delete", delete)

    async def has_object(self, bucket: str, name: str) -> bool:
        objects = await self._plane.state.read_all(_OBJECT)
        return f"{bucket}/{name}" in objects

    async def ended_acls(self, bucket: str) -> frozenset[str]:
        return frozenset((await self.spec(bucket) or {}).get("ended", ()))

    async def list_objects(self, bucket: str, wanted: Wanted) -> ObjectPage:
        objects = await self._plane.survey(lambda documents: _objects(documents, bucket))
        shown = tuple(islice(_shown(objects, bucket, wanted), wanted.limit + 1))
        page = shown[: wanted.limit]
        return ObjectPage(page, page[-1].name if len(shown) > len(page) else None)

    async def usage(self, bucket: str) -> Usage:
        def count(documents: Documents) -> Usage:
            objects = _objects(documents, bucket).values()
            uploads = documents.read_all(_UPLOAD, f"{bucket}/").values()
            size = sum(json.loads(each)["size"] for each in (*objects, *uploads))
            return Usage(len(objects), size)

        return await self._plane.survey(count)

    async def end_uploads(self, bucket: str, before: datetime) -> None:
        def end(documents: Documents) -> None:
            for path, body in documents.read_all(_UPLOAD, f"{bucket}/").items():
                if datetime.fromisoformat(json.loads(body)["begun"]) < before:
                    documents.write(_UPLOAD, path, None)

        await self._plane.survey(end)

    async def set_shares(self, shares: Sequence[Share]) -> None:
        self.shares = tuple(shares)

    async def traffic(self) -> Traffic:
        sent = await self._plane.state.read_all(_SENT)
        return Traffic("once", {bucket: int(count) for bucket, count in sent.items()})

    async def sign(self, signature: Signature) -> str:
        path = f"{signature.bucket}/{quote(signature.name)}"
        asked = {
            "method": signature.method,
            "seconds": signature.seconds,
            "mark": signature.mark,
            **signature.query,
        }
        return f"{await self.endpoint()}/{path}?{urlencode(asked)}"

    async def purge_bucket(self, bucket: str, mark: str | None) -> None:
        def purge(documents: Documents) -> None:
            held = _held(documents, bucket)
            if held is not None and held.mark == mark:
                for path in _objects(documents, bucket):
                    documents.write(_OBJECT, path, None)
                _drop(documents, bucket)

        await self._plane.begin("bucket_purge", purge)

    async def buckets(self) -> Mapping[str, HeldBucket]:
        def find(documents: Documents) -> dict[str, HeldBucket]:
            objects = documents.read_all(_OBJECT)
            names = {*documents.read_all(_BUCKET), *(path.partition("/")[0] for path in objects)}
            found = {name: _held(documents, name) for name in sorted(names)}
            return {name: held for name, held in found.items() if held is not None}

        return await self._plane.survey(find)

    async def takes_keys(self) -> bool:
        return True

    async def put_key(self, key: KeySpec) -> None:
        shown = ("grants", "lists", "makes", "unlimited")
        body = json.dumps({name: value for name, value in asdict(key).items() if name in shown})
        await self._plane.begin("key_put", lambda documents: documents.write(_KEY, key.name, body))

    async def delete_key(self, name: str) -> None:
        await self._plane.begin("key_delete", lambda documents: documents.write(_KEY, name, None))

    async def keys(self) -> list[str]:
        return sorted(await self._plane.state.read_all(_KEY))

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def keep_serving(self) -> None:
        """Nothing runs."""

    async def shut_down(self) -> None:
        """Nothing runs."""

    async def close(self) -> None:
        self._plane.state.close()

    async def make(self, bucket: str, key: str, *, told: bool = True) -> None:
        """Make a bucket with a key, as a client would; `told`: to those who listen."""
        made = {**asdict(BucketSpec(bucket, "", "private", False)), "mark": None, "maker": key}
        body = json.dumps(made)
        await self._plane.survey(lambda documents: documents.write(_BUCKET, bucket, body))
        if told and self._heard is not None:
            self._heard.put_nowait(MadeBucket(bucket, key))

    async def write(self, bucket: str, name: str, size: int = 1) -> None:
        """Put an object, as the end of a client's upload that was let in before."""
        body = json.dumps({"size": size})
        await self._plane.survey(lambda documents: _write(documents, bucket, name, body))

    async def upload(self, bucket: str, name: str, size: int, begun: datetime) -> None:
        """Have put parts of an object (UTC) that is not complete."""
        body = json.dumps({"size": size, "begun": begun.isoformat()})
        path = f"{bucket}/{name}"
        await self._plane.survey(lambda documents: documents.write(_UPLOAD, path, body))

    async def lets_in(self, key: str, bucket: str, *, writes: bool) -> bool:
        """Whether a client with the key may write or read objects there now."""
        return await self._plane.survey(
            lambda documents: _lets_in(documents, key, bucket, writes=writes)
        )

    async def put(self, key: str, bucket: str, name: str) -> list[str] | None:
        """Put an object as a client with the key, and list what is there; None if it may not."""

        def put(documents: Documents) -> list[str] | None:
            if not _lets_in(documents, key, bucket, writes=True):
                return None
            _write(documents, bucket, name, json.dumps({"size": 1}))
            return [path.removeprefix(f"{bucket}/") for path in _objects(documents, bucket)]

        return await self._plane.survey(put)

    async def signed(self, url: str) -> bool:
        """Whether a signed URL still opens what it was made for."""
        parts = urlsplit(url)
        bucket, mark = parts.path.split("/")[1], parse_qs(parts.query)["mark"][0]
        held = (await self.buckets()).get(bucket)
        found = await self.spec(bucket)
        return held is not None and held.mark == mark and not (found or {}).get("closed")

    async def remove(self, bucket: str, name: str) -> None:
        """Delete an object, as a client would."""
        await self._plane.survey(lambda documents: _write(documents, bucket, name, None))

    async def acl(self, bucket: str, name: str) -> str | None:
        """What is in force for an object, or for whatever has the name next."""
        found = await self.spec(bucket)
        return None if found is None else found["objects"].get(name, found)["acl"]

    async def send(self, bucket: str, count: int) -> None:
        """Let clients have got so many bytes since it started."""
        await self._plane.survey(lambda documents: documents.write(_SENT, bucket, str(count)))

    async def spec(self, bucket: str) -> dict[str, Any] | None:
        """What was put last of a bucket, as JSON has it."""
        found = (await self._plane.state.read_all(_BUCKET)).get(bucket)
        return None if found is None else dict(json.loads(found))

    async def grants(self, name: str) -> dict[str, bool] | None:
        """The buckets that a key opens, and whether it may write to them."""
        found = await self.key(name)
        if found is None:
            return None
        return {grant.bucket: grant.writes for grant in found.grants}

    async def key(self, name: str) -> KeySpec | None:
        """A key as it was put last, without what opens it."""
        found = (await self._plane.state.read_all(_KEY)).get(name)
        if found is None:
            return None
        body = json.loads(found)
        grants = tuple(BucketGrant(**grant) for grant in body["grants"])
        unlimited = body.get("unlimited", False)  # States of before have nothing of it.
        return KeySpec(name, "", "", grants, tuple(body["lists"]), body["makes"], unlimited)


def _put(documents: Documents, bucket: BucketSpec, *, closed: bool = False) -> None:
    """ACLs whose objects are no more stay ended."""
    before = json.loads(documents.read(_BUCKET, bucket.name) or "{}")
    given = {each.given for each in bucket.objects.values()}
    ended = sorted(given.intersection(before.get("ended", ())))
    objects = {name: asdict(each) for name, each in bucket.objects.items()}
    kept = {name: each for name, each in objects.items() if each["given"] not in ended}
    put = {**asdict(bucket), "objects": kept, "ended": ended, "closed": closed}
    documents.write(_BUCKET, bucket.name, json.dumps(put))


def _write(documents: Documents, bucket: str, name: str, body: str | None) -> None:
    """An object, or that there is none; the ACL of what was there ends."""
    documents.write(_OBJECT, f"{bucket}/{name}", body)
    found = json.loads(documents.read(_BUCKET, bucket) or "{}")
    if (acl := found.get("objects", {}).pop(name, None)) is not None:
        found["ended"].append(acl["given"])
        documents.write(_BUCKET, bucket, json.dumps(found))


def _held(documents: Documents, bucket: str) -> HeldBucket | None:
    """An object that comes late makes its bucket anew, as on a real server."""
    body = documents.read(_BUCKET, bucket)
    if body is None:
        return HeldBucket(None, None) if _objects(documents, bucket) else None
    found = json.loads(body)
    return HeldBucket(found["mark"], found.get("maker"))


def _lets_in(documents: Documents, key: str, bucket: str, *, writes: bool) -> bool:
    found, opened = documents.read(_BUCKET, bucket), documents.read(_KEY, key)
    if found is None or opened is None or json.loads(found).get("closed"):
        return False
    grants = json.loads(opened)["grants"]
    return any(each["bucket"] == bucket and (each["writes"] or not writes) for each in grants)


def _drop(documents: Documents, bucket: str) -> None:
    documents.write(_BUCKET, bucket, None)
    for path in documents.read_all(_UPLOAD, f"{bucket}/"):
        documents.write(_UPLOAD, path, None)


def _objects(documents: Documents, bucket: str) -> dict[str, str]:
    return documents.read_all(_OBJECT, f"{bucket}/")


def _shown(objects: dict[str, str], bucket: str, wanted: Wanted) -> Iterator[StoredObject]:
    """Objects and common prefixes in the order of their names."""
    last = wanted.marker
    for path in sorted(objects):
        name = path.removeprefix(f"{bucket}/")
        if not name.startswith(wanted.prefix) or name <= wanted.marker:
            continue
        rest, found, _ = name[len(wanted.prefix) :].partition(wanted.delimiter or "\0")
        if not found:
            size = json.loads(objects[path])["size"]
            yield StoredObject(name, "0" * 32, datetime(2030, 1, 31), size)
        elif last != (last := f"{wanted.prefix}{rest}{wanted.delimiter}"):
            yield StoredObject(last)
