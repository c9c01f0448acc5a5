"""Four clients write to ten names that hurt while the gateway and the server behind are killed:
each answer is one that S3's rules allow, nothing acknowledged is lost, bytes are counted exactly.

`ROOST_TEST_S3_OPERATIONS=5000 ROOST_TEST_S3_KILLS=5` is the large run; a seed may be given, too.
"""

import asyncio
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, unquote_plus

import aiohttp
import pytest
from defusedxml import ElementTree

from roost.core.engine import EngineError
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec, Usage
from tests.support.s3 import S3Client, client_of
from tests.support.s3_model import UNKNOWN, History, Write, etag, etag_of_parts

pytestmark = pytest.mark.seaweedfs

OPERATIONS = int(os.environ.get("ROOST_TEST_S3_OPERATIONS", "240"))
KILLS = int(os.environ.get("ROOST_TEST_S3_KILLS", "2"))
SEED = int(os.environ.get("ROOST_TEST_SEED", "0")) or random.randrange(1 << 32)
WRITERS, BUCKET, MARK = 4, "model", "1-20300131"
NAMES = ("a", "a/", "a//b", "a/b", "a\\b", "../x", "a b.txt", "é\n", ".", "z" * 300)
KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant(BUCKET, True),))
SIZES = (0, 1, 1000, 70_000, 1_500_000)
_SPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
_BROKEN = (aiohttp.ClientError, ConnectionError, TimeoutError, EngineError)


class Storm:
    """All writers, and what they were answered."""

    def __init__(self, engine: OwnObjects, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self.history = History()
        self.done = Counter[str]()
        self._left = OPERATIONS
        self._kills = set(random.Random(SEED).sample(range(1, OPERATIONS), KILLS))
        self._numbers = iter(range(OPERATIONS * 10))

    async def write(self, number: int) -> None:
        chance = random.Random(SEED + number)
        actions = (
            *(self.put, self.put, self.put_new, self.delete, self.copy),
            *(self.upload, self.get, self.get, self.head, self.list),
        )
        while self._left > 0:
            self._left -= 1
            if self._left in self._kills:
                self.kill(chance)
            with suppress(*_BROKEN):
                async with client_of(await self.engine.endpoint(), KEY) as client:
                    await chance.choice(actions)(client, chance)

    def kill(self, chance: random.Random) -> None:
        name = chance.choice(("gateway.pid", "pid"))
        self.done[f"kill {name}"] += 1
        with suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.folder / name).read_text()), signal.SIGKILL)

    def body(self, chance: random.Random) -> bytes:
        """Another one each time."""
        return f"{next(self._numbers)} ".encode() + b"x" * chance.choice(SIZES)

    async def put(self, client: S3Client, chance: random.Random) -> None:
        name, body = chance.choice(NAMES), self.body(chance)
        await self._tried(name, etag(body), lambda: client.send("PUT", _path(name), body))

    async def put_new(self, client: S3Client, chance: random.Random) -> None:
        """Where nothing is."""
        name, body, began = chance.choice(NAMES), self.body(chance), time.monotonic()
        only = {"If-None-Match": "*"}
        absent = self.history.may_be_absent(name, began)
        status = await self._tried(
            name, etag(body), lambda: client.send("PUT", _path(name), body, only)
        )
        if status == 200:
            assert absent or self.history.may_be_absent(name, began)
        elif status == 412:
            assert self.history.may_be_there(name, began)

    async def delete(self, client: S3Client, chance: random.Random) -> None:
        name = chance.choice(NAMES)
        await self._tried(name, None, lambda: client.send("DELETE", _path(name)))

    async def copy(self, client: S3Client, chance: random.Random) -> None:
        """What is copied is told by the answer; where there is none, nobody knows."""
        source, target = chance.choice(NAMES), chance.choice(NAMES)
        if source == target:
            return
        began, write = time.monotonic(), self.history.begin(target, UNKNOWN)
        headers = {"x-amz-copy-source": quote(f"/{BUCKET}/{source}")}
        status, answer = await client.send("PUT", _path(target), b"", headers)
        self.done[f"copy {status}"] += 1
        if status == 200:
            write.value = _etag(answer)
            write.ended = time.monotonic()
            self.history.read(source, began, write.value)
        else:
            self._refused(write, status)
            if status == 404:
                self.history.read(source, began, None)

    async def upload(self, client: S3Client, chance: random.Random) -> None:
        """In one part or two; some are left as they are."""
        name = chance.choice(NAMES)
        bodies = [b"y" * (5 << 20), self.body(chance)][chance.randint(0, 3) > 0 :]
        status, answer = await client.send("POST", f"{_path(name)}?uploads")
        if status != 200:
            assert status == 503, answer
            return
        upload = re.findall(rb"<UploadId>(.*?)</UploadId>", answer)[0].decode()
        parts = ""
        for number, body in enumerate(bodies, 1):
            path = f"{_path(name)}?partNumber={number}&uploadId={upload}"
            status, answer = await client.send("PUT", path, body)
            if status != 200:
                assert status in (500, 503), answer
                return
            parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{etag(body)}</ETag></Part>"
        if chance.random() < 0.2:
            return
        whole = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        path = f"{_path(name)}?uploadId={upload}"
        value = etag_of_parts(*bodies)
        await self._tried(name, value, lambda: client.send("POST", path, whole))

    async def get(self, client: S3Client, chance: random.Random) -> None:
        name, began = chance.choice(NAMES), time.monotonic()
        status, body = await client.send("GET", _path(name))
        self.done[f"get {status}"] += 1
        if status == 404:
            self.history.read(name, began, None)
        elif status == 200:
            values = [etag(body), etag_of_parts(body)]
            if len(body) > 5 << 20:
                values.append(etag_of_parts(body[: 5 << 20], body[5 << 20 :]))
            self.history.read_one_of(name, began, values)
        else:
            assert status in (500, 503), body

    async def head(self, client: S3Client, chance: random.Random) -> None:
        name, began = chance.choice(NAMES), time.monotonic()
        status = await client.status("HEAD", _path(name))
        self.done[f"head {status}"] += 1
        if status == 404:
            assert self.history.may_be_absent(name, began)
        elif status == 200:
            assert self.history.may_be_there(name, began)

    async def list(self, client: S3Client, chance: random.Random) -> None:
        """All names at once, in the order of bytes."""
        began = time.monotonic()
        status, answer = await client.send("GET", f"{BUCKET}?list-type=2&encoding-type=url")
        self.done[f"list {status}"] += 1
        if status != 200:
            assert status in (500, 503), answer
            return
        found = dict[str, str]()
        for each in ElementTree.fromstring(answer).iterfind(f"{_SPACE}Contents"):
            name = unquote_plus(each.findtext(f"{_SPACE}Key") or "")
            found[name] = (each.findtext(f"{_SPACE}ETag") or "").strip('"')
        assert list(found) == sorted(found, key=str.encode)
        assert found.keys() <= set(NAMES)
        for name in NAMES:
            self.history.read(name, began, found.get(name))

    async def _tried(
        self, name: str, value: str | None, send: Callable[[], Awaitable[tuple[int, bytes]]]
    ) -> int:
        write = self.history.begin(name, value)
        status, answer = await send()
        self.done[f"write {status}"] += 1
        if status in (200, 204) and b"<Error>" not in answer:
            write.ended = time.monotonic()
        else:
            self._refused(write, status)
        return status

    def _refused(self, write: Write, status: int) -> None:
        """A server that was killed may have written what it could not answer."""
        assert status in (404, 409, 412, 500, 503), status
        write.failed = status < 500


