"""One managed database on this host, against the same commands by hand: made, opened to another
client, backed up. In turns, in one run; the API and its job are not in it."""

import asyncio
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from statistics import median

import click
import pymysql

from bench.results import Result
from bench.supervisor import open_engine
from roost.engines.databases.folder import INSIDE
from roost.engines.listeners import Listener, is_free
from roost.engines.mariadb.databases import MariadbDatabases
from roost.engines.mariadb.folder import Folder
from roost.engines.mariadb.prerequisites import check, server_version
from roost.engines.mariadb.server import Server, owner
from roost.engines.mariadb.users import statements
from roost.resources.databases.engine import DatabaseShape, DatabaseSpec

_ROUNDS = 3
_CHANGES = 10
_HOST, _ALLOWED = "127.0.0.1", ("127.0.0.1/32",)
_TABLE = "inet roost_bench_databases"
_IDS = count(100001)


async def measure() -> AsyncIterator[Result]:
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        root = Path(directory)
        root.chmod(0o711)
        if (reason := await check(root)) is not None:
            click.echo(f"databases: skipped: {reason}")
            return
        version = await server_version()
        engine = open_engine(root, version)
        shape = DatabaseShape("mariadb", version.rpartition(".")[0], 1, "none", False, True)
        spec = DatabaseSpec(next(_IDS), shape, 1, 1024, 25600, _ALLOWED, "bench", "abcDEF123456")
        try:
            access = await engine.create(spec)  # With the template, which all others copy.
            scene = _Contest(engine, root, spec, version, access.port)
            yield await scene.creations()
            yield await scene.openings()
            yield await scene.backups()
        finally:
            await engine.delete(spec.id)
            await engine.shut_down()


@dataclass(frozen=True, slots=True)
class _Contest:
    engine: MariadbDatabases
    root: Path
    spec: DatabaseSpec
    version: str
    port: int

    async def creations(self) -> Result:
        """From nothing to the answer of a query by TLS."""
        by_hand, roost = [], []
        for number in range(_ROUNDS):
            by_hand.append(await asyncio.to_thread(self._by_hand, self.root / f"hand-{number}"))
            spec = replace(self.spec, id=next(_IDS))
            began = time.monotonic()
            port = (await self.engine.create(spec)).port
            await asyncio.to_thread(self._query, port)
            roost.append(time.monotonic() - began)
            await self.engine.delete(spec.id)
        return ratio("database to first TLS query: of by hand", by_hand, roost, 1.3)

    async def openings(self) -> Result:
        """From a change of the allow list to the first packet that is let in."""

        async def directly(networks: tuple[str, ...]) -> None:
            rules = f"add table {_TABLE}\nadd chain {_TABLE} one\nflush chain {_TABLE} one\n"
            for each in networks:
                rules += f"add rule {_TABLE} one tcp dport {self.port} ip saddr {each} accept\n"
            command = ["nft", "-f", "-"]
            await asyncio.to_thread(subprocess.run, command, input=rules.encode(), check=True)

        async def by_roost(networks: tuple[str, ...]) -> None:
            await self.engine.set_allow_list(self.spec.id, networks)

        try:
            pairs = [
                [await self._opened(each) for each in (directly, by_roost)] for _ in range(_CHANGES)
            ]
        finally:
            subprocess.run(["nft", "delete", "table", *_TABLE.split()], check=False)
        by_hand, roost = ([pair[i] for pair in pairs] for i in (0, 1))
        return ratio("allow list in force: of bare nft", by_hand, roost, 3)

    async def backups(self) -> Result:
        """The tool's stream through zstd into a file, on the same server."""
        folder = Folder.of(self.root, self.spec.id)
        by_hand, roost = [], []
        for number in range(1, _ROUNDS + 1):
            by_hand.append(await asyncio.to_thread(_tool, folder, self.root / "copy.zst"))
            began = time.monotonic()
            await self.engine.back_up(self.spec.id, number, replica=False)
            roost.append(time.monotonic() - began)
        return ratio("backup: of the tool by itself", by_hand, roost, 1.3)

    async def _opened(self, change: Callable[[tuple[str, ...]], Awaitable[None]]) -> float:
        await self.engine.set_allow_list(self.spec.id, ("192.0.2.1/32",))
        began = time.monotonic()
        await change(_ALLOWED)
        if change.__name__ == "by_roost":
            _, writer = await asyncio.open_connection(_HOST, self.port)
            writer.close()
        return time.monotonic() - began

    def _by_hand(self, place: Path) -> float:
        """The same server and settings, without whoever looks after them."""
        source, port = Folder.of(self.root, self.spec.id), free_port()
        began = time.monotonic()
        place.mkdir(mode=0o711)
        template = self.root / f"template-{self.version}-with-zones"
        subprocess.run(["cp", "-a", "--", template, place / "data"], check=True)
        for name in ("files", "tmp"):
            (place / name).mkdir(mode=0o700)
            shutil.chown(place / name, *owner())
        shutil.chown(place, *owner())
        subprocess.run(["cp", "-a", "--", source.path / "tls", place / "tls"], check=True)
        lines = source.configuration.read_text().replace(str(INSIDE), str(place))
        (place / "my.cnf").write_text(lines.replace(f"port = {self.port}\n", f"port = {port}\n"))
        user = ("setpriv", "--reuid=mysql", "--regid=mysql", "--clear-groups")
        command = [*user, "mariadbd", f"--defaults-file={place / 'my.cnf'}"]
        with (place / "log").open("wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            socket = place / "socket"
            sql = statements(self.spec).get_secret_value().encode()
            client = ["mariadb", "--no-defaults", f"--socket={socket}"]
            while not (socket.exists() and _succeeds(client, sql)):
                time.sleep(0.005)
            self._query(port)
            return time.monotonic() - began
        finally:
            server.terminate()
            server.wait()

    def _query(self, port: int) -> None:
        connection = pymysql.connect(
            host=_HOST,
            port=port,
            user=self.spec.username,
            password=self.spec.password,
            ssl_ca=str(Folder.of(self.root, self.spec.id).path / "tls" / "ca.pem"),
            ssl_verify_cert=True,
        )
        with connection, connection.cursor() as cursor:
            cursor.execute("select 1")


def _succeeds(client: list[str], sql: bytes) -> bool:
    answer = subprocess.run(client, input=sql, capture_output=True, check=False)
    return answer.returncode == 0


def free_port() -> int:
    return next(port for port in range(19_000, 20_000) if is_free(Listener(_HOST, port)))


def _tool(folder: Folder, target: Path) -> float:
    scratch = folder.path / "by-hand"
    scratch.mkdir(mode=0o700)
    began = time.monotonic()
    command = ["mariadb-backup", "--no-defaults", "--backup", "--stream=mbstream", "--user=root"]
    places = [f"--socket={INSIDE / 'socket'}", f"--datadir={INSIDE / 'data'}"]
    packing = ["zstd", "--quiet", "--force", "-T2", "-3", "-o", str(target)]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        [*Server(folder).within(), *command, *places, f"--target-dir={INSIDE / scratch.name}"],
        stdout=subprocess.PIPE,
        stderr=nothing,
    ) as tool:
        subprocess.run(packing, stdin=tool.stdout, check=True)
    assert tool.returncode == 0
    seconds = time.monotonic() - began
    shutil.rmtree(scratch)
    return seconds


def ratio(name: str, by_hand: list[float], roost: list[float], target: float) -> Result:
    bare, ours = median(by_hand), median(roost)
    note = f"s: by hand {bare:.3f}, roost {ours:.3f}"
    return Result(name, ours / bare, "x", target, note=note)
