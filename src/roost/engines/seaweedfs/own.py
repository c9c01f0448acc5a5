"""Buckets and keys on a server of our own, behind the gateway that S3 clients reach."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

from pydantic import JsonValue

from roost.core.engine import EngineError, Health
from roost.engines.seaweedfs.admin import Admin, Json
from roost.engines.seaweedfs.s3 import S3
from roost.engines.seaweedfs.server import Server
from roost.engines.seaweedfs.standby import Standby
from roost.resources.object_storage.engine import (
    BucketSpec,
    Door,
    HeldBucket,
    KeySpec,
    MadeBucket,
    ObjectPage,
    Share,
    Signature,
    StoredObject,
    Traffic,
    Usage,
    Wanted,
)

OWN = "seaweedfs"
"""Name of the engine."""


class OwnObjects:
    """An ObjectEngine. The server starts when something is first asked of it."""

    name = OWN

    def __init__(self, server: Server) -> None:
        self._server = server
        self._standby = Standby(server)

    async def endpoint(self) -> str:
        return (await self._server.ensure()).url

    async def address(self) -> str | None:
        host = urlsplit(await self._server.reserve()).hostname or ""
        with suppress(ValueError):
            return str(ip_address(host))
        return None

    async def put_bucket(self, bucket: BucketSpec) -> None:
        await self._put(bucket, only_if_known=False)

    async def put_access(self, bucket: BucketSpec) -> None:
        await self._put(bucket, only_if_known=True)

    async def _put(self, bucket: BucketSpec, *, only_if_known: bool) -> None:
        objects: dict[str, JsonValue] = {
            name: {"acl": each.acl, "given": each.given} for name, each in bucket.objects.items()
        }
        await self._call(
            "put-bucket",
            label=bucket.name,
            mark=bucket.mark,
            acl=bucket.acl,
            cors=bucket.cors_enabled,
            objects=objects,
            only_if_known=only_if_known,
        )

    async def attend(self, door: Door) -> None:
        await self._standby.attend(door)

    async def made(self) -> AsyncGenerator[MadeBucket, None]:
        if not self._server.exists:
            await self._standby.serves.wait()
        admin = Admin((await self._server.ensure()).socket)
        async with aclosing(admin.lines("made")) as found:
            async for each in found:
                yield MadeBucket(str(each["label"]), str(each["key"]))

    async def is_empty(self, bucket: str) -> bool:
        return not (await self.list_objects(bucket, Wanted(1))).objects

    async def close_bucket(self, bucket: BucketSpec) -> None:
        if self._server.exists:
            await self._call("close-bucket", label=bucket.name, mark=bucket.mark)

    async def delete_bucket(self, bucket: str, mark: str) -> None:
        if self._server.exists:
            await self._call("delete-bucket", label=bucket, mark=mark)

    async def purge_bucket(self, bucket: str, mark: str | None) -> None:
        if self._server.exists:
            await self._call("purge-bucket", label=bucket, mark=mark)

    async def end_uploads(self, bucket: str, before: datetime) -> None:
        if self._server.exists:
            text = before.replace(tzinfo=UTC).isoformat()
            await self._call("end-uploads", label=bucket, before=text)

    async def has_object(self, bucket: str, name: str) -> bool:
        if not self._server.exists:
            return False
        return bool((await self._call("has", label=bucket, name=name))["has"])

    async def ended_acls(self, bucket: str) -> frozenset[str]:
        return frozenset(await self._names("ended-acls", label=bucket))

    async def list_objects(self, bucket: str, wanted: Wanted) -> ObjectPage:
        if not self._server.exists:
            return ObjectPage((), None)
        answer = await self._call(
            "list",
            label=bucket,
            limit=wanted.limit,
            marker=wanted.marker,
            prefix=wanted.prefix,
            delimiter=wanted.delimiter,
        )
        found, marker = answer["found"], answer["next"]
        assert isinstance(found, list)
        return ObjectPage(
            tuple(_object(each) for each in found if isinstance(each, dict)),
            None if marker is None else str(marker),
        )

    async def usage(self, bucket: str) -> Usage:
        if not self._server.exists:
            return Usage(0, 0)
        answer = await self._call("usage", label=bucket)
        return Usage(_number(answer["objects"]), _number(answer["size"]))

    async def set_shares(self, shares: Sequence[Share]) -> None:
        if self._server.exists:
            rows: list[JsonValue] = [
                {"buckets": list(each.buckets), "left": each.left} for each in shares
            ]
            await self._call("set-shares", shares=rows)

    async def traffic(self) -> Traffic:
        if not self._server.exists:
            return Traffic("", {})
        answer = await self._call("traffic")
        sent = answer["sent"]
        assert isinstance(sent, dict)
        return Traffic(
            str(answer["since"]), {bucket: _number(count) for bucket, count in sent.items()}
        )

    async def sign(self, signature: Signature) -> str:
        answer = await self._call("signer", label=signature.bucket, mark=signature.mark)
        if answer["access_key"] is None:
            raise EngineError("The object storage does not have the bucket yet")
        url = (await self._server.ensure()).url
        return S3(url, str(answer["access_key"]), str(answer["secret_key"])).sign(signature)

    async def buckets(self) -> Mapping[str, HeldBucket]:
        if not self._server.exists:
            return {}
        answer = await self._call("buckets")
        marks, lost = answer["marks"], answer["lost"]
        assert isinstance(marks, dict)
        assert isinstance(lost, list)
        return {
            label: HeldBucket(str(mark), None, lost=label in lost)
            for label, mark in sorted(marks.items())
        }

    async def takes_keys(self) -> bool:
        return self._server.exists

    async def put_key(self, key: KeySpec) -> None:
        await self._call(
            "put-key",
            name=key.name,
            access_key=key.access_key,
            secret_key=key.secret_key,
            grants={grant.bucket: grant.writes for grant in key.grants},
            lists=list(key.lists),
            makes=key.makes,
            unlimited=key.unlimited,
        )

    async def delete_key(self, name: str) -> None:
        if self._server.exists:
            await self._call("delete-key", name=name)

    async def keys(self) -> list[str]:
        return await self._names("keys")

    async def health(self) -> Health:
        if not self._server.exists:
            return Health(True, "SeaweedFS, not needed yet")
        try:
            is_full = (await self._call("health"))["is_full"]
        except EngineError as error:
            return Health(False, str(error))
        if is_full:
            return Health(False, "Its disk is full: nothing more is stored")
        return Health(True, "SeaweedFS")

    async def keep_serving(self) -> None:
        if self._server.exists:
            await self._server.ensure()

    async def shut_down(self) -> None:
        await self._server.stop()

    async def close(self) -> None:
        """No connection is kept."""

    async def _names(self, action: str, **sent: JsonValue) -> list[str]:
        if not self._server.exists:
            return []
        names = (await self._call(action, **sent))["names"]
        assert isinstance(names, list)
        return [str(each) for each in names]

    async def _call(self, action: str, **sent: JsonValue) -> Json:
        place = await self._server.ensure()
        return await Admin(place.socket).call(action, **sent)


def _object(row: Json) -> StoredObject:
    if row["is_prefix"]:
        return StoredObject(str(row["name"]))
    modified = datetime.fromisoformat(str(row["modified"])).astimezone(UTC)
    return StoredObject(
        str(row["name"]),
        str(row["etag"]).strip('"'),
        modified.replace(tzinfo=None, microsecond=0),
        _number(row["size"]),
    )


def _number(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value
