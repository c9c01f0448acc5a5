"""A cluster of managed databases: how long nobody can write when its primary dies, and what its
one port costs.

Writers connect anew for each row, as they must when a server is gone, and remember what was
acknowledged.
"""

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median

import click
import pymysql

from bench.results import Result
from roost.engines.mariadb.cluster import Cluster
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.host import Addresses
from roost.engines.mariadb.prerequisites import check, server_version
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseShape, DatabaseSpec

_ROUNDS = int(os.environ.get("BENCH_FAILOVERS", "8"))
_WRITERS = 16
_BEFORE_SECONDS = 0.5
_QUERIES = 2000
_HOST, _CLIENT = "127.0.0.1", "127.0.0.2"


async def measure() -> AsyncIterator[Result]:
    """The supervisor is told by the engine, as in the server."""
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as folder:
        root = Path(folder)
        if (reason := await check(root)) is not None:
            click.echo(f"clusters: skipped: {reason}")
            return
        version = await server_version()
        addresses = Addresses.of(_HOST, None, None, None, "local.db.roost.internal")
        engine = MariadbDatabases(root, version, addresses, root / "secret.key")
        series = version.rpartition(".")[0]
        shape = DatabaseShape("mariadb", series, 3, "semi_synch", False, True)
        allowed = (f"{_HOST}/32", f"{_CLIENT}/32")
        spec = DatabaseSpec(100001, shape, 1, 1024, 25600, allowed, "bench", "abcDEF123456")
        try:
            scene = _Scene(engine, root, spec, await engine.create(spec))
            async for result in scene.results():
                yield result
        finally:
            await engine.delete(spec.id)
            await engine.shut_down()


@dataclass
class _Scene:
    engine: MariadbDatabases
    root: Path
    spec: DatabaseSpec
    access: Access
    acknowledged: list[tuple[float, int]] = field(default_factory=list)
    """When, and which row."""
    stopping: bool = False

    async def results(self) -> AsyncIterator[Result]:
        with self._connect(self.access.port) as connection, connection.cursor() as cursor:
            cursor.execute("create database notes")
            cursor.execute("create table notes.rows (id bigint primary key) engine = innodb")
        by_end, direct = self._rates()
        note = f"queries/s: direct {direct:.0f}, by the cluster's port {by_end:.0f}"
        yield Result("queries to a cluster: of direct", by_end / direct, "", 0.9, "at least", note)
        gaps = sorted([await self._round() for _ in range(_ROUNDS)])
        note = f"s: median {median(gaps):.2f} of {len(gaps)} times kill -9 of the primary"
        yield Result("no write when a primary dies: the longest", gaps[-1], "s", 15, note=note)
        lost = await self._lost()
        note = f"of {len(self.acknowledged)} by {_WRITERS} writers"
        yield Result("acknowledged rows lost", lost, "", 0, note=note)

    def _rates(self) -> tuple[float, float]:
        """One client's queries a second, by the port of the cluster and by that of its primary."""
        node = self._primary().port
        assert node is not None
        ends = (self.access.port, node)
        for port in ends:
            self._rate(port)  # Warm.
        rates = [[self._rate(port) for port in ends] for _ in range(5)]
        return median(each[0] for each in rates), median(each[1] for each in rates)

    def _rate(self, port: int) -> float:
        with self._connect(port, _HOST) as connection, connection.cursor() as cursor:
            began = time.monotonic()
            for _ in range(_QUERIES):
                cursor.execute("select 1")
            return _QUERIES / (time.monotonic() - began)

    async def _round(self) -> float:
        """Seconds between two acknowledged rows, the longest while a primary dies."""
        self.stopping, faults = False, self.engine.faults()
        told = asyncio.ensure_future(anext(faults))
        writers = [asyncio.to_thread(self._write, number) for number in range(_WRITERS)]
        writing = asyncio.gather(*writers)
        await asyncio.sleep(_BEFORE_SECONDS)
        process = Server(self._primary()).process()
        assert process is not None
        killed = time.monotonic()
        os.kill(process.pid, signal.SIGKILL)
        await told
        await self.engine.ensure(self.spec)
        await self.engine.rebuild(self.spec)
        self.stopping = True
        await writing
        await faults.aclose()
        times = sorted(moment for moment, _ in self.acknowledged if moment > killed - 0.2)
        return max(later - sooner for sooner, later in pairwise(times))

    def _write(self, writer: int) -> None:
        number = len(self.acknowledged) * _WRITERS * 2 + writer
        while not self.stopping:
            number += _WRITERS
            try:
                with self._connect(self.access.port) as connection, connection.cursor() as cursor:
                    cursor.execute("insert into notes.rows values (%s)", (number,))
            except (pymysql.Error, OSError):
                time.sleep(0.02)
            else:
                self.acknowledged.append((time.monotonic(), number))

    async def _lost(self) -> int:
        with self._connect(self.access.port) as connection, connection.cursor() as cursor:
            cursor.execute("select id from notes.rows")
            found = {row[0] for row in cursor.fetchall()}
        return len({number for _, number in self.acknowledged} - found)

    def _primary(self) -> Folder:
        return Cluster(self.engine._host, Folder.of(self.root, self.spec.id)).primary

    def _connect(
        self, port: int, source: str = _CLIENT
    ) -> "pymysql.Connection[pymysql.cursors.Cursor]":
        authority = self.root / "bench.pem"
        if not authority.exists():
            authority.write_text(self.access.ca_certificate)
        return pymysql.connect(
            host=_HOST,
            port=port,
            user=self.spec.username,
            password=self.spec.password,
            bind_address=source,
            connect_timeout=5,
            read_timeout=30,
            autocommit=True,
            ssl_ca=str(authority),
        )
