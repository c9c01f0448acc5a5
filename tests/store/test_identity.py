"""Who runs the server, and the server that outlives a killed Roost."""

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from roost.store import identity
from roost.store.cluster import Cluster, bundled_programs
from roost.store.embedded import EmbeddedServer
from roost.store.pool import connect
from tests.store.test_embedded import OPTIONS
from tests.support.database import programs

CHILD = Path(__file__).parent / "serve_child.py"
OTHER = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def state() -> Iterator[Path]:
    """A folder that every user may enter and write to, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder / "state"
    shutil.rmtree(folder)


@pytest.fixture
def readable() -> None:
    """Other users can run the interpreter and the tests of this checkout."""
    command = [*OTHER, sys.executable, "-c", "import roost", str(CHILD)]
    if subprocess.run(command, cwd="/", check=False, capture_output=True).returncode != 0:
        pytest.skip("other users cannot read this checkout")


async def is_adopted_after_a_kill(prefix: tuple[str, ...], state: Path) -> None:
    cluster = Cluster(state / "postgres", programs(), OPTIONS)
    child = await serve(prefix, state)
    first = cluster.postmaster()
    connection = await connect(cluster.dsn())
    await connection.execute("create table kept (number int)")
    child.kill()
    await child.wait()
    await connection.execute("insert into kept values (1)")
    assert first is not None

    child = await serve(prefix, state)
    assert cluster.postmaster() == first
    assert await connection.fetchval("select count(*) from kept") == 1
    child.terminate()
    assert await child.wait() == 0
    assert cluster.postmaster() is None
    connection.terminate()


async def serve(prefix: tuple[str, ...], state: Path) -> asyncio.subprocess.Process:
    command = [*prefix, sys.executable, str(CHILD), str(state), str(programs())]
    child = await asyncio.create_subprocess_exec(*command, cwd="/", stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert await child.stdout.readline() == b"ready\n"
    return child


async def test_a_server_is_adopted_after_roost_was_killed(state: Path) -> None:
    await is_adopted_after_a_kill((), state)


@as_root
@pytest.mark.usefixtures("readable")
async def test_an_ordinary_user_runs_and_adopts_its_server(state: Path) -> None:
    await is_adopted_after_a_kill(OTHER, state)
    assert (state / "postgres" / "data").stat().st_uid != 0


async def starts_twice(state: Path, binaries: Path) -> None:
    server = EmbeddedServer(state, binaries, OPTIONS)
    for _ in range(2):
        await server.start()
        connection = await connect(server.dsn)
        assert await connection.fetchval("select 1") == 1
        await connection.close()
        await server.stop()
    assert server.cluster.data.stat().st_uid != 0


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_NAMESPACE", ("false",))


@as_root
@pytest.mark.usefixtures("readable", "no_namespaces")
async def test_without_namespaces_root_lets_another_user_run_it(state: Path) -> None:
    await starts_twice(state, programs())


def copy_programs(folder: Path) -> Path:
    """PostgreSQL with the libraries that its wheel keeps beside the package."""
    package = bundled_programs().parents[1]
    libraries = package.with_name(f"{package.name}.libs")
    copy = folder / package.name
    shutil.copytree(package / "pginstall18", copy / "pginstall18", symlinks=True)
    shutil.copytree(libraries, folder / libraries.name)
    return copy / "pginstall18" / "bin"


@as_root
@pytest.mark.usefixtures("no_namespaces")
async def test_without_namespaces_it_works_below_a_closed_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    await starts_twice(closed, await asyncio.to_thread(copy_programs, closed))


@as_root
@pytest.mark.usefixtures("no_namespaces")
async def test_when_nobody_can_run_it_the_error_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(identity, "_CAPABLE", ("false",))
    with pytest.raises(PermissionError, match="does not run as root"):
        await EmbeddedServer(closed, programs(), OPTIONS).start()


@as_root
async def test_data_follow_when_namespaces_become_forbidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedServer(tmp_path, programs(), OPTIONS)
    await server.start()
    await server.stop()
    monkeypatch.setattr(identity, "_NAMESPACE", ("false",))
    await starts_twice(tmp_path, programs())
