"""What PostgreSQL servers let the user of an account do, and what becomes of servers that die."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from roost.core.engine import EngineError
from roost.engines.databases.folder import ids_in
from roost.engines.databases.programs import run
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.server import Server
from roost.resources.databases.engine import Access, DatabaseSpec, Fork
from tests.engines.conftest import ids
from tests.engines.database_harness import (
    FRIEND,
    PostgresqlHarness,
    open_postgresql,
    postgresql_client,
)
from tests.engines.postgresql_programs import AT_HOME, Programs
from tests.support.databases import next_second

pytestmark = pytest.mark.managed_postgresql

FORBIDDEN = (
    "copy (select 1) to '/tmp/written'",
    "copy (select 1) to program 'id'",
    "create temp table seen (text text); copy seen from '/etc/passwd'",
    "create temp table seen (text text); copy seen from program 'id'",
    "select pg_read_file('/etc/passwd')",
    "select pg_ls_dir('/')",
    "select lo_import('/etc/passwd')",
    "select pg_reload_conf()",
    "select pg_switch_wal()",
    "select pg_backup_start('mine')",
    "select pg_create_physical_replication_slot('mine')",
    "select pg_create_logical_replication_slot('mine', 'test_decoding')",
    "select rolpassword from pg_authid",
    "alter system set archive_mode = off",
    "alter role roostadmin superuser",
    "alter role roostadmin createrole",
    "alter role roostadmin replication",
    "alter role roostadmin bypassrls",
    "alter role postgres password 'mine'",
    "create role somebody",
    "grant pg_execute_server_program to roostadmin",
    "grant pg_read_server_files to roostadmin",
    "set session authorization postgres",
    "set role postgres",
    "set session_replication_role = replica",
    "set temp_file_limit = -1",
    "set archive_library = 'mine'",
    "create tablespace mine location '/tmp'",
    "create function mine() returns int as '/tmp/mine.so' language c",
    "create event trigger mine on ddl_command_end execute function pg_notify()",
    "create subscription mine connection 'host=127.0.0.1' publication theirs",
    "create extension file_fdw",
    "create extension dblink",
    "create extension postgres_fdw",
    "create extension adminpack",
    "alter database roost owner to roostadmin",
    "drop database roost",
    "drop database template1",
)
TRUSTED = (
    "citext",
    "hstore",
    "pg_trgm",
    "pgcrypto",
    "uuid-ossp",
    "btree_gist",
    "ltree",
    "unaccent",
)
SCHEMA = """
    create extension pg_trgm;
    create type rating as enum ('G', 'PG', 'R');
    create domain year as integer check (value between 1901 and 2155);
    create table language (id serial primary key, name text not null unique);
    create table film (
        id bigint generated always as identity primary key,
        title text not null,
        language_id int not null references language on delete restrict,
        rated rating default 'G',
        made year,
        extras text[],
        facts jsonb not null default '{}',
        changed timestamptz not null default now()
    ) partition by range (id);
    create table film_1 partition of film for values from (0) to (1000000);
    create index film_title on film using gin (title gin_trgm_ops);
    create function touch() returns trigger language plpgsql as
        $$ begin new.changed := now(); return new; end $$;
    create trigger touched before update on film for each row execute function touch();
    insert into language (name) values ('English'), ('Deutsch');
    insert into film (title, language_id, made, extras)
        select 'film ' || n, 1 + n % 2, 1990 + n % 30, array['trailer'] from
        generate_series(0, 99) n;
    create view shown as select f.title, l.name from film f join language l on l.id = f.language_id;
    create materialized view counted as select language_id, count(*) from film group by 1;
