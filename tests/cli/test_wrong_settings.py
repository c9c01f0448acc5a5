"""Settings that cannot be: one clear line before anything is served."""

import socket
from pathlib import Path

import pytest

from tests.cli.process import roost


def refused(state: Path) -> str:
    """What `roost serve` says that does not start."""
    listen = ("--listen", "127.0.0.1:0")
    done = roost("serve", "--state", state, "--engines", "simulated", *listen)
    roost("down", "--state", state)
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
