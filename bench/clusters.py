"""A cluster of managed databases: how long nobody can write when servers or their supervisor die,
and what its one port costs.

Writers connect anew for each row, as they must when a server is gone, and remember what was
acknowledged.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import cycle, pairwise
from pathlib import Path
from statistics import median, quantiles

import click
import pymysql

from bench.failures import KILLS, OTHERS, Failure, Patient
from bench.results import Result
from bench.supervisor import open_engine
from roost.engines.mariadb.prerequisites import check, server_version
from roost.engines.mariadb.server import Server
from roost.resources.databases.engine import Access, DatabaseShape, DatabaseSpec

_ROUNDS = int(os.environ.get("BENCH_FAILOVERS", "8"))
"""Of kills. Every tenth time of many something slower happens, too."""
_WRITERS = 16
_BEFORE_SECONDS = 0.5
_AFTER_SECONDS = 0.2
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
        engine = open_engine(root, version)
        series = version.rpartition(".")[0]
        shape = DatabaseShape("mariadb", series, 3, "semi_synch", False, True)
        allowed = (f"{_HOST}/32", f"{_CLIENT}/32")
        spec = DatabaseSpec(100001, shape, 1, 1024, 25600, allowed, "bench", "abcDEF123456")
        try:
            access = await engine.create(spec)
            scene = _Scene(Patient(engine, root, spec, version), access)
            async for result in scene.results():
                yield result
        finally:
            await engine.delete(spec.id)
            await engine.shut_down()


@dataclass
class _Scene:
    patient: Patient
    access: Access
    acknowledged: list[tuple[float, int]] = field(default_factory=list)
    """When, and which row."""
    stopping: bool = False
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_WRITERS))

    async def results(self) -> AsyncIterator[Result]:
        with self._connect(self.access.port) as connection, connection.cursor() as cursor:
            cursor.execute("create database notes")
            cursor.execute("create table notes.rows (id bigint primary key) engine = innodb")
        by_end, direct = self._rates()
        note = f"queries/s: direct {direct:.0f}, by the cluster's port {by_end:.0f}"
        yield Result("queries to a cluster: of direct", by_end / direct, "", 0.9, "at least", note)
        for kinds, rounds in ((KILLS, _ROUNDS), (OTHERS, _ROUNDS // 10)):
            each = [name for name, _ in zip(cycle(kinds), range(rounds), strict=False)]
            found: dict[str, list[float]] = {}
            for name in each:
                found.setdefault(name, []).append(await self._round(kinds[name]))
            if found:
                yield _gaps(found)
        lost = await self._lost()
        note = f"of {len(self.acknowledged)} by {_WRITERS} writers"
        yield Result("acknowledged rows lost", lost, "", 0, note=note)

    def _rates(self) -> tuple[float, float]:
        """One client's queries a second, by the port of the cluster and by that of its primary."""
        node = self.patient.primary.port
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

    async def _round(self, failure: Failure) -> float:
        """Seconds between two acknowledged rows, the longest while it happens."""
        self.stopping = False
        loop, pool = asyncio.get_running_loop(), self.threads
        writers = (loop.run_in_executor(pool, self._write, each) for each in range(_WRITERS))
        writing = asyncio.gather(*writers)
        await asyncio.sleep(_BEFORE_SECONDS)
        began = time.monotonic()
        try:
            await failure(self.patient)
            await asyncio.sleep(_AFTER_SECONDS)
        finally:
            self.stopping = True
            await writing
        assert await self._writable() == 1
        times = sorted(moment for moment, _ in self.acknowledged if moment > began - 0.2)
        return max(later - sooner for sooner, later in pairwise(times))

    async def _writable(self) -> int:
        """How many nodes take writes."""
        asked = [
            await Server(node).rows("read", "select @@global.read_only as fixed")
            for node in self.patient.folder.nodes()
        ]
        return asked.count([{"fixed": "0"}])

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

    def _connect(
        self, port: int, source: str = _CLIENT
    ) -> "pymysql.Connection[pymysql.cursors.Cursor]":
        authority = self.patient.root / "bench.pem"
        if not authority.exists():
            authority.write_text(self.access.ca_certificate)
        return pymysql.connect(
            host=_HOST,
            port=port,
            user=self.patient.spec.username,
            password=self.patient.spec.password,
            bind_address=source,
            connect_timeout=5,
            read_timeout=30,
            autocommit=True,
            ssl_ca=str(authority),
        )


def _gaps(found: dict[str, list[float]]) -> Result:
    """Of each kind the median; the target is for the one of a hundred that lasts the longest."""
    gaps = [gap for each in found.values() for gap in each]
    if len(gaps) > 1:
        percent = quantiles(gaps, n=100, method="inclusive")
        half, most = percent[49], percent[98]
    else:
        half = most = gaps[0]
    kinds = "; ".join(
        f"{name} {median(each):.2f} of {len(each)}, at most {max(each):.2f}"
        for name, each in found.items()
    )
    note = f"s: 50 % {half:.2f}, 99 % {most:.2f} of {len(gaps)}; median by kind: {kinds}"
    return Result("no write to a cluster that loses servers, 99 %", most, "s", 15, note=note)
