"""Every migration, up and down; many processes at once; nothing to do."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
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


async def test_down_leaves_nothing_and_up_again_makes_the_same(empty_url: str) -> None:
    empty = await describe(empty_url)
    await migrate.upgrade(empty_url)
    full = await describe(empty_url)
    await migrate.downgrade(empty_url, migrate.BASE)
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


async def test_instances_get_disks_and_a_config(empty_url: str) -> None:
    """Revision 0011, with an instance of each kind, and back again."""
    await migrate.upgrade(empty_url, "0010")
    connection = await connect(empty_url)
    try:
        await connection.execute(_INSTANCES)
        before = await connection.fetch(_OLD_COLUMNS)
        await migrate.upgrade(empty_url)
        assert [tuple(row) for row in await connection.fetch(_DISKS)] == [
            ("web", "sda", "Debian 12 Disk", "ready", 25088, "ext4", True, b"x"),
            ("web", "sdb", "512 MB Swap Image", "ready", 512, "swap", True, None),
            ("new", "sda", "other/image Disk", "not ready", 25600, "ext4", False, b"y"),
        ]
        assert [tuple(row) for row in await connection.fetch(_CONFIGS)] == [
            ("web", "My Debian 12 Disk Profile", True, ["public", "vlan back 10.0.0.1/24"]),
            ("new", "My other/image Disk Profile", True, []),
        ]
        await migrate.downgrade(empty_url, "0010")
        rows = await connection.fetch(_OLD_COLUMNS)
        assert [tuple(row)[:4] for row in rows] == [tuple(row)[:4] for row in before]
        assert [len(json.loads(row["interfaces"])) for row in rows] == [2, 0, 0]
    finally:
        await connection.close()


async def test_users_whose_names_differ_by_case_only(empty_url: str) -> None:
    """Revision 0018: the oldest of each keeps it, and clients are numbered by age."""
    await migrate.upgrade(empty_url, "0016")
    connection = await connect(empty_url)
    try:
        await connection.execute(_USERS)
        await migrate.upgrade(empty_url)
        rows = await connection.fetch("select id, username from api_user order by id")
        assert [tuple(row) for row in rows] == [
            (1, "ru-ro"),
            (2, "RU-RO-2x1"),
            (3, "ada"),
            (4, "Ada-4"),
            (5, "ADA-5"),
            (6, "ru-ro-2"),
            (7, "a" * 32),
            (8, "A" * 26 + "-8"),
        ]
        clients = await connection.fetch("select id from oauth_client order by number")
        assert [row["id"] for row in clients] == ["old", "new"]
        number = await connection.fetchval(
            "insert into oauth_client (id, account_id, label, redirect_uri, public, secret_hash,"
            " created) values ('newest', 1, '', '', true, '', now()) returning number"
        )
        assert number == 3
        acts = await connection.fetch("select user_id from event order by id")
        assert [row["user_id"] for row in acts] == [3, None]
    finally:
        await connection.close()


async def test_use_gets_the_region_that_is_known(empty_url: str) -> None:
    """Revision 0072: the instance's, else its last one in the ledger; and back again."""
    await migrate.upgrade(empty_url, "0010")
    connection = await connect(empty_url)
    try:
        await connection.execute(_INSTANCES)
        await migrate.upgrade(empty_url, "0071")
        await connection.execute(_USE)
        await migrate.upgrade(empty_url, "0072")
        sql = "select region, bytes_in, bytes_out from usage_month order by bytes_in"
        rows = [tuple(row) for row in await connection.fetch(sql)]
        assert rows == [("us-lake", 1, 10), ("br-south", 2, 20), ("", 3, 30)]
        await connection.execute(
            "insert into usage_month (account_id, month, compute_id, region, bytes_in, bytes_out)"
            " values (1, '2026-01-01', 77, 'us-lake', 5, 50)"
        )
        await migrate.downgrade(empty_url, "0071")
        sql = "select bytes_in, bytes_out from usage_month order by bytes_in"
        rows = [tuple(row) for row in await connection.fetch(sql)]
        assert rows == [(1, 10), (3, 30), (7, 70)]
    finally:
        await connection.close()


