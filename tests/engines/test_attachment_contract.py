"""What every place of attachments promises: a folder, and a bucket of a real S3 server."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from obstore.store import S3Store

from roost.engines.attachments.folder import AttachmentFolder
from roost.resources.support.engine import (
    AttachmentMissingError,
    AttachmentStore,
    AttachmentStoreError,
)
from tests.support.objects import (
    ACCESS_KEY,
    BUCKET,
    SECRET_KEY,
    ObjectServer,
    bucket,
    object_server,
)

KEYS = [f"{n:032x}" for n in range(4)]


@pytest.fixture(scope="module")
async def objects(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ObjectServer]:
    async with object_server(tmp_path_factory.mktemp("weed")) as server:
        yield server


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.seaweedfs)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> AttachmentStore:
    if request.param == "folder":
        return AttachmentFolder(tmp_path / "attachments")
    return bucket(request.getfixturevalue("objects").url)


@pytest.fixture
async def store(place: AttachmentStore) -> AsyncIterator[AttachmentStore]:
    """Empty, and empty again afterwards."""
    yield place
    for file in await place.list():
        await place.delete(file.key)
    assert await place.list() == []


@pytest.mark.parametrize("content", [b"", b"x", bytes(range(256)) * 20_000])
async def test_what_is_put_is_there(store: AttachmentStore, content: bytes) -> None:
    await store.put(KEYS[0], content)
    assert await store.get(KEYS[0]) == content


async def test_health(store: AttachmentStore) -> None:
    assert (await store.health()).ok


async def test_list(store: AttachmentStore) -> None:
    assert await store.list() == []
    for size, key in enumerate(reversed(KEYS)):
        await store.put(key, b"x" * size)
    found = await store.list()
    assert [(file.key, file.size) for file in found] == list(zip(KEYS, (3, 2, 1, 0), strict=True))
    assert all(-5 < file.age < 60 for file in found)


async def test_delete(store: AttachmentStore) -> None:
    await store.put(KEYS[0], b"x")
    await store.put(KEYS[1], b"y")
    for _ in range(2):
        await store.delete(KEYS[0])
    assert [file.key for file in await store.list()] == [KEYS[1]]
    with pytest.raises(AttachmentMissingError):
        await store.get(KEYS[0])


async def test_other_files_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("not ours")
    assert await AttachmentFolder(tmp_path).list() == []


@pytest.mark.seaweedfs
async def test_other_objects_of_the_bucket_are_left_alone(objects: ObjectServer) -> None:
    """`roost fsck --repair` deletes what is listed and has no row."""
    whole = S3Store(
        BUCKET,
        config={"endpoint": objects.url},
        region="us-east-1",
        access_key_id=ACCESS_KEY,
        secret_access_key=SECRET_KEY,
        client_options={"allow_http": True},
    )
    others = ("attachments/README", f"attachments/older/{KEYS[0]}", KEYS[0])
    for path in others:
        await whole.put_async(path, b"not ours")
    assert await bucket(objects.url).list() == []
    for path in others:
        await whole.delete_async(path)


async def test_a_key_is_no_path(tmp_path: Path) -> None:
    folder = AttachmentFolder(tmp_path / "attachments")
    for key in ("../x", "/etc/passwd", "", "a" * 31, "A" * 32, f"{'a' * 32}\n", ".draft-../x"):
        with pytest.raises(ValueError, match="not the key"):
            await folder.put(key, b"x")
        with pytest.raises(ValueError, match="not the key"):
            await folder.delete(key)
    assert os.listdir(tmp_path) == []


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "attachments").write_text("a file")
    folder = AttachmentFolder(tmp_path / "attachments")
    with pytest.raises(AttachmentStoreError):
        await folder.put(KEYS[0], b"x")


@pytest.mark.seaweedfs
async def test_servers_that_refuse(objects: ObjectServer) -> None:
    for refused in (
        bucket(objects.url, secret_key="not-the-Secret"),
        bucket(objects.url, access_key="nobody"),
        bucket("http://127.0.0.1:9"),
    ):
        with pytest.raises(AttachmentStoreError) as raised:
            await refused.put(KEYS[0], b"x")
        assert "Secret" not in str(raised.value)
        with pytest.raises(AttachmentStoreError):
            await refused.list()
    assert await bucket(objects.url).list() == []
