"""What is not stored: what the host's disk, or the limit of an account, has no room for."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from roost.engines.gateway.faults import S3Error
from roost.engines.gateway.room import Room
from roost.engines.gateway.room import Share as Part
from roost.engines.seaweedfs.own import OwnObjects
from roost.engines.seaweedfs.server import Server
from roost.resources.object_storage.engine import BucketGrant, BucketSpec, KeySpec, Share
from tests.support.s3 import S3Client, client_of

LABELS = ("photos", "films", "others")
SPECS = [BucketSpec(label, f"{n}-20300131", "private", False) for n, label in enumerate(LABELS, 1)]
GRANTS = tuple(BucketGrant(label, True) for label in LABELS)
KEY = KeySpec("key-1", "A" * 20, "s" * 40, GRANTS)
MB = 1_000_000


def test_what_is_being_put_counts(tmp_path: Path) -> None:
    """Of two at once that would be too much together one is refused; what fails is given back."""
    room = Room(tmp_path, 0)
    room.set_shares([Part(("a", "b"), 10)])
    with room.taken("a", 6):
        with pytest.raises(S3Error, match="QuotaExceeded"), room.taken("b", 5):
            pass
        with pytest.raises(KeyError), room.taken("b", 4):
            raise KeyError
        with room.taken("b", 4), room.taken("c", 1000):
            pass
    with pytest.raises(S3Error, match="QuotaExceeded"):
        room.check("b", 1)


def test_a_count_says_what_was_put_before_it_began(tmp_path: Path) -> None:
    room = Room(tmp_path, 0)
    room.set_shares([Part(("a", "b"), 10)])
    with room.taken("a", 4), room.taken("b", 1):
        pass
    room.count_begins("a")
    with room.taken("a", 2):
        pass
    room.set_shares([Part(("a", "b"), 6)])
    with room.taken("a", 3):
        pass
    with pytest.raises(S3Error):
        room.check("a", 1)


def test_a_disk_keeps_what_it_shall(tmp_path: Path) -> None:
    room = Room(tmp_path, shutil.disk_usage(tmp_path).free - 100 * MB)
    room.check("a", 20 * MB)
    with room.taken("a", 60 * MB), pytest.raises(S3Error) as raised:
        room.check("b", 60 * MB)
    assert (raised.value.status, raised.value.code) == (507, "InsufficientStorage")
    assert not room.is_full


async def test_what_accounts_may_have_outlives_the_process(tmp_path: Path) -> None:
    """With what was put since the last count, part of which a count has seen that did not end."""
    room = Room(tmp_path, 0)
    room.set_shares([Part(("a", "b"), 10), Part(("c",), 3)])
    with room.taken("a", 4), room.taken("other", 1000):
        pass
    room.count_begins("a")
    await asyncio.gather(*(room.save() for _ in range(20)))
    again = Room(tmp_path, 0)
    for label, left in (("b", 6), ("c", 3)):
        again.check(label, left)
        with pytest.raises(S3Error, match="QuotaExceeded"):
            again.check(label, left + 1)
    again.count_begins("a")
    again.set_shares([Part(("a", "b"), 6)])
    again.check("b", 6)
    again.check("c", 1000)


@pytest.mark.parametrize("text", ["", "[]", "[]\n{", "\0\0\0"])
async def test_a_file_that_is_not_whole_bounds_nothing(tmp_path: Path, text: str) -> None:
    """Until the next count, which writes it anew."""
    (tmp_path / "room.json").write_text(text)
    room = Room(tmp_path, 0)
    room.check("a", 1000)
    room.set_shares([Part(("a",), 10)])
    await room.save()
    with pytest.raises(S3Error, match="QuotaExceeded"):
        Room(tmp_path, 0).check("a", 11)


async def code_of(client: S3Client, method: str, path: str, **more: object) -> tuple[int, str]:
    status, body = await client.send(method, path, **more)  # type: ignore[arg-type]
    return status, body.decode(errors="replace").partition("<Code>")[2].partition("</Code>")[0]


async def counted(engine: OwnObjects, left: int) -> None:
    for label in ("photos", "films"):
        await engine.usage(label)
    await engine.set_shares([Share(("photos", "films"), left)])


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[OwnObjects]:
    engine = OwnObjects(Server(tmp_path / "one"))
    for each in SPECS:
        await engine.put_bucket(each)
    await engine.put_key(KEY)
    yield engine
    await engine.shut_down()


@pytest.mark.seaweedfs
async def test_a_limit_holds_for_all_ways_to_store(engine: OwnObjects, tmp_path: Path) -> None:
    """In all buckets of the account together; another account's are not touched. Also of a gateway
    that is killed right after it was told, when nobody has counted since."""
    copied = {"x-amz-copy-source": "photos/a"}
    async with client_of(await engine.endpoint(), KEY) as client:
        assert await client.status("PUT", "photos/a", bytes(2 * MB)) == 200
        begun = (await client.send("POST", "films/parts?uploads"))[1].decode()
        upload = begun.partition("<UploadId>")[2].partition("</UploadId>")[0]
        part = f"films/parts?partNumber=1&uploadId={upload}"
        await counted(engine, 3 * MB)
        assert await client.status("PUT", "films/b", bytes(2 * MB)) == 200
        exceeded = (403, "QuotaExceeded")
        assert await code_of(client, "PUT", "photos/c", body=bytes(2 * MB)) == exceeded
        assert await code_of(client, "PUT", "films/c", headers=copied) == exceeded
        assert await code_of(client, "PUT", part, body=bytes(2 * MB)) == exceeded
        assert await code_of(client, "PUT", part, headers=copied) == exceeded
        ranged = {**copied, "x-amz-copy-source-range": f"bytes=0-{MB // 2}"}
        assert await client.status("PUT", part, headers=ranged) == 200
        assert await client.status("PUT", "others/c", bytes(2 * MB)) == 200
        await counted(engine, MB)
        os.kill(int((tmp_path / "one" / "gateway.pid").read_text()), signal.SIGKILL)
        while Server(tmp_path / "one").serving() is not None:
            await asyncio.sleep(0.01)
        await engine.keep_serving()
        assert await code_of(client, "PUT", "photos/c", body=bytes(2 * MB)) == exceeded
        assert await client.status("GET", "photos/a") == 200
        assert await client.status("DELETE", "photos/a") == 204
        await counted(engine, -1)
        assert await code_of(client, "POST", "films/more?uploads") == exceeded
        assert await code_of(client, "PUT", "films/empty") == exceeded
        await engine.set_shares([])
        assert await client.status("PUT", "photos/c", bytes(2 * MB)) == 200


@pytest.mark.seaweedfs
async def test_a_full_disk_stores_nothing_more(engine: OwnObjects, tmp_path: Path) -> None:
    """The operator's setting holds from the next start of Roost; reads and deletions go on."""
    async with client_of(await engine.endpoint(), KEY) as client:
        assert await client.status("PUT", "photos/a", b"x") == 200
    full = OwnObjects(Server(tmp_path / "one", min_free=10**18))
    async with client_of(await full.endpoint(), KEY) as client:
        refused = (507, "InsufficientStorage")
        assert await code_of(client, "PUT", "photos/b", body=b"x") == refused
        assert await code_of(client, "POST", "photos/b?uploads") == refused
        assert await client.send("GET", "photos/a") == (200, b"x")
        assert await client.status("DELETE", "photos/a") == 204
    health = await full.health()
    assert (health.ok, health.detail) == (False, "Its disk is full: nothing more is stored")
