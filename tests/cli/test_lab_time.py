"""Operators' commands beside a server whose lab has moved the time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.cli.process import Server, ran


def test_commands_beside_a_lab_have_its_time(tmp_path: Path) -> None:
    server = Server.start(tmp_path / "state", "--lab")
    try:
        ran("clock", "advance", "400d", "--url", server.url, "--state", server.state)
        told = ran("account", "create", "--state", server.state, "--email", "new@example.com")
        status, row = server.send("GET", "/account", token=told.split()[-1])
        assert status == 200
        now = datetime.now(UTC).replace(tzinfo=None)
        assert datetime.fromisoformat(row["active_since"]) > now + timedelta(days=390)
    finally:
        server.end()
