"""A real S3 server with one bucket."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from roost.engines.attachments.bucket import AttachmentBucket
from roost.engines.listeners import free_tcp_port
from roost.resources.support.engine import AttachmentStoreError

BUCKET, ACCESS_KEY, SECRET_KEY = "roost-tests", "roost", "a-secret-key-of-tests"

_WEED = Path(sys.executable).with_name("weed")
_IDENTITY = {
    "name": "roost",
    "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
    "actions": ["Admin", "Read", "Write", "List", "Tagging"],
}
_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ObjectServer:
    url: str
    process: asyncio.subprocess.Process


@asynccontextmanager
async def object_server(folder: Path) -> AsyncIterator[ObjectServer]:
    """SeaweedFS in one process, on ports of this machine until the end of the block."""
    config = folder / "s3.json"
    config.write_text(json.dumps({"identities": [_IDENTITY]}))
    names = ("master", "volume", "filer", "s3", "admin")
    options = [
        f"-{name}.port{suffix}={port}"
        for (name, suffix), port in zip(
            ((name, suffix) for name in names for suffix in ("", ".grpc")),
            _free_ports(2 * len(names)),
            strict=True,
        )
    ]
    log = folder / "weed.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            _WEED,
            "mini",
            f"-dir={folder}",
            "-ip=127.0.0.1",
            "-ip.bind=127.0.0.1",
            f"-bucket={BUCKET}",
            f"-s3.config={config}",
            *options,
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-webdav=false",
            "-admin.ui=false",
            "-master.telemetry=false",
            stdout=output,
            stderr=output,
            env={**os.environ, "TMPDIR": str(folder), "GOMEMLIMIT": "200MiB"},
        )
    port = next(option.partition("=")[2] for option in options if option.startswith("-s3.port="))
    server = ObjectServer(f"http://127.0.0.1:{port}", process)
    try:
        await _wait_for(server, log)
        yield server
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def bucket(
    url: str, name: str = BUCKET, access_key: str = ACCESS_KEY, secret_key: str = SECRET_KEY
) -> AttachmentBucket:
    return AttachmentBucket(name, url, "us-east-1", access_key, secret_key)


async def _wait_for(server: ObjectServer, log: Path) -> None:
    """Until it refuses strangers, and has made the bucket."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS), aiohttp.ClientSession() as session:
            while server.process.returncode is None:
                try:
                    async with session.get(f"{server.url}/{BUCKET}") as answer:
                        if answer.status == 403:
                            await bucket(server.url).list()
                            return
                except (aiohttp.ClientError, AttachmentStoreError):
                    pass
                await asyncio.sleep(0.05)
    raise _failure(log)


def _failure(log: Path) -> AssertionError:
    return AssertionError(f"the object server does not serve:\n{log.read_text()}")


def _free_ports(count: int) -> list[int]:
    ports = set[int]()
    while len(ports) < count:
        ports.add(free_tcp_port())
    return list(ports)
