"""Requests as S3 clients send them, signed with a key or with none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

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


@asynccontextmanager
async def client_of(url: str, key: KeySpec | None) -> AsyncIterator[S3Client]:
    async with aiohttp.ClientSession() as session:
        yield S3Client(session, url, key)
