"""Requests as S3 clients send them, signed with a key or with none."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import botocore.session
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
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
        """Status and body. A path with `%` is sent as it is."""
        url = f"{self.url}/{path}"
        request = AWSRequest(method, url, dict(headers or {}), body)
        if self.key is not None:
            credentials = Credentials(self.key.access_key, self.key.secret_key)
            S3SigV4Auth(credentials, "s3", "us-east-1").add_auth(request)
        sent, escaped = dict(request.headers.items()), URL(url, encoded="%" in path)
        async with self.session.request(method, escaped, data=body, headers=sent) as answer:
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


def botocore_client(url: str, key: KeySpec, style: str = "path", version: str = "s3v4") -> Any:
    """That of botocore, which has no types; it tries once."""
    config: Any = {
        "s3": {"addressing_style": style},
        "retries": {"max_attempts": 1},
        "signature_version": version,
    }
    return botocore.session.Session().create_client(
        "s3",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=key.access_key,
        aws_secret_access_key=key.secret_key,
        config=Config(**config),
    )


def refusal(call: Any, **parameters: object) -> tuple[int, str]:
    """Status and code."""
    with pytest.raises(ClientError) as raised:
        call(**parameters)
    answer = raised.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]
