"""What MariaDB servers owe beyond the contract: TLS, no way out, and no trace of a kill."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from roost.engines.databases.addresses import Addresses
from roost.engines.databases.firewall import Firewall
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseShape, DatabaseSpec
from roost.resources.databases.rules import is_full
from tests.engines.conftest import ids
from tests.engines.database_harness import FRIEND, STRANGER, ZONE, MariadbHarness, open_mariadb

pytestmark = pytest.mark.mariadb

Database = tuple[DatabaseSpec, Access]


@pytest_asyncio.fixture(scope="module")
async def mariadb(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[MariadbHarness]:
    harness = await open_mariadb(tmp_path_factory.mktemp("mariadb"))
    yield harness
    await harness.close()


@pytest_asyncio.fixture(scope="module")
async def database(mariadb: MariadbHarness) -> AsyncIterator[Database]:
    """One for all tests that leave it as it is."""
    spec = mariadb.spec(next(ids))
    yield spec, await mariadb.engine.create(spec)
    await mariadb.engine.delete(spec.id)


async def test_a_look_before_the_first_database_warns_of_nothing(tmp_path: Path) -> None:
    """The watch may look while that is made, when the host has no rules of this state."""
    with capture_logs() as told:
        assert await Firewall(tmp_path).guarded() == frozenset()
    assert told == []


async def test_clients_connect_by_tls_only(mariadb: MariadbHarness, database: Database) -> None:
    spec, access = database
    cipher = await mariadb.ask(access, spec, "show status like 'Ssl_cipher'")
    assert str(cipher[0][1]).startswith("TLS_")
    with pytest.raises(pymysql.Error):
        await asyncio.to_thread(mariadb.connect, access, spec, FRIEND, tls=False)


async def test_plain_connections_where_they_are_allowed(mariadb: MariadbHarness) -> None:
    spec = mariadb.spec(next(ids))
    spec = replace(spec, shape=replace(spec.shape, ssl_connection=False))
    access = await mariadb.engine.create(spec)
    (await asyncio.to_thread(mariadb.connect, access, spec, FRIEND, tls=False)).close()
    await mariadb.engine.delete(spec.id)


@pytest.mark.parametrize(
    "attempt",
    [
        "update mysql.global_priv set Priv = '{}'",
        "select * from mysql.global_priv",
        "delete from mysql.user",
        "drop table mysql.db",
        "drop database mysql",
        "create table mysql.x (a int)",
        "insert into mysql.plugin values ('a', 'b')",
        "install soname 'ha_archive'",
        "create function f returns string soname 'x.so'",
        "grant super on *.* to roostadmin@'%'",
        "grant select on mysql.* to roostadmin@'%'",
        "grant all on mysql.* to roostadmin@'%'",
        "revoke show view on mysql.* from roostadmin@'%'",
        "revoke all privileges, grant option from roostadmin@'%'",
        "grant proxy on root@localhost to roostadmin@'%'",
        "create user x identified by 'y'",
        "create role r",
        "rename user root@localhost to root@'%'",
        "set password for root@localhost = password('x')",
        "create definer = root@localhost procedure own.p() update mysql.global_priv set Priv = ''",
        "create definer = root@localhost view own.v as select 1",
        "create definer = root@localhost event own.e on schedule every 1 second do select 1",
        "drop procedure sys.version_major",
        "create or replace view sys.version as select 1",
        "select 1 into outfile '/tmp/x'",
        "load data infile '/etc/passwd' into table own.t",
        "load data local infile '/etc/passwd' into table own.t",
        "set global read_only = 1",
        "set global general_log_file = '/tmp/x'",
        "set global secure_file_priv = ''",
        "set global local_infile = 1",
        "set session sql_log_bin = 0",
        "change master to master_host = 'x'",
        "reset master",
        "backup stage start",
        "flush privileges",
        "shutdown",
        "grant file on *.* to roostadmin@'%'",
        "grant read_only admin on *.* to roostadmin@'%'",
        "grant reload, shutdown, create user on *.* to roostadmin@'%'",
        "grant replication slave, replication client on *.* to roostadmin@'%'",
        "grant select on own.* to x identified by 'y'",
        "create user x identified by 'y' require none",
        "create or replace user roostadmin@'%' identified by 'y'",
        "alter user root@localhost identified by 'x'",
        "alter user roostadmin@'%' require none",
        "drop user root@localhost",
        "set default role all for root@localhost",
        "install plugin x soname 'ha_archive.so'",
        "uninstall plugin file_key_management",
        "uninstall soname 'auth_socket'",
        "create aggregate function f returns integer soname 'x.so'",
        "create server s foreign data wrapper mysql options (host '127.0.0.1', user 'root')",
        "create table own.far (a int) engine=FEDERATED connection='mysql://root@127.0.0.1/mysql/user'",
        "create table own.far (a int) engine=CONNECT table_type=DOS file_name='/etc/passwd'",
        "create trigger mysql.t before insert on mysql.user for each row set @a = 1",
        "create event mysql.e on schedule every 1 second do select 1",
        "create procedure mysql.p() select 1",
        "handler mysql.global_priv open",
        "lock tables mysql.global_priv write",
        "alter table mysql.global_priv engine=MyISAM",
        "rename table mysql.proc to own.proc",
        "truncate table mysql.general_log",
        "select authentication_string from mysql.user",
        "select * into dumpfile '/tmp/x' from own.t",
        "execute immediate 'set global read_only = 1'",
        "set global require_secure_transport = 0",
        "set global max_connections = 100000",
        "set global innodb_buffer_pool_size = 1073741824",
        "set global event_scheduler = 1",
        "set global init_connect = 'x'",
        "set global log_bin_trust_function_creators = 1",
        "set global rpl_semi_sync_master_enabled = 0",
        "set global gtid_slave_pos = '0-1-1'",
        "set session gtid_seq_no = 1",
        "set session server_id = 7",
        "set session binlog_format = 'STATEMENT'",
        "start slave",
        "stop slave",
        "reset slave all",
        "show slave status",
        "show binary logs",
        "show binlog events",
        "purge binary logs before now()",
        "binlog 'x'",
        "flush logs",
        "flush tables with read lock",
        "flush hosts",
        "flush ssl",
    ],
)
async def test_no_way_out(mariadb: MariadbHarness, database: Database, attempt: str) -> None:
    spec, access = database
    tables = ("create database if not exists own", "create table if not exists own.t (a text)")
    await mariadb.ask(access, spec, *tables)
    with pytest.raises(pymysql.Error):
        await mariadb.ask(access, spec, attempt)


@pytest.mark.parametrize("engine", ["InnoDB", "MyISAM"])
async def test_tables_are_nowhere_else(
    mariadb: MariadbHarness, database: Database, engine: str
) -> None:
    """Not at any place that the statement says, where no limit or backup would know of them."""
    spec, access = database
    made = await mariadb.ask(
        access,
        spec,
        "create database if not exists own",
        f"create or replace table own.out (a int) engine={engine} data directory='/tmp'",
        "show create table own.out",
    )
    assert "DATA DIRECTORY" not in str(made[0][1])


async def test_files_of_the_host_are_not_read(mariadb: MariadbHarness, database: Database) -> None:
    spec, access = database
    assert await mariadb.ask(access, spec, "select load_file('/etc/passwd')") == ((None,),)


async def test_servers_share_no_temporary_files(
    mariadb: MariadbHarness, database: Database
) -> None:
    """One that starts removes all that it finds of former sessions."""
    spec, access = database
    other = mariadb.spec(next(ids))

    def begin() -> "pymysql.Connection[pymysql.cursors.Cursor]":
        connection = mariadb.connect(access, spec)
        with connection.cursor() as cursor:
            cursor.execute("create database if not exists notes")
            cursor.execute("create temporary table notes.kept (id int) engine=MyISAM")
            cursor.execute("insert into notes.kept values (7)")
        return connection

    connection = await asyncio.to_thread(begin)
    await mariadb.engine.create(other)
    with connection, connection.cursor() as cursor:
        cursor.execute("select id from notes.kept")
        assert cursor.fetchall() == ((7,),)
        cursor.execute("drop temporary table notes.kept")
    await mariadb.engine.delete(other.id)


async def test_open_connections_end_with_their_permission(mariadb: MariadbHarness) -> None:
    spec = mariadb.spec(next(ids))
    access = await mariadb.engine.create(spec)
    connection = await asyncio.to_thread(mariadb.connect, access, spec)
    await asyncio.to_thread(connection.query, "select 1")
    await mariadb.engine.set_allow_list(spec.id, ())
    with pytest.raises(pymysql.Error):
        await asyncio.to_thread(connection.query, "select 1")
    await mariadb.engine.delete(spec.id)


async def test_a_full_disk_stays_as_it_is(mariadb: MariadbHarness) -> None:
    """What is connected ends, and what the user removes is free."""
    spec = mariadb.spec(next(ids))
    access = await mariadb.engine.create(spec)
    await mariadb.ask(
        access,
        spec,
        "create database own",
        "create table own.t (id int primary key, a longblob)",
        "create table own.kept as select 1 as id",
        "create procedure own.p() insert into own.t values (1, '')",
    )
    state = await mariadb.engine.inspect(spec.id)
    assert state is not None
    small = replace(spec, disk=state.used + 160)
    await mariadb.engine.restart(small)
    async with asyncio.timeout(60), aclosing(mariadb.engine.fillings()) as fillings:
        first = asyncio.ensure_future(anext(fillings))
        for number in range(2, 62):
            await mariadb.ask(
                access, spec, f"insert into own.t values ({number}, repeat('x', 4000000))"
            )
        assert await first == spec.id
    connection = await asyncio.to_thread(mariadb.connect, access, spec)
    await mariadb.engine.limit_writes(replace(small, full=True))
    with pytest.raises(pymysql.Error):
        await asyncio.to_thread(connection.query, "select 1")
    for attempt in (
        "insert into own.t values (1, '')",
        "update own.t set a = '' where id = 2",
        "replace into own.t values (2, '')",
        "create table own.more (id int)",
        "create temporary table own.more (id int)",
        "alter table own.t add column b int",
        "optimize table own.t",
        "create database more",
        "call own.p()",
        "grant insert on own.t to roostadmin@'%'",
        "set global read_only = 0",
    ):
        with pytest.raises(pymysql.Error):
            await mariadb.ask(access, spec, attempt, "select 1")
    await mariadb.ask(access, spec, "delete from own.kept", "drop table own.kept")
    assert await mariadb.ask(access, spec, "select count(*) from own.t") == ((60,),)
    await mariadb.ask(access, spec, "truncate table own.t")
    await mariadb.engine.free(spec.id)
    emptied = await mariadb.engine.inspect(spec.id)
    assert emptied is not None
    assert not is_full(emptied.used, small.disk, was_full=True)
    await mariadb.engine.limit_writes(small)
    await mariadb.ask(access, spec, "call own.p()", "create table own.more (id int)")
    await mariadb.engine.delete(spec.id)


@pytest.mark.parametrize(
    ("networks", "friend", "stranger"),
    [
        ((), False, False),
        (("127.0.0.2/31",), True, True),
        (("127.0.0.2/32", "2001:db8::/64"), True, False),
        (("::/0",), False, False),
        (("0.0.0.0/0",), True, True),
        (("127.0.0.0/8", "127.0.0.3/32"), True, True),
    ],
)
async def test_whom_a_list_lets_in(
    mariadb: MariadbHarness,
    database: Database,
    networks: tuple[str, ...],
    friend: bool,
    stranger: bool,
) -> None:
    spec, access = database
    await mariadb.engine.set_allow_list(spec.id, networks)
    admitted = [await mariadb.admits(access, spec, each) for each in (FRIEND, STRANGER)]
    await mariadb.engine.set_allow_list(spec.id, spec.allow_list)
    assert admitted == [friend, stranger]


@pytest.mark.parametrize(
    ("networks", "admitted"),
    [
        (("::1/128",), True),
        (("2001:db8::/32",), False),
        (("127.0.0.0/8",), False),
        (("::/0",), True),
        (("0.0.0.0/0",), True),
        ((), False),
    ],
)
async def test_whom_a_list_lets_in_by_ipv6(
    ipv6: tuple[MariadbDatabases, DatabaseSpec, Access], networks: tuple[str, ...], admitted: bool
) -> None:
    """An open connection ends with its permission, too."""
    engine, spec, access = ipv6
    await engine.set_allow_list(spec.id, ("::1/128",))
    reader, writer = await asyncio.open_connection("::1", access.port)
    assert await reader.read(1)
    await engine.set_allow_list(spec.id, networks)
    try:
        if admitted:
            _, other = await asyncio.open_connection("::1", access.port)
            other.close()
        else:
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("::1", access.port)
            writer.write(b"x")
            with pytest.raises(ConnectionResetError):
                await reader.read()
    finally:
        writer.close()


@pytest_asyncio.fixture(scope="module")
async def ipv6(
    mariadb: MariadbHarness, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[MariadbDatabases, DatabaseSpec, Access]]:
    """A database that listens on ::1."""
    root = tmp_path_factory.mktemp("ipv6")
    addresses = Addresses.of("::1", None, None, None, ZONE)
    engine = MariadbDatabases(root, mariadb.version, addresses, root / "secret.key")
    spec = mariadb.spec(next(ids))
    try:
        yield engine, spec, await engine.create(spec)
    finally:
        await engine.shut_down()


async def test_names_of_ipv6_addresses(
    ipv6: tuple[MariadbDatabases, DatabaseSpec, Access],
) -> None:
    assert [host.address for host in ipv6[2].hosts.named] == ["::1"]


async def test_secrets_are_no_arguments_and_in_no_file(
    mariadb: MariadbHarness, database: Database
) -> None:
    spec, _ = database
    folder = Folder.of(mariadb.root, spec.id)
    process = Server(folder).process()
    assert process is not None
    listed = await asyncio.to_thread(
        subprocess.run, ["ps", "-eo", "args"], capture_output=True, check=True, text=True
    )
    assert spec.password not in listed.stdout
    for path in (folder.configuration, folder.log):
        assert spec.password not in path.read_text()


async def test_rules_that_somebody_flushed_are_missed(
    mariadb: MariadbHarness, database: Database
) -> None:
    """A database without rules would be open to everybody."""
    spec, access = database
    await mariadb.engine._host.firewall.remove()
    state = await mariadb.engine.inspect(spec.id)
    assert state is not None
    assert not state.running
    await mariadb.engine.ensure(spec)
    assert await mariadb.admits(access, spec)
    assert not await mariadb.admits(access, spec, "127.0.0.3")


@pytest.mark.parametrize("seconds", [0.05, 0.3, 0.6, 0.9, 1.2])
async def test_a_restore_that_is_killed_leaves_one_or_the_other(
    mariadb: MariadbHarness, seconds: float
) -> None:
    spec = mariadb.spec(next(ids))
    access = await mariadb.engine.create(spec)
    await mariadb.write(access, spec, "first")
    await mariadb.engine.back_up(spec.id, 1, replica=False)
    await mariadb.write(access, spec, "second")
    work = asyncio.create_task(mariadb.engine.restore(spec, 1))
    await asyncio.wait({work}, timeout=seconds)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    await mariadb.reopen().ensure(spec)
    assert await mariadb.read(access, spec) in ("first", "second")
    await mariadb.engine.restore(spec, 1)
    assert await mariadb.read(access, spec) == "first"
    await mariadb.engine.delete(spec.id)


async def test_what_is_not_offered_is_told(mariadb: MariadbHarness) -> None:
    shape = mariadb.spec(1).shape
    for changed, field in (
        (replace(shape, server="mysql", version="8.0.30"), "engine"),
        (replace(shape, version="10.1"), "engine"),
    ):
        objection = mariadb.engine.objection(changed)
        assert objection is not None
        assert objection.field == field


@pytest.mark.parametrize("listen", ["0.0.0.0", "::", "::1"])
async def test_clusters_need_an_address_to_forward_to(tmp_path: Path, listen: str) -> None:
    engine = MariadbDatabases(
        tmp_path, "10.11.6", Addresses.of(listen, None, None, None, ZONE), tmp_path / "secret.key"
    )
    shape = DatabaseShape("mariadb", "10.11", 3, "semi_synch", False, True)
    objection = engine.objection(shape)
    assert objection is not None
    assert objection.field == "cluster_size"
    assert engine.objection(replace(shape, cluster_size=1)) is None
