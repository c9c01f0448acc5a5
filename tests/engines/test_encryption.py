"""Encrypted databases: what is on disk tells nobody what is in them."""

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from roost.core.engine import EngineError
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec
from tests.engines.database_harness import MariadbHarness, open_mariadb

pytestmark = pytest.mark.mariadb

CANARY = "canary-4711-of-encrypted-data"
BACKUP = 1
PAGE, CHECKSUM, FILLED = 8192, 4, 90


@pytest_asyncio.fixture(params=[1, 3])
async def harness(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MariadbHarness]:
    harness = await open_mariadb(tmp_path, request.param)
    try:
        yield harness
    finally:
        await harness.close()


def encrypted(harness: MariadbHarness, database_id: int) -> DatabaseSpec:
    spec = harness.spec(database_id)
    return replace(spec, shape=replace(spec.shape, encrypted=True))


async def fill(harness: MariadbHarness, access: Access, spec: DatabaseSpec) -> None:
    """Rows, an index, what is rolled back, and sorting that does not fit into memory."""
    await harness.ask(
        access,
        spec,
        "create database notes",
        "create table notes.mark (text varchar(100), more longtext, key (text))",
        f"insert into notes.mark values ('{CANARY}', repeat('{CANARY}', 100))",
        *("insert into notes.mark select * from notes.mark" for _ in range(8)),
        f"update notes.mark set more = concat(more, '{CANARY}') limit 50",
        "select count(distinct more, uuid()) from notes.mark",
    )


def files_with(root: Path, words: Iterable[bytes]) -> list[str]:
    """Those below the folder that have any of the words in them."""
    found = []
    for path in sorted(root.rglob("*")):
        try:
            data = _written(path) if path.is_file() else b""
        except FileNotFoundError:
            continue
        if any(word in data for word in words):
            found.append(str(path.relative_to(root)))
    return found


def _written(path: Path) -> bytes:
    """Without the holes of a sparse file."""
    found = []
    with path.open("rb") as file:
        end = 0
        with suppress(OSError):  # There is nothing after the last hole.
            while True:
                start = os.lseek(file.fileno(), end, os.SEEK_DATA)
                end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
                found.append(os.pread(file.fileno(), end - start, start))
    return b"".join(found)


def clear_key(node: Folder) -> bytes:
    """As the server sees it, in its own mount namespace; hexadecimal."""
    process = Server(node).process()
    assert process is not None
    text = Path(f"/proc/{process.pid}/root/mnt/keys/key").read_bytes().strip()
    assert len(text) == 2 + 64
    return text[2:]


async def test_nothing_on_disk_has_what_is_in_it(harness: MariadbHarness) -> None:
    plain, hidden = harness.spec(1), encrypted(harness, 2)
    for spec in (plain, hidden) if harness.nodes == 1 else (hidden,):
        access = await harness.engine.create(spec)
        await fill(harness, access, spec)
        await harness.engine.back_up(spec.id, BACKUP, replica=True)
    key = clear_key(Folder.of(harness.root, hidden.id).nodes()[0])
    await harness.engine.shut_down()
    found = files_with(harness.root, [CANARY.encode()])
    assert [name for name in found if "database-2" in name] == []
    assert harness.nodes > 1 or any(name.startswith("databases/database-1/") for name in found)
    assert files_with(harness.root, [key, bytes.fromhex(key.decode())]) == []


async def test_pages_have_nothing_of_the_memory(harness: MariadbHarness) -> None:
    """The server writes the unused rest of an index page of Aria as it was in memory."""
    spec = encrypted(harness, 1)
    access = await harness.engine.create(spec)
    await fill(harness, access, spec)
    await harness.engine.set_password(replace(spec, password="anotherPassword1"))
    await harness.engine.shut_down()
    for node in Folder.of(harness.root, spec.id).nodes():
        index = (node.data / "mysql" / "global_priv.MAI").read_bytes()
        ends = range(2 * PAGE, len(index) + 1, PAGE)
        assert [set(index[end - PAGE // 2 : end - CHECKSUM]) for end in ends] == [{FILLED}]


async def test_the_life_of_an_encrypted_database(harness: MariadbHarness) -> None:
    """A backup, a crash, a restore, another password and plan, a restart by another process."""
    spec = encrypted(harness, 1)
    access = await harness.engine.create(spec)
    await harness.write(access, spec, "before")
    await harness.engine.back_up(spec.id, BACKUP, replica=False)
    await harness.write(access, spec, "after")
    await harness.crash(spec.id)
    engine = harness.reopen()
    await engine.ensure(spec)
    await engine.rebuild(spec)
    assert await harness.read(access, spec) == "after"
    await engine.restore(spec, BACKUP)
    assert await harness.read(access, spec) == "before"
    changed = replace(spec, password="anotherPassword1", memory=2048)
    await engine.restart(changed)
    assert await harness.read(access, changed) == "before"
    assert clear_key(Folder.of(harness.root, spec.id).nodes()[0])
    await engine.delete(spec.id)
    assert list(harness.root.glob("*/database-1")) == []


async def test_other_storage_engines_are_refused(tmp_path: Path) -> None:
    """They would write what they hold in the clear."""
    harness = await open_mariadb(tmp_path)
    try:
        spec = encrypted(harness, 1)
        access = await harness.engine.create(spec)
        await harness.ask(access, spec, "create database notes")
        for engine in ("MyISAM", "Aria", "CSV"):
            statement = f"create table notes.x (i int not null) engine={engine}"
            with pytest.raises(Exception, match="NO_ENGINE_SUBSTITUTION"):
                await harness.ask(access, spec, statement)
        with pytest.raises(Exception, match="Wrong create options"):
            await harness.ask(access, spec, "create table notes.y (i int) encrypted=no")
    finally:
        await harness.close()


async def test_without_the_platforms_key_nothing_starts(tmp_path: Path) -> None:
    harness = await open_mariadb(tmp_path)
    try:
        spec = encrypted(harness, 1)
        await harness.engine.create(spec)
        await harness.engine.rest(spec.id)
        key = tmp_path / "secret.key"
        kept = key.read_bytes()
        key.write_bytes(bytes(len(kept)))
        with pytest.raises(EngineError, match="sealed with another key"):
            await harness.engine.ensure(spec)
        key.write_bytes(kept)
        await harness.engine.ensure(spec)
    finally:
        await harness.close()
