"""What the contract suite of databases needs from an engine beside the Protocol itself."""

import asyncio
import os
import signal
import ssl
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from socket import create_connection
from typing import Any, Protocol

import asyncpg
import pymysql
import pytest

from roost.clock import Clock
from roost.engines.databases.addresses import Addresses
from roost.engines.databases.folder import Folder as AnyFolder
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.prerequisites import check, server_version
from roost.engines.postgresql import prerequisites as postgresql_prerequisites
from roost.engines.postgresql.databases import PostgresqlDatabases
from roost.engines.postgresql.folder import Folder as PostgresqlFolder
from roost.engines.postgresql.releases import versions
from roost.engines.processes import find_process
from roost.engines.simulated.databases import SimulatedDatabases
from roost.resources.databases.engine import (
    Access,
    DatabaseEngine,
    DatabaseShape,
    DatabaseSpec,
)

HOST = "127.0.0.1"
FRIEND, STRANGER = "127.0.0.2", "127.0.0.3"
"""Addresses from which clients come."""
ADMIN = "roostadmin"
ZONE = "local.db.roost.internal"


def spec_of(database_id: int, server: str, version: str, nodes: int = 1) -> DatabaseSpec:
    """Small nodes that let the friend in."""
    replication = "none" if nodes == 1 else "semi_synch"
    shape = DatabaseShape(server, version, nodes, replication, False, True)
    allowed = (f"{FRIEND}/32",)
    return DatabaseSpec(database_id, shape, 1, 1024, 25600, allowed, ADMIN, "abcDEF123456")


class DatabaseHarness(Protocol):
    """A database engine of one region with its own state directory."""

    @property
    def engine(self) -> DatabaseEngine: ...

    def reopen(self) -> DatabaseEngine:
        """Another engine object over the same state, as after a restart or in a worker."""

    def spec(self, database_id: int) -> DatabaseSpec: ...

    async def admits(self, access: Access, spec: DatabaseSpec, source: str = FRIEND) -> bool:
        """Whether a client at that address can log in as the specification says."""

    async def write(self, access: Access, spec: DatabaseSpec, mark: str) -> None:
        """Change what is in a database."""

    async def read(self, access: Access, spec: DatabaseSpec) -> str:
        """The last mark that was written, or ""."""

    async def clear(self, access: Access, spec: DatabaseSpec) -> None:
        """Remove the mark."""

    async def crash(self, database_id: int) -> None:
        """Let its servers die without a word."""

    async def close(self) -> None: ...


class SimulatedDatabaseHarness:
    def __init__(self, state_dir: Path, nodes: int = 1) -> None:
        self._state_dir = state_dir
        self._nodes = nodes
        self.engine = self.reopen()

    def reopen(self) -> SimulatedDatabases:
        return SimulatedDatabases(self._state_dir, 0.03, ZONE, Clock())

    def spec(self, database_id: int) -> DatabaseSpec:
        return spec_of(database_id, "mysql", "8.0.30", self._nodes)

    async def admits(self, access: Access, spec: DatabaseSpec, source: str = FRIEND) -> bool:
        return await self.engine.admits(spec.id, spec.username, spec.password, source)

    async def write(self, access: Access, spec: DatabaseSpec, mark: str) -> None:
        await self.engine.write(spec.id, mark)

    async def read(self, access: Access, spec: DatabaseSpec) -> str:
        return await self.engine.read(spec.id)

    async def clear(self, access: Access, spec: DatabaseSpec) -> None:
        await self.engine.write(spec.id, "")

    async def crash(self, database_id: int) -> None:
        await self.engine.crash(database_id)

    async def close(self) -> None:
        await self.engine.shut_down()
        await self.engine.close()


