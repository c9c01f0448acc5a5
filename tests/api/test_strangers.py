"""Callers without a valid token, and what a server outside the API says of itself."""

from pathlib import Path

import aiohttp
import pytest

from roost.web.admission import ANONYMOUS_RATE
from tests.support.client import Client
from tests.support.server import RunningRoost, running_roost, simulated

INSTANCES = "/compute/instances"


async def test_an_object_that_is_not_there_comes_before_a_bad_body(client: Client) -> None:
    for method, path in (("PUT", ""), ("POST", "/boot"), ("POST", "/reboot")):
        for data in (b"{", b'{"label": 1, "config_id": 5}'):
            headers = {"Content-Type": "application/json"}
            answer = await client.send(
                method, f"{INSTANCES}/999999999{path}", data=data, headers=headers
            )
            assert (answer.status, answer.problems) == (404, [(None, "Not found")])


async def test_who_tries_tokens_is_slowed_down(tmp_path: Path, database_url: str) -> None:
    settings = simulated(tmp_path, database_url, rate_limit_scale=1)
    async with running_roost(settings) as roost, aiohttp.ClientSession() as session:
        statuses = []
        for n in range(ANONYMOUS_RATE.calls + 5):
            headers = {"Authorization": f"Bearer {n:064}", "X-Forwarded-For": f"198.18.0.{n}"}
            async with session.get(f"{roost.url}/v4{INSTANCES}", headers=headers) as answer:
                statuses.append(answer.status)
        assert int(answer.headers["Retry-After"]) >= 1
        assert statuses == [401] * ANONYMOUS_RATE.calls + [429] * 5
        headers = {"Authorization": f"Bearer {roost.token}"}
        async with session.get(f"{roost.url}/v4{INSTANCES}", headers=headers) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "reason"),
    [
        ("POST", "/healthz", 405, "Method Not Allowed: POST"),
        ("POST", "/v4/openapi.json", 405, "Method Not Allowed: POST"),
        ("GET", "/nothing", 404, "Not found"),
        ("GET", "/v45/regions", 404, "Not found"),
        ("GET", "/lab/clock", 404, "Not found"),
    ],
)
async def test_refusals_outside_the_api_have_its_form(
    running: RunningRoost, method: str, path: str, status: int, reason: str
) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, running.url + path) as answer,
    ):
        assert answer.status == status
        assert answer.headers["Content-Type"] == "application/json"
        assert await answer.json() == {"errors": [{"reason": reason}]}


async def test_kept_answers_are_sealed_and_belong_to_a_user(
    client: Client, running: RunningRoost
) -> None:
    body = {"type": "g1-micro-1", "region": "us-lake", "label": "kept-answer"}
    made = await client.send("POST", INSTANCES, body, headers={"Idempotency-Key": "sealed"})
    kept = await running.roost.store.fetchval(
        "select body from idempotency where key = 'sealed' order by created desc limit 1"
    )
    assert b"kept-answer" not in kept
    again = await client.send("POST", INSTANCES, body, headers={"Idempotency-Key": "sealed"})
    assert again.raw == made.raw
