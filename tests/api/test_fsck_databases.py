"""`roost fsck` of managed databases."""

from collections.abc import AsyncIterator

import pytest

from roost.app.fsck import check_all
from roost.app.roost import Roost, open_roost
from roost.resources.databases import name_queries
from roost.resources.databases.name_queries import ZoneRow
from roost.resources.databases.name_service import OWNER, find_names, make_zone
from roost.resources.domains.engine import RRset
from roost.resources.domains.settings import Dns
from roost.resources.domains.zone_service import digest, platform_zone
from tests.support.database import DatabaseServer
from tests.support.database_stage import DatabaseStage
from tests.support.resolving import answers, where
from tests.support.server import simulated
from tests.support.stage import Stage


@pytest.fixture(scope="module")
async def databases(
    database_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[DatabaseStage]:
    """Without a worker."""
    async with (
        database_server.database() as url,
        open_roost(simulated(tmp_path_factory.mktemp("roost"), url)) as roost,
    ):
        yield DatabaseStage(Stage(roost))


async def findings(roost: Roost, database_id: int, repair: bool = False) -> list[str]:
    lines: list[str] = []
    await check_all(roost, repair, lines.append)
    return [line for line in lines if f"database {database_id} " in line]


async def test_what_is_well_is_not_told(databases: DatabaseStage) -> None:
    database_id = await databases.database()
    await databases.backup(database_id)
    assert await findings(databases.stage.roost, database_id) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("delete from managed_database where id = $1", "is on the host, but does not exist"),
        ("update managed_database set made = false where id = $1", "failed, but is on the host"),
        (
            "update managed_database set deleting = true where id = $1",
            "is being deleted, but no job works on it",
        ),
        (
            "update managed_database set status = 'updating' where id = $1",
            "is updating, but no job works on it",
        ),
    ],
)
async def test_rows_that_do_not_fit(databases: DatabaseStage, change: str, told: str) -> None:
    database_id, roost = await databases.database(), databases.stage.roost
    await roost.store.execute(change, database_id)
    found = await findings(roost, database_id)
    assert len(found) == 1
    assert told in found[0]
    await findings(roost, database_id, repair=True)
    assert await findings(roost, database_id) == []


async def test_logs_that_are_gone(databases: DatabaseStage) -> None:
    roost, engine = databases.stage.roost, databases.engine
    database_id = await databases.database()
    await databases.backup(database_id)
    assert (await databases.known(database_id)).oldest_moment is not None
    await engine.lose_logs(database_id)
    [found] = await findings(roost, database_id)
    assert "has lost 1 of the binary logs" in found
    await findings(roost, database_id, repair=True)
    assert await findings(roost, database_id) == []
    assert (await databases.known(database_id)).oldest_moment is None


async def test_servers_and_backups_that_do_not_fit(databases: DatabaseStage) -> None:
    roost, engine = databases.stage.roost, databases.engine
    down, extra, lost, gone = [await databases.database() for _ in range(4)]
    await engine.crash(down)
    await engine.back_up(extra, 5, replica=False)
    backup_id = await databases.backup(lost)
    await engine.delete_backup(lost, backup_id)
    await engine.lose(gone)
    for database_id, told in (
        (down, "is active, but does not run"),
        (extra, "has a backup 5 on the host that does not exist"),
        (lost, f"has lost its backup {backup_id}"),
        (gone, "has lost its data"),
    ):
        found = await findings(roost, database_id)
        assert len(found) == 1
        assert told in found[0]
    await findings(roost, gone, repair=True)
    left = [each for each in (down, extra, lost, gone) if await findings(roost, each)]
    assert left == [gone]


async def tell_names(roost: Roost) -> None:
    """The name server knows all databases."""
    zone = make_zone(roost.services, await find_names(roost.store, roost.services), 7)
    await roost.services.get(Dns).engine.put_zone(zone)
    await name_queries.keep_zone(roost.store, ZoneRow("db.roost.internal", digest(zone), 7))


async def test_names_that_do_not_fit(databases: DatabaseStage) -> None:
    """One that leads elsewhere, and a zone that was the databases' once."""
    database_id, roost = await databases.database(), databases.stage.roost
    name = f"database-{database_id}.us-lake.db.roost.internal"
    dns = roost.services.get(Dns)
    await tell_names(roost)
    assert await answers(where(roost), name, "A") == ["192.0.2.1"]
    assert await named_wrongly(roost) == []
    wrong = RRset(f"{name}.", "A", 300, frozenset(["192.0.2.66"]))
    altered = platform_zone("db.roost.internal", OWNER, [wrong], "x", dns.nameservers, 7)
    await dns.engine.put_zone(altered)
    former = platform_zone("former.internal", OWNER, [], "x", dns.nameservers, 7)
    await dns.engine.put_zone(former)
    found = await named_wrongly(roost, repair=True)
    assert [line for line in found if "zone db.roost.internal of databases: " in line]
    assert [line for line in found if "zone former.internal of databases is nobody's" in line]
    assert await named_wrongly(roost) == []
    assert await answers(where(roost), name, "A") == ["192.0.2.1"]


async def named_wrongly(roost: Roost, repair: bool = False) -> list[str]:
    lines: list[str] = []
    await check_all(roost, repair, lines.append)
    return [line for line in lines if "of databases" in line]
