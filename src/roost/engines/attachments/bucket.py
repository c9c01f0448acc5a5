"""Attachments as objects of a bucket, on any S3 server."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from roost.core.engine import Health
from roost.resources.support.engine import (
    AttachmentMissingError,
    AttachmentStoreError,
    StoredFile,
)

_PREFIX = "attachments"
_OURS = re.compile(r"[0-9a-f]{32}")
_TIMEOUT = timedelta(seconds=20)
_RETRIED = timedelta(seconds=10)


class AttachmentBucket:
    """An AttachmentStore; the server makes an object whole or not at all.

    Other objects under the prefix are left alone.
    """

    name = "bucket"

    def __init__(
        self, bucket: str, endpoint: str | None, region: str, access_key: str, secret_key: str
    ) -> None:
        """AWS's own server for the region when `endpoint` is None."""
        self._store = S3Store(
            bucket,
            prefix=_PREFIX,
            config={} if endpoint is None else {"endpoint": endpoint},
            region=region,
            access_key_id=access_key,
            secret_access_key=secret_key,
            client_options={
                "allow_http": True,
                "connect_timeout": timedelta(seconds=5),
                "timeout": _TIMEOUT,
            },
            retry_config={"max_retries": 2, "retry_timeout": _RETRIED},
        )

    async def health(self) -> Health:
        try:
            async with _spoken():
                await anext(self._store.list(chunk_size=1), None)
        except AttachmentStoreError as error:
            return Health(False, str(error))
        return Health(True, "a bucket")

    async def close(self) -> None:
        """Connections end with the process."""

    async def put(self, key: str, content: bytes) -> None:
        async with _spoken():
            await self._store.put_async(key, content, use_multipart=False)

    async def get(self, key: str) -> bytes:
        async with _spoken():
            found = await self._store.get_async(key)
            return bytes(await found.bytes_async())

    async def delete(self, key: str) -> None:
        async with _spoken():
            try:
                await self._store.delete_async(key)
            except (NotFoundError, FileNotFoundError):
                return

    async def list(self) -> list[StoredFile]:
        found, now = [], datetime.now(UTC)
        async with _spoken():
            async for batch in self._store.list():
                for item in batch:
                    if not _OURS.fullmatch(item["path"]):
                        continue
                    age = (now - item["last_modified"]).total_seconds()
                    found.append(StoredFile(item["path"], item["size"], age))
        return sorted(found, key=lambda file: file.key)


@asynccontextmanager
async def _spoken() -> AsyncIterator[None]:
    """The server's complaints as ours. They hold no keys."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise AttachmentMissingError("there is no such object") from error
    except (BaseError, OSError) as error:
        raise AttachmentStoreError(str(error).split("\n")[0]) from error
