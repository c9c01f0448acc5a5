"""Four clients write to ten names that hurt while the gateway and the server behind are killed:
each answer is one that S3's rules allow, nothing acknowledged is lost, and objects, bytes and parts
of uploads that are not complete are counted exactly.

`ROOST_TEST_S3_OPERATIONS=10000 ROOST_TEST_S3_KILLS=5` is the largest run; a seed may be given, too.
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
from tests.support.s3_model import UNKNOWN, History, Upload, Write, etag, etag_of_parts

pytestmark = pytest.mark.seaweedfs

OPERATIONS = int(os.environ.get("ROOST_TEST_S3_OPERATIONS", "5000"))
KILLS = int(os.environ.get("ROOST_TEST_S3_KILLS", "5"))
FEW_OPERATIONS, FEW_KILLS = 150, 1
SEED = int(os.environ.get("ROOST_TEST_SEED", "0")) or random.randrange(1 << 32)
WRITERS, BUCKET, MARK = 4, "model", "1-20300131"
NAMES = ("a", "a/", "a//b", "a/1", "a\\b", "../x", "a b.txt", "ü\n+😀", "%41", "z" * 900)
KEY = KeySpec("key-1", "A" * 20, "s" * 40, (BucketGrant(BUCKET, True),))
SIZES = (0, 1, 1000, 70_000, 1_500_000)
_SPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
_BROKEN = (aiohttp.ClientError, ConnectionError, TimeoutError, EngineError)


class Storm:
    """All writers, and what they were answered."""

    def __init__(self, engine: OwnObjects, folder: Path, operations: int, kills: int) -> None:
        self.engine = engine
        self.folder = folder
        self.history = History()
        self.uploads = dict[str, Upload]()
        """By their ids."""
        self.begun_perhaps = 0
        """Uploads of whose beginning nobody was told."""
        self.done = Counter[str]()
        self._left = operations
        self._kills = set(random.Random(SEED).sample(range(1, operations), kills))
        self._numbers = iter(range(operations * 10))

    async def write(self, number: int) -> None:
        chance = random.Random(SEED + number)
        actions = (
            *(self.put, self.put, self.put_new, self.delete, self.delete_many, self.copy),
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

    async def delete_many(self, client: S3Client, chance: random.Random) -> None:
        names = chance.sample(NAMES, 3)
        writes = {name: self.history.begin(name, None) for name in names}
        keys = "".join(f"<Object><Key>{name}</Key></Object>" for name in names)
        body = f"<Delete>{keys}</Delete>".encode()
        status, answer = await client.send("POST", f"{BUCKET}?delete", body)
        self.done[f"delete many {status}"] += 1
        if status != 200:
            assert status in (500, 503), answer
            return
        for each in ElementTree.fromstring(answer).iterfind(f"{_SPACE}Deleted"):
            writes[each.findtext(f"{_SPACE}Key") or ""].ended = time.monotonic()

    async def upload(self, client: S3Client, chance: random.Random) -> None:
        """In one part or two, some of them sent twice; some are aborted, some left as they are."""
        name = chance.choice(NAMES)
        bodies = [b"y" * (5 << 20), self.body(chance)][chance.randint(0, 3) > 0 :]
        self.begun_perhaps += 1
        status, answer = await client.send("POST", f"{_path(name)}?uploads")
        if status != 200:
            assert status == 503, answer
            return
        self.begun_perhaps -= 1
        id_ = re.findall(rb"<UploadId>(.*?)</UploadId>", answer)[0].decode()
        upload = self.uploads[id_] = Upload()
        parts = ""
        for number, body in enumerate(bodies, 1):
            path = f"{_path(name)}?partNumber={number}&uploadId={id_}"
            for _ in range(1 + (chance.random() < 0.3)):
                upload.sizes[number] = upload.sizes.get(number, {0}) | {len(body)}
                status, answer = await client.send("PUT", path, body)
                if status != 200:
                    assert status in (500, 503), answer
                    return
                upload.sizes[number] = {len(body)}
            parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{etag(body)}</ETag></Part>"
        if chance.random() < 0.2:
            return
        path, upload.over = f"{_path(name)}?uploadId={id_}", None
        if chance.random() < 0.1:
            status, answer = await client.send("DELETE", path)
            assert status in (204, 404, 500, 503), answer
        else:
            whole = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
            value = etag_of_parts(*bodies)
            status = await self._tried(name, value, lambda: client.send("POST", path, whole))
        if status in (200, 204):
            upload.over = True

    async def get(self, client: S3Client, chance: random.Random) -> None:
        await self.held(client, chance.choice(NAMES))

    async def held(self, client: S3Client, name: str) -> bytes | None:
        """What the name has; None: nothing, or no answer."""
        began = time.monotonic()
        status, body = await client.send("GET", _path(name))
        self.done[f"get {status}"] += 1
        if status == 404:
            self.history.read(name, began, None)
            return None
        if status != 200:
            assert status in (500, 503), body
            return None
        values = [etag(body), etag_of_parts(body)]
        if len(body) > 5 << 20:
            values.append(etag_of_parts(body[: 5 << 20], body[5 << 20 :]))
        self.history.read_one_of(name, began, values)
        return body

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

    async def begun(self, client: S3Client) -> dict[str, dict[int, int]]:
        """Uploads that are listed, with the bytes of their parts, all as the model has them."""
        status, answer = await client.send("GET", f"{BUCKET}?uploads&encoding-type=url")
        root = ElementTree.fromstring(answer)
        assert (status, root.findtext(f"{_SPACE}IsTruncated")) == (200, "false")
        found = dict[str, dict[int, int]]()
        for each in root.iterfind(f"{_SPACE}Upload"):
            texts = [each.findtext(f"{_SPACE}{field}") or "" for field in ("Key", "UploadId")]
            path = f"{_path(unquote_plus(texts[0]))}?uploadId={texts[1]}"
            parts = ElementTree.fromstring((await client.send("GET", path))[1])
            found[texts[1]] = {
                int(part.findtext(f"{_SPACE}PartNumber") or 0): int(
                    part.findtext(f"{_SPACE}Size") or 0
                )
                for part in parts.iterfind(f"{_SPACE}Part")
            }
        for id_, upload in self.uploads.items():
            upload.check(found.get(id_))
        assert len(found.keys() - self.uploads.keys()) <= self.begun_perhaps
        return found

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
async def objects(tmp_path: Path) -> AsyncIterator[tuple[OwnObjects, Path]]:
    folder = tmp_path / "objects"
    engine = OwnObjects(Server(folder))
    await engine.put_bucket(BucketSpec(BUCKET, MARK, "private", False))
    await engine.put_key(KEY)
    yield engine, folder
    await engine.shut_down()


@pytest.mark.timeout(240 + OPERATIONS // 4 + 60 * KILLS)
@pytest.mark.parametrize(
    ("operations", "kills"),
    [
        pytest.param(FEW_OPERATIONS, FEW_KILLS, marks=pytest.mark.story, id="few"),
        pytest.param(OPERATIONS, KILLS, id="many"),
    ],
)
async def test_answers_are_those_that_s3_allows(
    objects: tuple[OwnObjects, Path], operations: int, kills: int
) -> None:
    print(f"ROOST_TEST_SEED={SEED}")  # noqa: T201
    engine, storm = objects[0], Storm(*objects, operations, kills)
    async with asyncio.TaskGroup() as tasks:
        for number in range(WRITERS):
            tasks.create_task(storm.write(number))
    print(dict(storm.done))  # noqa: T201
    async with client_of(await engine.endpoint(), KEY) as client:
        await storm.list(client, random.Random(SEED))
        bodies = [await storm.held(client, name) for name in NAMES]
        there = [len(each) for each in bodies if each is not None]
        parts = sum(sum(each.values()) for each in (await storm.begun(client)).values())
        assert await engine.usage(BUCKET) == Usage(len(there), sum(there) + parts)
        await engine.end_uploads(BUCKET, datetime.now(UTC) + timedelta(days=1))
        assert await engine.usage(BUCKET) == Usage(len(there), sum(there))
        for upload in storm.uploads.values():
            upload.over = True
        assert await storm.begun(client) == {}
