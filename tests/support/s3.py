"""Requests as S3 clients send them, signed with a key or with none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from yarl import URL

from roost.engines.seaweedfs.calls import connected
from roost.engines.seaweedfs.wire import field, integer
from roost.resources.object_storage.engine import KeySpec


@dataclass(frozen=True)
class S3Client:
    session: aiohttp.ClientSession
    url: str
    key: KeySpec | None

    async def send(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and body."""
        url = f"{self.url}/{path}"
        request = AWSRequest(method, url, dict(headers or {}), body)
        if self.key is not None:
            credentials = Credentials(self.key.access_key, self.key.secret_key)
            S3SigV4Auth(credentials, "s3", "us-east-1").add_auth(request)
        sent = dict(request.headers.items())
        async with self.session.request(method, url, data=body, headers=sent) as answer:
            return answer.status, await answer.read()

    async def status(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> int:
        return (await self.send(method, path, body, headers))[0]

    async def stream(self, path: str, body: AsyncIterator[bytes]) -> int:
        """Put an object whose parts come one after the other; the status."""
        assert self.key is not None
        url = f"{self.url}/{path}"
        request = AWSRequest("PUT", url, {"X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"})
        request.context["payload_signing_enabled"] = False
        credentials = Credentials(self.key.access_key, self.key.secret_key)
        S3SigV4Auth(credentials, "s3", "us-east-1").add_auth(request)
        sent = dict(request.headers.items())
        async with self.session.put(url, data=body, headers=sent) as answer:
            return answer.status


async def get(url: str) -> int:
    """The status for whoever has the URL."""
    async with aiohttp.ClientSession() as session, session.get(URL(url, encoded=True)) as answer:
        return answer.status


async def finish_late(filer: str, bucket: str, name: str) -> None:
    """Let an upload end in a bucket that may be gone, as the S3 server does with one that it has
    let in before."""
    entry = field(1, name) + field(9, "x") + field(4, integer(1, 1) + integer(3, 0o660))
    message = field(1, f"/buckets/{bucket}") + field(2, entry)
    async with connected(filer) as calls:
        await calls.ask("No object", "/filer_pb.SeaweedFiler/CreateEntry", message, 10)


@asynccontextmanager
async def client_of(url: str, key: KeySpec | None) -> AsyncIterator[S3Client]:
    async with aiohttp.ClientSession() as session:
        yield S3Client(session, url, key)
