"""A first start copies a data directory that has all tables."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roost.settings import Settings
from roost.store import Store, migrate, template
from roost.store.cluster import ClusterError
from roost.store.embedded import EmbeddedServer


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return template.cache()


@asynccontextmanager
async def opened(state: Path) -> AsyncIterator[Store]:
    store = await Store.open(Settings(state=state))
    try:
        yield store
    finally:
        await store.close()


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def make_folder(path: Path) -> None:
    path.mkdir(parents=True)


async def revision(store: Store) -> str | None:
    async with store.pool.acquire() as connection:
        return await migrate.current(connection)


async def test_states_are_copies_and_share_nothing(tmp_path: Path, cache: Path) -> None:
    async with opened(tmp_path / "first") as first:
        assert await revision(first) == migrate.head()
        await first.execute("create table mine ()")
        async with opened(tmp_path / "second") as second:
            assert await revision(second) == migrate.head()
            assert await second.fetchval("select to_regclass('mine')") is None
    assert names(cache) == [template.key()]


async def test_the_application_owns_its_tables(tmp_path: Path) -> None:
    async with opened(tmp_path / "state") as store:
        owners = "select distinct tableowner from pg_tables where schemaname = 'public'"
        assert [row["tableowner"] for row in await store.fetch(owners)] == ["roost"]


async def test_other_tables_have_another_template(monkeypatch: pytest.MonkeyPatch) -> None:
    before = template.key()
    monkeypatch.setattr(migrate, "revisions", lambda: [Path(__file__)])
    assert template.key() != before


async def test_a_folder_that_cannot_be_made_is_no_obstacle(tmp_path: Path, cache: Path) -> None:
    make_folder(cache.parent.parent)
    cache.parent.write_text("in the way")
    async with opened(tmp_path / "state") as store:
        assert await revision(store) is None


async def test_what_cannot_be_copied_is_named_and_leaves_no_data(tmp_path: Path) -> None:
    async def gone() -> Path:
        return tmp_path / "gone"

    server = EmbeddedServer(tmp_path / "state", prepared=gone)
    with pytest.raises(ClusterError, match=r"the prepared database cannot be copied: .*gone"):
        await server.start()
    assert not server.cluster.data.exists()


async def test_only_the_newest_are_kept(tmp_path: Path, cache: Path) -> None:
    for number in range(5):
        make_folder(cache / f"{number:032}")
    assert await template.prepared() == cache / template.key()
    assert len(names(cache)) == 4