@dataclass
class MariadbHarness:
    """Servers on the loopback addresses of this host."""

    root: Path
    version: str
    nodes: int = 1
    """Of each database."""

    def __post_init__(self) -> None:
        self.engine = self.reopen()

    def reopen(self) -> MariadbDatabases:
        addresses = Addresses.of(HOST, None, None, None, ZONE)
        return MariadbDatabases(self.root, self.version, addresses, self.root / "secret.key")

    def spec(self, database_id: int) -> DatabaseSpec:
        return spec_of(database_id, "mariadb", self.version.rpartition(".")[0], self.nodes)

    def connect(
        self, access: Access, spec: DatabaseSpec, source: str = FRIEND, *, tls: bool = True
    ) -> "pymysql.Connection[pymysql.cursors.Cursor]":
        """Raises pymysql.Error when the client is not let in; it verifies the name."""
        authority = self.root / "seen-by-clients.pem"
        writing = authority.with_suffix(f".{threading.get_ident()}")
        writing.write_text(access.ca_certificate)
        writing.replace(authority)  # Clients connect in several threads at once.
        host = access.hosts.primary
        assert host.address is not None
        client = pymysql.connect(
            host=host.name,
            user=spec.username,
            password=spec.password,
            read_timeout=20,
            autocommit=True,
            ssl_ca=str(authority) if tls else None,
            ssl_verify_identity=tls or None,
            ssl_disabled=not tls,
            defer_connect=True,
        )
        connect_to(client, host.address, access.port, source)
        return client

    async def admits(self, access: Access, spec: DatabaseSpec, source: str = FRIEND) -> bool:
        def attempt() -> bool:
            try:
                self.connect(access, spec, source).close()
            except pymysql.Error:
                return False
            return True

        return await asyncio.to_thread(attempt)

    async def write(self, access: Access, spec: DatabaseSpec, mark: str) -> None:
        await self.ask(
            access,
            spec,
            "create database if not exists notes",
            "create or replace table notes.mark (text varchar(100))",
            f"insert into notes.mark values ('{mark}')",
        )

    async def read(self, access: Access, spec: DatabaseSpec) -> str:
        tables = "select count(*) from information_schema.tables where table_schema = 'notes'"
        if await self.ask(access, spec, tables) == ((0,),):
            return ""
        return str((await self.ask(access, spec, "select text from notes.mark"))[0][0])

    async def clear(self, access: Access, spec: DatabaseSpec) -> None:
        await self.ask(access, spec, "drop database notes")

    async def ask(
        self, access: Access, spec: DatabaseSpec, *statements: str
    ) -> tuple[tuple[object, ...], ...]:
        """What the last statement answers."""

        def work() -> tuple[tuple[object, ...], ...]:
            with self.connect(access, spec) as connection, connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)
                return tuple(cursor.fetchall())

        return await asyncio.to_thread(work)

    async def crash(self, database_id: int) -> None:
        for node in Folder.of(self.root, database_id).nodes():
            await kill(node)

    async def close(self) -> None:
        await self.engine.shut_down()


