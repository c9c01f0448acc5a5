"""Buckets and keys that exist only as records."""

import json
from dataclasses import asdict
from pathlib import Path

from roost.core.engine import Health
from roost.engines.simulated.plane import Plane
from roost.engines.simulated.state import Documents
from roost.resources.object_storage.engine import BucketSpec, KeySpec, NotEmptyError

_BUCKET, _KEY, _OBJECT = "object bucket", "object key", "object"


class SimulatedObjects:
    """An ObjectEngine without a server."""

    name = "simulated"

    def __init__(self, state_dir: Path, latency: float) -> None:
        """`latency`: seconds that each operation takes."""
        self._plane = Plane(state_dir, latency)

    async def endpoint(self) -> str:
        return "http://objects.invalid"

    async def put_bucket(self, bucket: BucketSpec) -> None:
        body = json.dumps(asdict(bucket))
        await self._plane.begin(
            "bucket_put", lambda documents: documents.write(_BUCKET, bucket.name, body)
        )
        await self._plane.plan.wait("bucket_put", bucket.name)

    async def is_empty(self, bucket: str) -> bool:
        return await self._plane.transact(lambda documents: not _objects(documents, bucket))

    async def delete_bucket(self, bucket: str) -> None:
        def delete(documents: Documents) -> None:
            if _objects(documents, bucket):
                raise NotEmptyError("The bucket is not empty")
            documents.write(_BUCKET, bucket, None)

        await self._plane.begin("bucket_delete", delete)

    async def buckets(self) -> list[str]:
        return sorted(await self._plane.state.read_all(_BUCKET))

    async def put_key(self, key: KeySpec) -> None:
        body = json.dumps({"grants": [asdict(grant) for grant in key.grants]})
        await self._plane.begin("key_put", lambda documents: documents.write(_KEY, key.name, body))

    async def delete_key(self, name: str) -> None:
        await self._plane.begin("key_delete", lambda documents: documents.write(_KEY, name, None))

    async def keys(self) -> list[str]:
        return sorted(await self._plane.state.read_all(_KEY))

    async def health(self) -> Health:
        return Health(ok=True, detail="simulated")

    async def shut_down(self) -> None:
        """Nothing runs."""

    async def close(self) -> None:
        self._plane.state.close()

    async def write(self, bucket: str, name: str) -> None:
        """Put an object, as a client would."""
        path = f"{bucket}/{name}"
        await self._plane.transact(lambda documents: documents.write(_OBJECT, path, "{}"))

    async def remove(self, bucket: str, name: str) -> None:
        """Delete an object, as a client would."""
        path = f"{bucket}/{name}"
        await self._plane.transact(lambda documents: documents.write(_OBJECT, path, None))


def _objects(documents: Documents, bucket: str) -> dict[str, str]:
    return documents.read_all(_OBJECT, f"{bucket}/")
