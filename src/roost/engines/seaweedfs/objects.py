"""Buckets and keys on a server of our own."""

from roost.core.engine import EngineError, Health
from roost.engines.seaweedfs.identities import Identities
from roost.engines.seaweedfs.policies import bucket_policy, key_policy
from roost.engines.seaweedfs.s3 import S3
from roost.engines.seaweedfs.server import ROOT, Server
from roost.resources.object_storage.engine import BucketSpec, KeySpec, NotEmptyError

_CORS = (
    "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin>"
    "<AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod>"
    "<AllowedMethod>POST</AllowedMethod><AllowedMethod>DELETE</AllowedMethod>"
    "<AllowedMethod>HEAD</AllowedMethod><AllowedHeader>*</AllowedHeader>"
    "</CORSRule></CORSConfiguration>"
)


class SeaweedObjects:
    """An ObjectEngine. The server starts when something is first asked of it."""

    name = "seaweedfs"

    def __init__(self, server: Server) -> None:
        self._server = server

    async def endpoint(self) -> str:
        return (await self._server.ensure()).url

    async def put_bucket(self, bucket: BucketSpec) -> None:
        s3, policy = await self._s3(), bucket_policy(bucket)
        exists = ("BucketAlreadyExists", "BucketAlreadyOwnedByYou")
        await s3.call("PUT", bucket.name, accepts=exists)
        if policy is None:
            gone = ("NoSuchBucketPolicy",)
            await s3.call("DELETE", bucket.name, {"policy": ""}, accepts=gone)
        else:
            await s3.call("PUT", bucket.name, {"policy": ""}, policy)
        if bucket.cors_enabled:
            await s3.call("PUT", bucket.name, {"cors": ""}, _CORS)
        else:
            gone = ("NoSuchCORSConfiguration",)
            await s3.call("DELETE", bucket.name, {"cors": ""}, accepts=gone)

    async def is_empty(self, bucket: str) -> bool:
        if not self._server.exists:
            return True
        s3, query = await self._s3(), {"list-type": "2", "max-keys": "1"}
        answer = await s3.call("GET", bucket, query, accepts=("NoSuchBucket",))
        return not answer.texts("{*}Key")

    async def delete_bucket(self, bucket: str) -> None:
        if not self._server.exists:
            return
        accepted = ("NoSuchBucket", "BucketNotEmpty")
        answer = await (await self._s3()).call("DELETE", bucket, accepts=accepted)
        if answer.status >= 400 and answer.code == "BucketNotEmpty":
            raise NotEmptyError("The bucket is not empty")

    async def buckets(self) -> list[str]:
        if not self._server.exists:
            return []
        answer = await (await self._s3()).call("GET", "")
        return sorted(answer.texts("{*}Bucket/{*}Name"))

    async def put_key(self, key: KeySpec) -> None:
        await (await self._identities()).put(key, key_policy(key.grants))

    async def delete_key(self, name: str) -> None:
        if self._server.exists:
            await (await self._identities()).delete(name)

    async def keys(self) -> list[str]:
        if not self._server.exists:
            return []
        return [name for name in await (await self._identities()).names() if name != ROOT]

    async def health(self) -> Health:
        if not self._server.exists:
            return Health(True, "SeaweedFS, not needed yet")
        try:
            await self.buckets()
        except EngineError as error:
            return Health(False, str(error))
        return Health(True, "SeaweedFS")

    async def shut_down(self) -> None:
        await self._server.stop()

    async def close(self) -> None:
        """No connection is kept."""

    async def _s3(self) -> S3:
        place = await self._server.ensure()
        return S3(place.url, ROOT, place.secret)

    async def _identities(self) -> Identities:
        place = await self._server.ensure()
        return Identities(place.filer, place.secret)
