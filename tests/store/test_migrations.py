"""Every migration, up and down; many processes at once; nothing to do."""

import asyncio
import runpy
import sys
from collections.abc import AsyncIterator

import pytest

from roost.store import migrate
from roost.store.pool import connect
from tests.support.database import DatabaseServer
from tests.support.schema import describe

REVISIONS = sorted(path.name[:4] for path in migrate.VERSIONS.glob("[0-9]*.py"))


@pytest.fixture
async def empty_url(database_server: DatabaseServer) -> AsyncIterator[str]:
    async with database_server.database("template0") as url:
        yield url


async def test_each_goes_on_from_the_one_with_the_number_before() -> None:
    """A new database takes them in this order, without asking them."""
    chain = [runpy.run_path(str(path)) for path in migrate.revisions()]
    assert [step["revision"] for step in chain] == REVISIONS
    assert [step["down_revision"] for step in chain] == [None, *REVISIONS[:-1]]


async def test_down_leaves_nothing_and_up_again_makes_the_same(empty_url: str) -> None:
    empty = await describe(empty_url)
    await migrate.upgrade(empty_url)
    full = await describe(empty_url)
    await migrate.downgrade(empty_url, "base")
    assert await describe(empty_url) == empty
    await migrate.upgrade(empty_url)
    assert await describe(empty_url) == full
    assert len(full) > len(empty)


async def test_each_step_down_takes_back_exactly_its_step_up(empty_url: str) -> None:
    await migrate.upgrade(empty_url)
    after = {}
    for revision in reversed(REVISIONS[:-1]):
        await migrate.downgrade(empty_url, revision)
        after[revision] = await describe(empty_url)
    for revision in REVISIONS[:-1]:
        await migrate.upgrade(empty_url, revision)
        assert await describe(empty_url) == after[revision], revision


async def test_a_new_database_is_what_alembic_makes(empty_url: str) -> None:
    await migrate.upgrade(empty_url)
    fresh = await describe(empty_url)
    await migrate.downgrade(empty_url, REVISIONS[0])
    await migrate.upgrade(empty_url)
    assert await describe(empty_url) == fresh


async def test_processes_may_migrate_at_once(empty_url: str) -> None:
    script = "import asyncio, sys; from roost.store import migrate; "
    script += "asyncio.run(migrate.upgrade(sys.argv[1]))"
    runs = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", script, empty_url)
        for _ in range(3)
    ]
    assert [await run.wait() for run in runs] == [0, 0, 0]
    connection = await connect(empty_url)
    assert await migrate.current(connection) == migrate.head()
    await connection.close()


async def test_a_start_imports_no_alembic(database_url: str, empty_url: str) -> None:
    script = "import asyncio, sys; from roost.store import migrate; "
    script += "asyncio.run(migrate.upgrade(sys.argv[1])); "
    script += "sys.exit('alembic' in sys.modules or 'sqlalchemy' in sys.modules)"
    for url in (database_url, empty_url):
        run = await asyncio.create_subprocess_exec(sys.executable, "-c", script, url)
        assert await run.wait() == 0


async def test_a_newer_database_is_refused(database_url: str) -> None:
    connection = await connect(database_url)
    await connection.execute("update alembic_version set version_num = '9999'")
    await connection.close()
    with pytest.raises(RuntimeError, match="newer than this program"):
        await migrate.upgrade(database_url)