def _path(name: str) -> str:
    """Dots too, as they mean something in URLs."""
    return f"{BUCKET}/{quote(name, safe='').replace('.', '%2E')}"


def _etag(answer: bytes) -> str:
    found: bytes = re.findall(rb"<ETag>(.*?)</ETag>", answer)[0]
    return found.decode().replace("&#34;", "").replace("&quot;", "").strip('"')


@pytest.fixture
async def storm(tmp_path: Path) -> AsyncIterator[Storm]:
    folder = tmp_path / "objects"
    engine = OwnObjects(Server(folder))
    await engine.put_bucket(BucketSpec(BUCKET, MARK, "private", False))
    await engine.put_key(KEY)
    yield Storm(engine, folder)
    await engine.shut_down()


@pytest.mark.timeout(240 + OPERATIONS // 4 + 60 * KILLS)
async def test_answers_are_those_that_s3_allows(storm: Storm) -> None:
    print(f"ROOST_TEST_SEED={SEED}")  # noqa: T201
    async with asyncio.TaskGroup() as tasks:
        for number in range(WRITERS):
            tasks.create_task(storm.write(number))
    print(dict(storm.done))  # noqa: T201
    chance, size, count = random.Random(SEED), 0, 0
    async with client_of(await storm.engine.endpoint(), KEY) as client:
        await storm.list(client, chance)
        for name in NAMES:
            began = time.monotonic()
            status, body = await client.send("GET", _path(name))
            assert status in (200, 404)
            count, size = count + (status == 200), size + (len(body) if status == 200 else 0)
            assert status == 200 or storm.history.may_be_absent(name, began)
    await storm.engine.end_uploads(BUCKET, datetime.now(UTC) + timedelta(days=1))
    assert await storm.engine.usage(BUCKET) == Usage(count, size)
