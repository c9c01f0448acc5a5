"""`roost oauth-client`: an application is stopped, and let work again."""

import asyncio
import uuid
from pathlib import Path

import pytest

from roost.app.state import open_store
from roost.clock import Clock
from roost.core.scopes import Scopes
from roost.resources.account.queries import find_operator
from roost.resources.tokens.service import make_token
from roost.settings import Settings
from tests.cli.process import Json, Server, ran, roost


async def let_in(state: Path, client_id: str) -> str:
    """An access token of the client."""
    async with open_store(Settings(state=state)) as store:
        user_id = await find_operator(store)
        assert user_id is not None
        app_id: int = await store.fetchval(
            "insert into authorized_app (user_id, client_id, public, scopes, created)"
            " values ($1, $2, false, '*', now()) returning id",
            user_id,
            client_id,
        )
        scopes = Scopes.parse("*")
        made = await make_token(store, Clock(), user_id, "app", scopes, None, "oauth", app_id)
        return made.text


@pytest.fixture
def client(server: Server) -> Json:
    body = {"label": f"app-{uuid.uuid4().hex[:8]}", "redirect_uri": "https://app.example.com"}
    status, made = server.send("POST", "/account/oauth-clients", body)
    assert status == 200
    return made


def line(server: Server, client: Json) -> list[str]:
    lines = ran("oauth-client", "list", "--state", server.state).splitlines()
    assert lines[0].split()[:5] == ["ID", "ACCOUNT", "ID", "STATUS", "USERS"]
    return next(line.split() for line in lines if line.startswith(client["id"]))


@pytest.mark.parametrize(("command", "status"), [("disable", "disabled"), ("suspend", "suspended")])
def test_a_client_that_is_stopped(server: Server, client: Json, command: str, status: str) -> None:
    """Its tokens end with the command, and work again when it may."""
    token = asyncio.run(let_in(server.state, client["id"]))
    assert line(server, client)[2:4] == ["active", "1"]
    assert server.send("GET", "/account", token=token)[0] == 200
    ran("oauth-client", command, client["id"], "--state", server.state)
    assert server.send("GET", "/account", token=token)[0] == 401
    path = f"/account/oauth-clients/{client['id']}"
    assert server.send("GET", path) == (200, {**client, "status": status})
    assert server.send("PUT", path, {**client, "status": "active"})[1]["status"] == status
    assert line(server, client)[2] == status
    ran("oauth-client", "enable", client["id"], "--state", server.state)
    assert server.send("GET", "/account", token=token)[0] == 200
    assert server.send("GET", path) == (200, client)


def test_a_client_that_is_none(server: Server) -> None:
    for command in ("disable", "suspend", "enable"):
        done = roost("oauth-client", command, "0" * 20, "--state", server.state)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"there is no OAuth client {'0' * 20}" in done.stderr