@dataclass
class PostgresqlHarness:
    """Servers on the loopback addresses of this host."""

    root: Path
    versions: dict[str, str]
    nodes: int = 1
    """Of each database."""

    def __post_init__(self) -> None:
        self.engine = self.reopen()

    def reopen(self) -> PostgresqlDatabases:
        addresses = Addresses.of(HOST, None, None, None, ZONE)
        return PostgresqlDatabases(self.root, self.versions, addresses)

    def spec(self, database_id: int) -> DatabaseSpec:
        spec = spec_of(database_id, "postgresql", max(self.versions, key=int), self.nodes)
        how = ("none", "local") if self.nodes == 1 else ("asynch", "on")
        shape = replace(spec.shape, replication_type=how[0], commit_type=how[1])
        return replace(spec, shape=shape)

    async def connect(
        self, access: Access, spec: DatabaseSpec, source: str = FRIEND, *, tls: bool = True
    ) -> "asyncpg.Connection[asyncpg.Record]":
        """Raises OSError or asyncpg.PostgresError when the client is not let in; it verifies the
        name."""
        host = access.hosts.primary
        assert host.address is not None
        context = ssl.create_default_context(cadata=access.ca_certificate)
        return await postgresql_client(
            (host.address, access.port),
            source,
            server_hostname=host.name,
            ssl=context if tls else False,
            user=spec.username,
            password=spec.password,
        )

    async def admits(self, access: Access, spec: DatabaseSpec, source: str = FRIEND) -> bool:
        try:
            client = await self.connect(access, spec, source)
        except (OSError, asyncpg.PostgresError):
            return False
        await client.close()
        return True

    async def write(self, access: Access, spec: DatabaseSpec, mark: str) -> None:
        await self.ask(
            access,
            spec,
            "create table if not exists mark (text text); truncate mark;"
            f"insert into mark values ('{mark}')",
        )

    async def read(self, access: Access, spec: DatabaseSpec) -> str:
        client = await self.connect(access, spec)
        try:
            if await client.fetchval("select to_regclass('mark')") is None:
                return ""
            return str(await client.fetchval("select text from mark"))
        finally:
            await client.close()

    async def clear(self, access: Access, spec: DatabaseSpec) -> None:
        await self.ask(access, spec, "set default_transaction_read_only = off", "drop table mark")

    async def ask(self, access: Access, spec: DatabaseSpec, *statements: str) -> None:
        """Each by itself."""
        client = await self.connect(access, spec)
        try:
            for statement in statements:
                await client.execute(statement)
        finally:
            await client.close()

    async def crash(self, database_id: int) -> None:
        for node in PostgresqlFolder.of(self.root, database_id).nodes():
            await kill(node)

    async def close(self) -> None:
        await self.engine.shut_down()


async def postgresql_client(
    to: tuple[str, int],
    source: str,
    *,
    server_hostname: str,
    **options: Any,
) -> "asyncpg.Connection[asyncpg.Record]":
    """One that comes from an address, by a name that this machine cannot resolve."""
    loop = asyncio.get_running_loop()
    connect, secure = loop.create_connection, loop.start_tls

    async def create(*args: Any, **options: Any) -> Any:
        return await connect(args[0], *to, local_addr=(source, 0))

    async def start_tls(*args: Any, **options: Any) -> Any:
        return await secure(*args, **{**options, "server_hostname": server_hostname})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "create_connection", create)
        patch.setattr(loop, "start_tls", start_tls)
        return await asyncpg.connect(
            **{"host": to[0], "port": to[1], "database": "postgres", "timeout": 10, **options}
        )


def connect_to(
    client: "pymysql.Connection[pymysql.cursors.Cursor]", address: str, port: int, source: str
) -> None:
    """Where its host's name leads, which this machine cannot resolve. Raises pymysql.Error."""
    try:
        socket = create_connection((address, port), 5, (source, 0))
    except OSError as error:
        raise pymysql.OperationalError(str(error)) from error
    client.connect(socket)


async def kill(node: AnyFolder) -> None:
    """Its server is dead when it returns."""
    process = find_process(node.pid_file, node.marker)
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    assert await process.gone(10)


async def open_postgresql(state_dir: Path, nodes: int = 1) -> PostgresqlHarness:
    """Fails where servers cannot run although the host should let them."""
    if os.geteuid() != 0:
        pytest.skip("only root runs database servers")
    reason = await postgresql_prerequisites.check(state_dir)
    assert reason is None, reason
    return PostgresqlHarness(state_dir, await versions(), nodes)


async def open_mariadb(state_dir: Path, nodes: int = 1) -> MariadbHarness:
    """Fails where servers cannot run although the host should let them."""
    if os.geteuid() != 0:
        pytest.skip("only root runs database servers")
    reason = await check(state_dir)
    assert reason is None, reason
    return MariadbHarness(state_dir, await server_version(), nodes)
