"""The life of a token, from the command line to HTTP."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from roost.cli import main
from tests.cli.process import Server, ran, roost, wait_until


def create(server: Server, *options: str) -> str:
    return ran("token", "create", "--state", server.state, *options)


def listed(server: Server, token: str) -> list[str]:
    """The columns of a token's line."""
    lines = ran("token", "list", "--state", server.state).splitlines()
    return next((line.split() for line in lines if token[:16] in line), [])


def may_list(server: Server, token: str) -> bool:
    status, _ = server.send("GET", "/compute/instances", token=token)
    assert status in (200, 401)
    return status == 200


def test_life_of_a_token(server: Server) -> None:
    token = create(server, "--label", "ci", "--scopes", "*")
    assert len(token) == 64
    assert may_list(server, token)
    number, user, label, prefix, scopes, created, expires = listed(server, token)
    assert (user, label, prefix, scopes, expires) == ("admin", "ci", token[:16], "*", "-")
    assert datetime.fromisoformat(created).microsecond == 0
    ran("token", "revoke", "--state", server.state, number)
    assert not may_list(server, token)
    assert listed(server, token) == []
    again = roost("token", "revoke", "--state", server.state, number)
    assert again.returncode == 1
    assert f"there is no token {number}, or it is revoked already" in again.stderr


def test_the_first_user_is_found_whatever_the_name(tmp_path: Path) -> None:
    """And has the address that the operator gave."""
    server = Server.start(tmp_path / "state", "--admin-email", "ops@example.com")
    try:
        row = server.send("GET", "/account")[1]
        assert row["email"] == "ops@example.com"
        user = server.send("PUT", "/account/users/admin", {"username": "grace"})[1]
        assert (user["username"], user["email"]) == ("grace", "ops@example.com")
        assert listed(server, create(server, "--label", "ci", "--scopes", "*"))[1] == "grace"
    finally:
        server.end()


def test_scopes_and_expiry(server: Server) -> None:
    token = create(server, "--label", "x", "--scopes", "events:read_only", "--expires", "30")
    assert not may_list(server, token)
    assert server.send("GET", "/account/events", token=token)[0] == 200
    expires = datetime.fromisoformat(listed(server, token)[-1])
    created = datetime.fromisoformat(listed(server, token)[-2])
    assert abs(expires - created - timedelta(days=30)) <= timedelta(seconds=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--label", "", "--scopes", "*"), "must be 1-100 characters"),
        (("--label", "a" * 101, "--scopes", "*"), "must be 1-100 characters"),
        (("--label", "a", "--scopes", "moon:read_only"), "moon:read_only is not a scope"),
        (("--label", "a", "--scopes", "*", "--user", "nobody"), "there is no user nobody"),
        (("--label", "a", "--scopes", "*", "--expires", "0"), "is not in the range"),
        (("--label", "a"), "Missing option '--scopes'"),
    ],
)
def test_refusals(server: Server, options: tuple[str, ...], message: str) -> None:
    done = CliRunner().invoke(main, ["token", "create", "--state", str(server.state), *options])
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert done.stdout == ""


def test_state_that_was_never_served(tmp_path: Path) -> None:
    for command in (("token", "list"), ("fsck",), ("down",)):
        done = CliRunner().invoke(main, [*command, "--state", str(tmp_path / "nowhere")])
        assert done.exit_code == 1
        assert "has never been served" in done.stderr
        assert not (tmp_path / "nowhere").exists()


def suggested(server: Server, number: str) -> str:
    """What is printed, or said instead."""
    done = roost("token", "suggest", "--state", server.state, number)
    return (done.stdout or done.stderr).strip()


def test_suggested_scopes(server: Server) -> None:
    token = create(server, "--label", "wide", "--scopes", "*")
    number = listed(server, token)[0]
    unused = f"Error: token {number} was not used in the last 30 days"
    assert suggested(server, number) == unused

    server.send("GET", "/profile", token=token)
    wait_until(lambda: suggested(server, number) != unused)
    assert suggested(server, number) == "any scope will do: its calls needed none"

    server.send("GET", "/account/events", token=token)
    server.send("GET", "/compute/instances", token=token)
    server.send("DELETE", "/compute/instances/1", token=token)
    wait_until(lambda: suggested(server, number) == "computes:read_write events:read_only")

    done = roost("token", "suggest", "--state", server.state, "1")
    assert (done.returncode, done.stderr.strip()) == (1, "Error: there is no token 1")
