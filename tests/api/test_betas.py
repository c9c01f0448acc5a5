"""Beta programs over HTTP (reference: Betas)."""

from datetime import timedelta

import pytest

from roost.app.roost import Roost
from tests.support.client import Client, Json

PROGRAM: Json = {
    "id": "trial",
    "label": "Trial",
    "description": "Not for everybody yet.",
    "started": "2024-01-01T00:00:00",
    "ended": None,
    "greenlight_only": False,
    "more_info": "https://example.com/trial",
}

INSERT = """
    insert into beta (id, label, description, started, ended, greenlight_only, more_info)
    values ($1, 'Trial', 'Not for everybody yet.', $2, $3, $4, 'https://example.com/trial')
    on conflict (id) do update set (started, ended) = row($2, $3)
"""


@pytest.fixture(autouse=True)
async def programs(roost: Roost) -> None:
    now, day = roost.clock.seconds(), timedelta(days=1)
    begun = now.replace(2024, 1, 1, 0, 0, 0)
    for name, started, ended, closed in (
        ("trial", begun, None, False),
        ("over", begun, now - day, False),
        ("soon", now + day, None, False),
        ("closed", begun, now + day, True),
    ):
        await roost.store.execute(INSERT, name, started, ended, closed)


async def test_programs_that_go_on_are_shown(client: Client) -> None:
    rows = {row["id"]: row for row in (await client.get("/betas"))["data"]}
    assert rows["trial"] == PROGRAM == await client.get("/betas/trial")
    assert rows["closed"]["greenlight_only"] is True
    assert {"soon", "closed"} <= set(rows)
    assert "over" not in rows
    assert (await client.send("GET", "/betas/over")).status == 404


async def test_an_account_enrolls_once(client: Client, stranger: Client, roost: Roost) -> None:
    assert await client.post("/account/betas", {"id": "trial"}) == {}
    (row,) = (await client.get("/account/betas"))["data"]
    await stranger.post("/account/betas", {"id": "trial"})
    assert (await client.get("/account/betas"))["results"] == 1
    shown = {key: PROGRAM[key] for key in ("id", "label", "description", "started", "ended")}
    assert row == {**shown, "enrolled": row["enrolled"]}
    assert await client.get("/account/betas/trial") == row
    again = await client.send("POST", "/account/betas", {"id": "trial"})
    reason = "The account is enrolled in this beta program already"
    assert again.problems == [("id", reason)]
    assert (await client.get("/account/betas"))["data"] == [row]
    assert (await client.send("GET", "/account/betas/closed")).status == 404


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("none", "id is not valid"),
        ("over", "id is not valid"),
        ("soon", "The beta program has not begun"),
        ("closed", "The beta program is by invitation only"),
    ],
)
async def test_programs_that_nobody_enrolls_in(client: Client, name: str, reason: str) -> None:
    answer = await client.send("POST", "/account/betas", {"id": name})
    assert (answer.status, answer.problems) == (400, [("id", reason)])
    assert (await client.get("/account/betas"))["results"] == 0