"""
"""Of what people have in databases of films, and of much else."""
REFUSED = (
    asyncpg.InsufficientPrivilegeError,
    asyncpg.InvalidParameterValueError,
    asyncpg.CantChangeRuntimeParamError,
    asyncpg.FeatureNotSupportedError,
    asyncpg.UndefinedFunctionError,
    asyncpg.ObjectInUseError,
    asyncpg.WrongObjectTypeError,
    asyncpg.InvalidObjectDefinitionError,
)


@pytest.fixture(scope="module")
async def postgresql(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[PostgresqlHarness]:
    harness = await open_postgresql(tmp_path_factory.mktemp("databases"))
    yield harness
    await harness.close()


@pytest.fixture(scope="module")
async def made(postgresql: PostgresqlHarness) -> AsyncIterator[tuple[DatabaseSpec, Access]]:
    spec = postgresql.spec(next(ids))
    yield spec, await postgresql.engine.create(spec)
    await postgresql.engine.delete(spec.id)


@pytest.mark.story
async def test_a_database_lives_and_leaves_nothing(postgresql: PostgresqlHarness) -> None:
    engine, spec = postgresql.engine, postgresql.spec(next(ids))
    access = await engine.create(spec)
    await postgresql.write(access, spec, "first")
    await engine.back_up(spec.id, 7, replica=False)
    await next_second()
    await postgresql.write(access, spec, "second")
    moment = await next_second()
    await postgresql.write(access, spec, "third")
    await postgresql.crash(spec.id)
    await engine.ensure(spec)
    assert await postgresql.read(access, spec) == "third"
    other = postgresql.spec(next(ids))
    forked = await engine.create(other, Fork(spec.id, moment))
    assert await postgresql.read(forked, other) == "second"
    for each in (spec, other):
        await engine.delete(each.id)
        assert await engine.inspect(each.id) is None
    assert not {spec.id, other.id} & set(ids_in(postgresql.root))
    assert await engine.list() == []


@pytest.mark.parametrize("statement", FORBIDDEN)
async def test_the_user_has_nothing_of_the_server(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access], statement: str
) -> None:
    spec, access = made
    client = await postgresql.connect(access, spec)
    try:
        with pytest.raises(REFUSED):
            await client.execute(statement)
    finally:
        await client.close()


async def test_the_server_changes_none_of_its_settings(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    """Nor puts anything in their place, which root would follow."""
    folder = Folder.of(postgresql.root, made[0].id)
    for path in (folder.path, folder.configuration, folder.access, folder.identities):
        assert path.stat().st_uid == 0
        assert not path.stat().st_mode & 0o022


@pytest.mark.parametrize("database", ["roost", "template1"])
async def test_what_is_not_the_users_it_cannot_connect_to(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access], database: str
) -> None:
    spec, access = made
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await _connect(access, spec, database=database)


async def test_it_does_not_replicate(made: tuple[DatabaseSpec, Access]) -> None:
    spec, access = made
    for how in ("database", "true"):
        with pytest.raises(asyncpg.PostgresError):
            await _connect(access, spec, server_settings={"replication": how})


async def test_it_owns_what_it_makes(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    spec, access = made
    await postgresql.ask(
        access,
        spec,
        "drop database if exists shop",
        "create database shop",
        "create schema if not exists own",
        "create table if not exists own.stock (id int primary key, name text)",
    )
    shop = await _connect(access, spec, database="shop")
    try:
        for name in TRUSTED:
            await shop.execute(f'create extension "{name}"')
        assert await shop.fetchval("show data_checksums") == "on"
        assert await shop.fetchval("show server_encoding") == "UTF8"
    finally:
        await shop.close()
    await postgresql.ask(access, spec, "drop database shop")


async def test_nobody_comes_without_tls_or_believes_another_authority(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    spec, access = made
    with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
        await postgresql.connect(access, spec, tls=False)
    with pytest.raises(ssl.SSLCertVerificationError):
        await _connect(access, spec, ssl=ssl.create_default_context())
    open_spec = replace(postgresql.spec(next(ids)), shape=replace(spec.shape, ssl_connection=False))
    try:
        reached = await postgresql.engine.create(open_spec)
        client = await postgresql.connect(reached, open_spec, tls=False)
        await client.close()
    finally:
        await postgresql.engine.delete(open_spec.id)


async def test_a_server_that_dies_at_work_is_back(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    """Its processes would go on with what they do, and hold its memory."""
    spec, access = made
    await postgresql.write(access, spec, "kept")
    client = await postgresql.connect(access, spec)
    work = asyncio.ensure_future(client.execute("select count(*) from generate_series(1, 1e10)"))
    try:
        while (await _activity(postgresql, spec)).count("active") < 1:
            await asyncio.sleep(0.05)
        await postgresql.crash(spec.id)
        await postgresql.engine.ensure(spec)
        assert await postgresql.read(access, spec) == "kept"
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        client.terminate()


async def test_who_goes_on_writing_is_shut_out(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    spec, access = made
    state = await postgresql.engine.inspect(spec.id)
    assert state is not None
    over = replace(spec, full=True, disk=state.used // 2)
    await postgresql.engine.limit_writes(over)
    assert not await postgresql.admits(access, spec)
    await postgresql.engine.limit_writes(replace(spec, full=True))
    assert await postgresql.admits(access, spec)
    await postgresql.engine.limit_writes(spec)
    await postgresql.write(access, spec, "again")


async def test_a_transaction_of_the_user_keeps_nothing_from_it(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    """Else it would write on, whatever its disk has."""
    spec, access = made
    holding = await _connect(access, spec, database="postgres")
    try:
        changes = "alter role roostadmin set work_mem = '1MB'; alter role roostadmin password 'own'"
        await holding.execute(f"begin; {changes}")
        await postgresql.engine.limit_writes(replace(spec, full=True))
        with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError)):
            await holding.execute("commit")
        with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
            await postgresql.write(access, spec, "more")
    finally:
        holding.terminate()
        await postgresql.engine.limit_writes(spec)


async def test_one_query_finds_no_more_room_than_its_plan_has(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    spec, access = made
    small = replace(spec, disk=600)
    await postgresql.engine.restart(small)
    sort = "select count(*) from (select g, repeat('x', 500) t from generate_series(1, 400000) g"
    with pytest.raises(asyncpg.DiskFullError):
        await postgresql.ask(access, spec, "set work_mem = '64kB'", f"{sort} order by 2, 1) s")
    await postgresql.write(access, spec, "goes on")
    await postgresql.engine.restart(spec)


async def test_a_backup_that_does_not_start_changes_nothing(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access]
) -> None:
    """Its data take the place of those at hand only when they are served."""
    spec, access = made
    await postgresql.write(access, spec, "kept")
    await postgresql.engine.back_up(spec.id, 9, replica=False)
    folder = Folder.of(postgresql.root, spec.id)
    hollow = folder.path / "hollow"
    hollow.mkdir()
    (hollow / "PG_VERSION").write_text(folder.major)
    (hollow / "pg_wal").mkdir()
    packing = f"tar -c -C {hollow} . | zstd -q -f -o {folder.backup(9)}"
    await run("packing", ("sh", "-c", packing))
    with pytest.raises(EngineError):
        await postgresql.engine.restore(spec, 9)
    assert await postgresql.read(access, spec) == "kept"
    await postgresql.engine.delete_backup(spec.id, 9)


async def test_programs_of_postgresql_dump_and_restore(
    postgresql: PostgresqlHarness, made: tuple[DatabaseSpec, Access], tmp_path: Path
) -> None:
    spec, access = made
    await postgresql.engine.set_allow_list(spec.id, (f"{AT_HOME}/32", *spec.allow_list))
    (tmp_path / "schema.sql").write_text(SCHEMA)
    programs, host = Programs(access, spec, tmp_path), access.hosts.primary
    try:
        for database in ("films", "copies"):
            await programs.ask(f"create database {database}")
        await programs.read("schema.sql", "films")
        await programs.call("pg_dump", "--format=custom", "--file=films.dump", database="films")
        restoring = ("--exit-on-error", "--no-owner", "films.dump")
        await programs.call("pg_restore", *restoring, database="copies")
        answer = await programs.ask("select count(*), max(title) from shown", "copies")
        assert answer == "100|film 99"
        with pytest.raises(EngineError):
            await programs.call("psql", "--command=select 1", database="copies", mode="disable")
        application = await asyncpg.connect(
            f"postgresql://{spec.username}:{spec.password}@{host.address}:{access.port}/copies"
            f"?sslmode=verify-full&sslrootcert={programs.authority}"
        )
        try:
            assert await application.fetchval("select count(*) from film where id > $1", 50) == 50
        finally:
            await application.close()
        for database in ("films", "copies"):
            await programs.ask(f"drop database {database}")
    finally:
        await postgresql.engine.set_allow_list(spec.id, spec.allow_list)


async def _activity(postgresql: PostgresqlHarness, spec: DatabaseSpec) -> str:
    node = Folder.of(postgresql.root, spec.id)
    asked = "select string_agg(state, ',') from pg_stat_activity where usename = 'roostadmin'"
    return await Server(node).value("", asked)


async def _connect(
    access: Access, spec: DatabaseSpec, **options: object
) -> "asyncpg.Connection[asyncpg.Record]":
    address = access.hosts.primary.address
    assert address is not None
    given = {"ssl": ssl.create_default_context(cadata=access.ca_certificate), **options}
    return await postgresql_client(
        (address, access.port),
        FRIEND,
        server_hostname=access.hosts.primary.name,
        user=spec.username,
        password=spec.password,
        **given,
    )
