"""Settings that cannot be: one clear line before anything is served."""

import socket
from pathlib import Path

import pytest

from roost.store import migrate
from roost.store.pool import connect
from tests.cli.process import end_all, roost


def refused(state: Path) -> str:
    """What `roost serve` says that does not start."""
    listen = ("--listen", "127.0.0.1:0")
    done = roost("serve", "--state", state, "--engines", "simulated", *listen)
    end_all(state)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("where", ["nonsense", "host.invalid:443", "127.0.0.1", "127.0.0.1:65536"])
def test_where_buckets_are_served_by_tls(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOST_OBJECTS_TLS_LISTEN", where)
    said = refused(tmp_path)
    assert where.removesuffix(":65536") in said


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_where_traces_are_sent(command: str, tmp_path: Path) -> None:
    done = roost(command, "--state", tmp_path, "--traces", "http://me:secret@collector")
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert said.startswith("Error: --traces must hold no password")
    assert "secret" not in said


def test_a_port_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("ROOST_OBJECTS_TLS_LISTEN", f"127.0.0.1:{port}")
        said = refused(tmp_path)
    assert f"cannot serve buckets by TLS at 127.0.0.1, port {port}" in said


@pytest.mark.parametrize("command", ["serve", "worker", "fsck", "down"])
def test_a_state_whose_restore_has_not_ended(command: str, tmp_path: Path) -> None:
    """Nothing is made in it: the next restore finds what the last one has left."""
    (tmp_path / ".restoring").mkdir()
    (tmp_path / "serve.json").write_text('{"pid": 1, "engines": "simulated", "catalog": null}')
    listen = ("--listen", "127.0.0.1:0") if command == "serve" else ()
    done = roost(command, "--state", tmp_path, "--engines", "simulated", *listen)
    assert (done.returncode, done.stdout) == (1, "")
    (said,) = done.stderr.splitlines()
    assert said == (
        f"Error: {tmp_path} is not whole, as a restore of it has not ended: run `roost restore`"
        " again, and then this"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [".restoring", "serve.json"]


async def test_a_database_of_a_newer_version(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = await connect(database_url)
    await connection.execute("update alembic_version set version_num = '9999'")
    await connection.close()
    monkeypatch.setenv("DATABASE_URL", database_url)
    done = roost("worker", "--state", tmp_path, "--engines", "simulated")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: the database is at revision 9999, newer than this program, which knows"
        f" {migrate.head()}: install the version that made it\n"
    )


@pytest.mark.parametrize("where", ["nonsense", "127.0.0.1", "127.0.0.1:65536", ":9090"])
def test_where_a_worker_is_monitored(where: str, tmp_path: Path) -> None:
    state = tmp_path / "state"
    done = roost("worker", "--state", state, "--metrics-listen", where)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"Error: cannot listen on {where}: it must be HOST:PORT\n"
    assert not state.exists()
