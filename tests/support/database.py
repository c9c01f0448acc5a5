"""One PostgreSQL server for a test run, shared by its workers, and a fresh database a test.

ROOST_TEST_POSTGRES names the server: `embedded`, the one of Roost's own dependency, or `debian`,
as the system packages it: PostgreSQL 15 on Debian 12. Both are started here, below a temporary
folder.
"""

import asyncio
import fcntl
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from roost.store import migrate
from roost.store.cluster import SETTINGS, Cluster, bundled_programs
from roost.store.connection import Connection
from roost.store.pool import connect

DEBIAN_FOLDER = Path("/usr/lib/postgresql")

_RUN = "ROOST_TEST_RUN_FOLDER"
_PREFIX = "roost-test-"
_TEMPLATE = "template_roost"
_MEMORY_BYTES = 2 * 1024**3
# The workers of a run share the server, and each may hold several Roosts with full pools.
_SETTINGS = {name: value for name, value in SETTINGS.items() if name != "io_method"} | {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "1000",
    "max_wal_size": "64MB",
    "min_wal_size": "32MB",
    "synchronous_commit": "off",
}


def open_run() -> None:
    """In the process that controls the run, before any worker starts."""
    parent = _parent()
    for folder in parent.glob(f"{_PREFIX}*"):
        owner = re.match(rf"{_PREFIX}(\d+)-", folder.name)
        if owner and not Path("/proc", owner[1]).exists():
            _remove(folder)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
    folder.chmod(0o711)
    os.environ[_RUN] = str(folder)


def close_run() -> None:
    """In the same process, when all workers have ended."""
    _remove(Path(os.environ.pop(_RUN)))


class DatabaseServer:
    """The server of this run, with a template that has all tables."""

    def __init__(self, cluster: Cluster, admin: Connection) -> None:
        self._cluster = cluster
        self._admin = admin
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def database(self, template: str = _TEMPLATE) -> AsyncIterator[str]:
        """The URL of a new database; with template `template0` it has no tables."""
        name = f"test_{uuid.uuid4().hex}"
        async with self._lock:
            await self._admin.execute(
                f"create database {name} template {template} strategy file_copy"
            )
        try:
            yield self._cluster.dsn(name)
        finally:
            async with self._lock:
                await self._admin.execute(f"drop database {name} with (force)")


@asynccontextmanager
async def database_server() -> AsyncIterator[DatabaseServer]:
    """The server, started and given its template by the first worker that asks."""
    folder = Path(os.environ[_RUN])
    cluster = _cluster(folder)
    with (folder / "lock").open("w") as lock:
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        if cluster.postmaster() is None:
            await cluster.launch()
        if not (folder / "template").exists():
            await _make_template(cluster)
            (folder / "template").touch()
    admin = await connect(cluster.dsn())
    try:
        yield DatabaseServer(cluster, admin)
    finally:
        await admin.close()


async def _make_template(cluster: Cluster) -> None:
    admin = await connect(cluster.dsn())
    await admin.execute(f"drop database if exists {_TEMPLATE}")
    await admin.execute(f"create database {_TEMPLATE} template template0")
    await migrate.upgrade(cluster.dsn(_TEMPLATE))
    await admin.close()


def _parent() -> Path:
    """In memory where there is room: on ext4 a new database takes 250 ms, there 10."""
    memory = Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free > _MEMORY_BYTES:
        return memory
    return Path(tempfile.gettempdir())


def _cluster(folder: Path) -> Cluster:
    return Cluster(folder / "postgres", programs(), _SETTINGS)


def programs() -> Path:
    """The programs of the server that this run tests."""
    if os.environ.get("ROOST_TEST_POSTGRES", "embedded") == "embedded":
        return bundled_programs()
    return min(DEBIAN_FOLDER.glob("*/bin"))


def _remove(folder: Path) -> None:
    asyncio.run(_cluster(folder).stop())
    shutil.rmtree(folder, ignore_errors=True)
