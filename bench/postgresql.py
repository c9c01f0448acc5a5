"""One managed PostgreSQL on this host, against the same programs by hand: made, and backed up. In
turns, in one run; the API and its job are not in it."""

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import asyncpg
import click

from bench.databases import free_port, ratio
from bench.results import Result
from bench.supervisor import ADDRESSES
from roost.engines.databases.folder import INSIDE
from roost.engines.postgresql.backups import STREAM
from roost.engines.postgresql.databases import PostgresqlDatabases
from roost.engines.postgresql.folder import Folder
from roost.engines.postgresql.prerequisites import check
from roost.engines.postgresql.releases import program, versions
from roost.engines.postgresql.server import Server, owner
from roost.engines.postgresql.users import statements
from roost.resources.databases.engine import DatabaseShape, DatabaseSpec

_ROUNDS = 3
_HOST = "127.0.0.1"
_IDS = count(100001)


async def measure() -> AsyncIterator[Result]:
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        root = Path(directory)
        root.chmod(0o711)
        if (reason := await check(root)) is not None:
            click.echo(f"postgresql: skipped: {reason}")
            return
        known = await versions()
        engine = PostgresqlDatabases(root, known, ADDRESSES)
        shape = DatabaseShape("postgresql", max(known, key=int), 1, "none", False, True, "local")
        spec = DatabaseSpec(
            next(_IDS), shape, 1, 1024, 25600, ("127.0.0.1/32",), "bench", "abcDEF123456"
        )
        try:
            port = (await engine.create(spec)).port  # With the template, which all others copy.
            scene = _Contest(engine, root, spec, port)
            yield await scene.creations()
            yield await scene.backups()
        finally:
            await engine.delete(spec.id)
            await engine.shut_down()


@dataclass(frozen=True, slots=True)
class _Contest:
    engine: PostgresqlDatabases
    root: Path
    spec: DatabaseSpec
    port: int

    @property
    def folder(self) -> Folder:
        return Folder.of(self.root, self.spec.id)

    async def creations(self) -> Result:
        """From nothing to the answer of a query by TLS."""
        by_hand, roost = [], []
        for number in range(_ROUNDS):
            by_hand.append(await self._by_hand(self.root / f"hand-{number}"))
            spec = replace(self.spec, id=next(_IDS))
            began = time.monotonic()
            await _query(spec, (await self.engine.create(spec)).port)
            roost.append(time.monotonic() - began)
            await self.engine.delete(spec.id)
        return ratio("PostgreSQL to first TLS query: of by hand", by_hand, roost, 1.3)

    async def backups(self) -> Result:
        """The tool's stream through zstd onto the disk, of the same server."""
        by_hand, roost = [], []
        for number in range(1, _ROUNDS + 1):
            by_hand.append(await asyncio.to_thread(_tool, self.folder, self.root / "copy.zst"))
            began = time.monotonic()
            await self.engine.back_up(self.spec.id, number, replica=False)
            roost.append(time.monotonic() - began)
        return ratio("PostgreSQL's backup: of the tool by itself", by_hand, roost, 1.3)

    async def _by_hand(self, place: Path) -> float:
        """The same server and settings, without whoever looks after them."""
        began, port, major = time.monotonic(), free_port(), self.spec.shape.version
        await asyncio.to_thread(_lay, self.folder, self.root / f"template-{major}", place, port)
        as_user = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
        server = (program(major, "postgres"), "-D", place / "data")
        configured = f"--config-file={place / 'postgresql.conf'}"
        with (place / "log").open("wb") as log:
            process = subprocess.Popen([*as_user, *server, configured], stdout=log, stderr=log)
        client: list[str | Path] = [
            program(major, "psql"),
            "-qX",
            f"--host={place / 'run'}",
            f"--port={port}",
        ]
        client += ["--username=postgres", "--dbname=roost"]
        try:
            while not _succeeds(client, statements(self.spec, shut_out=False).encode()):
                await asyncio.sleep(0.005)
            await _query(self.spec, port)
            return time.monotonic() - began
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait)


def _lay(source: Folder, template: Path, place: Path, port: int) -> None:
    place.mkdir(mode=0o711)
    shutil.chown(place, *owner())
    for name in ("run", "wal"):
        (place / name).mkdir(mode=0o700)
        shutil.chown(place / name, *owner())
    subprocess.run(["cp", "-a", "--", template / "data", place / "data"], check=True)
    subprocess.run(["cp", "-a", "--", source.path / "tls", place / "tls"], check=True)
    for name in ("postgresql.conf", "pg_hba.conf", "pg_ident.conf"):
        lines = (source.path / name).read_text().replace(str(INSIDE), str(place))
        (place / name).write_text(lines.replace(f"port = '{source.port}'", f"port = '{port}'"))
        shutil.chown(place / name, *owner())


async def _query(spec: DatabaseSpec, port: int) -> None:
    connection = await asyncpg.connect(
        host=_HOST,
        port=port,
        user=spec.username,
        password=spec.password,
        database="postgres",
        ssl="require",
    )
    try:
        await connection.fetchval("select 1")
    finally:
        await connection.close()


def _succeeds(client: list[str | Path], sql: bytes) -> bool:
    answer = subprocess.run(client, input=sql, capture_output=True, check=False)
    return answer.returncode == 0


def _tool(folder: Folder, target: Path) -> float:
    began = time.monotonic()
    packing = ["zstd", "--quiet", "--force", "-T2", "-3", "-o", str(target)]
    command = [*Server(folder).tool("pg_basebackup"), *STREAM]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tool:
        subprocess.run(packing, stdin=tool.stdout, check=True)
    assert tool.returncode == 0
    with target.open("rb") as packed:
        os.fsync(packed.fileno())
    return time.monotonic() - began