_USE = """
    insert into ledger (account_id, service, resource_id, at, label, plan, region, quantity, tags)
    values (1, 'compute', 77, '2026-01-01', 'gone', 'p', 'us-lake', 1, '{}'),
        (1, 'compute', 77, '2026-01-02', 'gone', 'p', 'br-south', 1, '{}'),
        (1, 'volume', 88, '2026-01-02', 'other', 'p', 'br-south', 1, '{}');
    insert into usage_month (account_id, month, compute_id, bytes_in, bytes_out)
    values (1, '2026-01-01', (select min(id) from compute_instance), 1, 10),
        (1, '2026-01-01', 77, 2, 20), (1, '2026-01-01', 88, 3, 30);
"""
_USERS = """
    insert into account (id, euuid, created) overriding system value
    values (1, gen_random_uuid(), now());
    insert into api_user (id, account_id, username, created) overriding system value
    select n, 1, name, now() from unnest(array['ru-ro', 'RU-RO', 'ada', 'Ada', 'ADA', 'ru-ro-2',
        repeat('a', 32), repeat('A', 32)]) with ordinality as named (name, n);
    insert into oauth_client (id, account_id, label, redirect_uri, public, secret_hash, created)
    values ('new', 1, '', '', true, '', '2026-01-02'), ('old', 1, '', '', true, '', '2026-01-01');
    insert into event (account_id, username, action, status, created)
    values (1, 'ada', 'x', 'notification', now()), (1, 'gone', 'x', 'notification', now());
"""
_INSTANCES = """
    insert into account (id, euuid, created) overriding system value
    values (1, gen_random_uuid(), now());
    insert into image (id, label, created, updated, created_by, size, type, status)
    values ('roost/debian12', 'Debian 12', now(), now(), 'roost', 1800, 'manual', 'available');
    insert into compute_instance (account_id, label, region, image, type, status, created, updated,
        disk, memory, vcpus, gpus, transfer, swap_size, alerts, interfaces, host_uuid, setup,
        provisioned)
    select 1, label, 'us-lake', image, 'g1-nano-1', 'offline', now(), now(), 25600, 1024, 1, 0,
        1000, swap_size, '{}', interfaces, gen_random_uuid(), setup, provisioned
    from (values
        ('web', 'roost/debian12', 512, 'x'::bytea, true, json '[{"purpose":"public","label":null},
            {"purpose":"vlan","label":"back","ipam_address":"10.0.0.1/24","primary":false}]'),
        ('new', 'other/image', 0, 'y', false, '[]'),
        ('bare', null, 0, '', false, '[]')
    ) as v (label, image, swap_size, setup, provisioned, interfaces)
"""
_OLD_COLUMNS = """
    select label, swap_size, provisioned, setup, interfaces from compute_instance order by id
"""
_DISKS = """
    select i.label, v.slot, d.label, d.status, d.size, d.filesystem, d.made, d.setup
    from compute_instance i join compute_disk d on d.compute_id = i.id
    join compute_config_device v on v.disk_id = d.id order by i.id, v.slot
"""
_CONFIGS = """
    select i.label, c.label, i.config_id = c.id, array(
        select concat_ws(' ', f.purpose, f.label, f.ipam_address)
        from compute_interface f where f.config_id = c.id order by f.position)
    from compute_instance i join compute_config c on c.compute_id = i.id order by i.id
"""


async def test_an_upgrade_makes_what_a_new_database_has(empty_url: str) -> None:
    await migrate.upgrade(empty_url)
    fresh = await describe(empty_url)
    await migrate.downgrade(empty_url, REVISIONS[0])
    await migrate.upgrade(empty_url)
    assert await describe(empty_url) == fresh


async def test_a_revision_that_fails_changes_nothing(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate.upgrade(empty_url)
    before = await describe(empty_url)
    first, second = tmp_path / "9998_first.py", tmp_path / "9999_second.py"
    first.write_text('UPGRADE = "create table mine ()"')
    second.write_text('UPGRADE = "select 1 / 0"')
    known = migrate.revisions()
    monkeypatch.setattr(migrate, "revisions", lambda: [*known, first, second])
    with pytest.raises(asyncpg.DivisionByZeroError):
        await migrate.upgrade(empty_url)
    assert await describe(empty_url) == before
    connection = await connect(empty_url)
    assert await migrate.current(connection) == REVISIONS[-1]
    await connection.close()


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


async def test_a_newer_database_is_refused(database_url: str) -> None:
    connection = await connect(database_url)
    await connection.execute("update alembic_version set version_num = '9999'")
    await connection.close()
    with pytest.raises(migrate.RevisionError, match="newer than this program"):
        await migrate.upgrade(database_url)
